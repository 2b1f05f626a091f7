//! Configuration of the host by the options and the shell commands of a script.

use serde_json::json;
use tcp::Tcp;

use super::Runner;
use super::step::{Step, fail, unsupported};
use crate::command::{self, Effect};
use crate::kernel::{HEADERS, Kernel};
use crate::settings;
use crate::syntax::{Action, Command, Direction, Flags, Script, TcpOption};

impl Runner {
    pub(super) fn settings(&mut self, script: &Script) -> Step {
        for setting in &script.settings {
            let number = setting.value.as_deref().and_then(|v| v.parse::<u64>().ok());
            let kernel = &mut self.host.kernel;
            match (setting.name.as_str(), number) {
                ("tolerance_usecs", Some(us)) => {
                    self.tolerance = units::Duration(us.saturating_mul(1_000_000))
                }
                ("tcp_ts_tick_usecs", Some(us)) => {
                    self.tick = (us > 0).then_some(units::Duration(us.saturating_mul(1_000_000)));
                }
                ("local_ip" | "remote_ip", _) => {
                    // An address that is not an IPv4 address belongs to IPv6, whose packets are not
                    // supported.
                    if let Some(address) = setting.value.as_deref().and_then(|v| v.parse().ok()) {
                        let settings = &mut kernel.fast_open;
                        let local = setting.name == "local_ip";
                        *(if local { &mut settings.local } else { &mut settings.remote }) = address;
                    }
                }
                ("mtu", Some(mtu)) => {
                    let mss = json!(format!("{} B", mtu.saturating_sub(HEADERS as u64)));
                    kernel.change(&[("mss", mss)]).map_err(|e| unsupported(setting.line, e))?;
                }
                ("stack", _) => {
                    let host = json!({"memory": {"segment": "linear"}, "send_buffer": "unlimited"});
                    let stack = Tcp::of_stack(setting.value.as_deref().unwrap_or(""), &host);
                    *kernel = Kernel::new(stack.map_err(|e| fail(setting.line, e.to_string()))?);
                }
                ("set", _) => {
                    let changed = settings::set(&kernel.tcp, setting.value.as_deref().unwrap_or(""));
                    kernel.tcp = changed.map_err(|e| fail(setting.line, e))?;
                }
                _ => {}
            }
        }
        self.before = self.host.kernel.clone();
        self.host.tolerance = self.tolerance;
        Ok(())
    }

    /// If the script names a shell script that is not available, use the window scale option of the
    /// first expected SYN. Without the shell script that sets them, the buffer sizes of the host
    /// are unknown.
    pub(super) fn guess_shift(&mut self, script: &Script) {
        let events = script.events.iter().filter_map(|e| match &e.action {
            Action::Command(c) => Some(c),
            _ => None,
        });
        let missing = script.init.iter().chain(events).flat_map(|c| command::read(&c.text).0).any(
            |effect| matches!(&effect, Effect::Script(name) if !self.preparation.iter().any(|p| p.0 == *name)),
        );
        let syn = script.events.iter().find_map(|e| match &e.action {
            Action::Packet(p) if p.way == Direction::Out && p.flags.has(Flags::SYN) => p.options.as_ref(),
            _ => None,
        });
        let shift = syn.into_iter().flatten().find_map(|o| match o {
            TcpOption::WindowScale(shift) => Some(*shift),
            _ => None,
        });
        if let (true, Some(shift)) = (missing, shift) {
            // If the window scale option is invalid, the comparison of the SYN reports a
            // difference.
            let _ = self.host.kernel.change(&[("window.shift", json!(shift))]);
        }
    }

    pub(super) fn command(&mut self, command: &Command) -> Step {
        let (effects, _) = command::read(&command.text); // `support::missing` refused unsupported commands
        for effect in effects {
            match &effect {
                Effect::Sleep(time) => self.advance(self.now + *time)?,
                Effect::FlushMetrics => self.host.servers.clear(),
                Effect::Restore => self.host.kernel = self.before.clone(),
                Effect::Script(name) => self.shell_script(command.line, name),
                other => {
                    self.host.kernel.apply(other).map_err(|what| unsupported(command.line, what))?;
                }
            }
        }
        self.host.heed_settings();
        Ok(())
    }

    /// Apply the supported commands of a shell script, and record its ignored commands in the
    /// timeline.
    ///
    /// If a setting of the shell script could not be applied,
    /// [`support::missing`](crate::support::missing) has already refused the script.
    fn shell_script(&mut self, line: u32, name: &str) {
        let Some(text) = self.preparation.iter().find(|p| p.0 == name).map(|p| p.1.clone()) else { return };
        let (effects, mut ignored) = command::read(&text);
        for effect in effects.iter().filter(|e| !matches!(e, Effect::Sleep(_) | Effect::Restore)) {
            ignored.extend(self.host.kernel.apply(effect).err());
        }
        if !ignored.is_empty() {
            self.record(self.now, Some(line), format!("{name}: ignored: {}", ignored.join("; ")));
        }
    }
}
