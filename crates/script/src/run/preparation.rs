//! What is said of the host before and beside segments and calls: sizes of buffers, settings, commands.

use tcp::Tcp;
use units::Duration;

use super::{Runner, Step, fail, unsupported};
use crate::command::{self, Effect};
use crate::settings;
use crate::syntax::{Action, Command, Flags, Script, TcpOption, Way};

/// The header of IPv4 and TCP without options.
const HEADERS: u64 = 40;

impl Runner {
    /// What prepares the host before the script. Where it names a shell script that is not at hand the sizes
    /// of its buffers are not known, and the window shift is as its first SYN has it.
    pub(super) fn prepare(&mut self, script: &Script) {
        for effect in self.preparation.iter().flat_map(|text| command::read_known(text)) {
            if let Effect::Sysctl(name, value) = &effect
                && let Ok(tcp) = settings::sysctl(&self.host.tcp, name, value)
            {
                self.host.tcp = tcp;
            }
        }
        let names_one = script.init.as_ref().is_some_and(|c| c.text.contains(".sh"))
            || script
                .events
                .iter()
                .any(|e| matches!(&e.action, Action::Command(c) if c.text.contains(".sh")));
        if !names_one || !self.preparation.is_empty() {
            return;
        }
        let syn = script.events.iter().find_map(|e| match &e.action {
            Action::Packet(p) if p.way == Way::Out && p.flags.has(Flags::SYN) => p.options.as_ref(),
            _ => None,
        });
        let shift = syn.into_iter().flatten().find_map(|o| match o {
            TcpOption::WindowScale(shift) => Some(*shift),
            _ => None,
        });
        if let Some(shift) = shift
            && let Ok(tcp) = settings::change(&self.host.tcp, &[("window_shift", serde_json::json!(shift))])
        {
            self.host.tcp = tcp;
        }
    }

    pub(super) fn settings(&mut self, script: &Script) -> Step {
        for setting in &script.settings {
            let number = setting.value.as_deref().and_then(|v| v.parse::<u64>().ok());
            match (setting.name.as_str(), number) {
                ("tolerance_usecs", Some(us)) => self.tolerance = Duration(us.saturating_mul(1_000_000)),
                ("mtu", Some(mtu)) => {
                    let mss = serde_json::json!(format!("{} B", mtu.saturating_sub(HEADERS)));
                    let changed = settings::change(&self.host.tcp, &[("mss", mss)]);
                    self.host.tcp = changed.map_err(|e| unsupported(setting.line, e))?;
                }
                ("preset", _) => {
                    let preset = Tcp::preset(setting.value.as_deref().unwrap_or(""), &serde_json::json!({}));
                    self.host.tcp = preset.map_err(|e| fail(setting.line, e.to_string()))?;
                }
                ("set", _) => {
                    let changed = settings::set(&self.host.tcp, setting.value.as_deref().unwrap_or(""));
                    self.host.tcp = changed.map_err(|e| fail(setting.line, e))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn command(&mut self, command: &Command) -> Step {
        let effects = command::read(&command.text).map_err(|what| unsupported(command.line, what))?;
        for effect in effects {
            let changed = match &effect {
                Effect::Sysctl(name, value) => settings::sysctl(&self.host.tcp, name, value),
                Effect::InitialWindow(value) => {
                    let packets = serde_json::json!(format!("{value} packets"));
                    settings::change(&self.host.tcp, &[("initial_window", packets)])
                }
                Effect::Sleep(time) => {
                    self.advance(self.now + *time)?;
                    continue;
                }
            };
            self.host.tcp = changed.map_err(|what| unsupported(command.line, what))?;
        }
        Ok(())
    }
}
