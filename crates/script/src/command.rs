//! Shell commands of a script that configure the simulated host, such as `sysctl`. This module
//! interprets the shell commands itself and never starts a shell.

mod ip;
mod tc;

use units::Duration;

/// Effect of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Set a kernel parameter. Dots separate the parts of the parameter's name.
    Sysctl(String, String),
    /// Set a parameter of a kernel module. The three strings are the name of the kernel module, the
    /// name of the parameter and its new value.
    Module(String, String, String),
    /// Set a metric of the route to the peer.
    Route(String, String),
    /// Set the queue discipline of the network interface.
    Qdisc {
        /// True if the queue discipline paces the segments of a connection at the pacing rate of
        /// the connection.
        paces: bool,
    },
    /// Refuse the command. The text describes the feature that is not supported.
    Refused(String),
    /// Discard the cached TCP metrics of other hosts.
    FlushMetrics,
    /// Restore all settings that the host had before the script.
    Restore,
    /// Run the shell script with the given name.
    Script(String),
    /// Wait.
    Sleep(Duration),
}

/// Parse all shell commands in a text. Return the effects of the supported commands, and a list of
/// the unsupported commands.
pub fn read(text: &str) -> (Vec<Effect>, Vec<String>) {
    let (mut effects, mut unknown) = (Vec::new(), Vec::new());
    for simple in split(text) {
        match one(&Simple::read(&simple)) {
            Some(more) => effects.extend(more),
            None => unknown.push(format!("command `{}`", simple.trim())),
        }
    }
    (effects, unknown)
}

/// Return true if an unsupported command would change kernel parameters, queues or routes. Commands
/// inside a condition count too.
pub fn sets_up_kernel(command: &str) -> bool {
    let apart = |c: char| c.is_whitespace() || matches!(c, '`' | '(' | ')' | '{' | '}' | '"' | '\'');
    let words: Vec<&str> = command.split(apart).filter(|w| !w.is_empty()).collect();
    let mut before = "";
    for (i, word) in words.iter().enumerate() {
        let rest = &words[i + 1..];
        let object = rest.iter().find(|w| !w.starts_with('-')).copied().unwrap_or("");
        let changes = match word.rsplit('/').next().unwrap_or(word) {
            "sysctl" => rest.iter().any(|w| w.contains('=') || matches!(*w, "-p" | "--load" | "--system")),
            "tc" => true,
            "ip" => !object.is_empty() && ["route", "link"].iter().any(|o| o.starts_with(object)),
            _ => false,
        };
        let path = word.trim_start_matches('>');
        let of_kernel = path.starts_with("/proc/sys/") || path.starts_with("/sys/module/");
        let writes = path.len() < word.len() || before.ends_with('>') || path.contains('=');
        if changes || (of_kernel && writes) {
            return true;
        }
        before = word;
    }
    false
}

/// Split a shell text into simple commands, without comments. Commands end at a line end, `;`, `&`,
/// `&&`, `|` or `||`.
fn split(text: &str) -> Vec<String> {
    let joined = products(&text.replace("\\\n", " "));
    let mut all = Vec::new();
    for line in joined.lines() {
        let (mut quote, mut before, mut current) = (None, ' ', String::new());
        let mut characters = line.chars().peekable();
        while let Some(c) = characters.next() {
            let redirects = c == '&' && (before == '>' || characters.peek() == Some(&'>'));
            match quote {
                Some(q) if c == q => quote = None,
                None if c == '"' || c == '\'' => quote = Some(c),
                None if c == '#' && before.is_whitespace() => break,
                None if matches!(c, ';' | '&' | '|') && !redirects => {
                    all.push(std::mem::take(&mut current));
                    before = ' ';
                    continue;
                }
                _ => {}
            }
            current.push(c);
            before = c;
        }
        all.push(current);
    }
    all.retain(|c| !c.trim().is_empty());
    all
}

/// Replace shell arithmetic such as `$((15*1024*1024))`, `$[15*1024*1024]` and `$((32<<20))` by the
/// computed value. Arithmetic expressions other than products and shifts stay unchanged.
fn products(text: &str) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some(at) = ["$((", "$["].iter().filter_map(|open| rest.find(open)).min() {
        let (open, close) = if rest[at..].starts_with("$((") { ("$((", "))") } else { ("$[", "]") };
        let after = &rest[at + open.len()..];
        done += &rest[..at];
        (rest, done) =
            match after.split_once(close).and_then(|(inside, beyond)| Some((value(inside)?, beyond))) {
                Some((value, beyond)) => (beyond, done + &value.to_string()),
                None => (after, done + open),
            };
    }
    done + rest
}

/// Compute a product of numbers, with optional shifts.
fn value(text: &str) -> Option<u64> {
    let mut parts = text.split("<<").map(|part| {
        let mut factors = part.split('*').map(|f| f.trim().parse::<u64>().ok());
        factors.try_fold(1u64, |product, f| product.checked_mul(f?))
    });
    let first = parts.next()??;
    parts.try_fold(first, |value, by| value.checked_mul(1u64.checked_shl(by?.try_into().ok()?)?))
}

/// A simple shell command: its words without quotes, and the file to which its output is
/// redirected.
#[derive(Debug, Default, PartialEq)]
struct Simple {
    words: Vec<String>,
    output: Option<String>,
}

impl Simple {
    fn read(command: &str) -> Self {
        let mut simple = Simple::default();
        let mut words = words(command).into_iter();
        while let Some((word, quoted)) = words.next() {
            let redirection = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
            if quoted || !redirection.starts_with(['>', '<']) {
                simple.words.push(word);
                continue;
            }
            let errors = word.starts_with('2');
            let file = redirection.trim_start_matches(['>', '<']);
            if file.starts_with('&') {
                continue; // 2>&1
            }
            let file =
                if file.is_empty() { words.next().map(|w| w.0).unwrap_or_default() } else { file.into() };
            if !errors && redirection.starts_with('>') && file != "/dev/null" {
                simple.output = Some(file);
            }
        }
        simple
    }
}

/// Return the words of a simple shell command. The boolean of each word is true if the word was in
/// quotes.
fn words(command: &str) -> Vec<(String, bool)> {
    let mut all = Vec::new();
    let (mut quote, mut current, mut some, mut quoted) = (None, String::new(), false, false);
    for c in command.chars().chain([' ']) {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => (quote, some, quoted) = (Some(c), true, true),
            (None, c) if c.is_whitespace() => {
                if some {
                    all.push((std::mem::take(&mut current), quoted));
                }
                (some, quoted) = (false, false);
            }
            (_, c) => {
                current.push(c);
                some = true;
            }
        }
    }
    all
}

fn one(simple: &Simple) -> Option<Vec<Effect>> {
    let (first, rest) = simple.words.split_first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    if name == "echo" {
        return match &simple.output {
            Some(file) => Some(vec![setting(file, &rest.join(" "))?]),
            None => Some(vec![]), // prints only
        };
    }
    if simple.output.is_some() {
        return None;
    }
    Some(match name {
        "sysctl" => {
            rest.iter().filter(|w| !w.starts_with('-')).map(|w| assignment(w)).collect::<Option<_>>()?
        }
        "sleep" => {
            let seconds: f64 = rest.first()?.trim_end_matches('s').parse().ok()?;
            let known = seconds.is_finite() && (0.0..=1.8e7).contains(&seconds); // within the clock
            vec![Effect::Sleep(known.then(|| Duration::from_seconds(seconds))?)]
        }
        // Commands that set offloads have no effect, because the endpoint sends whole segments, and
        // a script may expect several segments as one large segment.
        "true" | ":" | "ethtool" | "sync" | "modprobe" | "rm" => vec![],
        "ip" => ip::read(rest)?,
        "tc" => tc::read(rest)?,
        "python" | "python3" | "sh" | "bash" | "source" | "." => {
            let again = Simple { words: rest.to_vec(), output: None };
            return if rest.first()?.starts_with('-') { None } else { one(&again) };
        }
        _ if name.contains("restore") && name.ends_with(".sh") => vec![Effect::Restore],
        // The command is a helper script, whose arguments assign values to files such as
        // `/proc/sys/net/ipv4/tcp_sack`.
        _ if (name.ends_with(".py") || name.ends_with(".sh")) && !rest.is_empty() => {
            let all = rest.iter().filter(|w| !w.starts_with('-'));
            all.map(|w| w.starts_with('/').then(|| assignment(w)).flatten()).collect::<Option<_>>()?
        }
        _ if name.ends_with(".sh") => vec![Effect::Script(first.clone())],
        _ => return None,
    })
}

/// Parse an assignment such as `net.ipv4.tcp_sack=1`, whose name may also be a file name.
fn assignment(word: &str) -> Option<Effect> {
    let (name, value) = word.split_once('=')?;
    setting(name, value)
}

/// Return the effect of setting a kernel parameter, given by its file or by its name with dots.
fn setting(file: &str, value: &str) -> Option<Effect> {
    let value = value.trim().to_string();
    if let Some(rest) = file.trim().strip_prefix("/sys/module/") {
        let (module, name) = rest.split_once("/parameters/")?;
        return Some(Effect::Module(module.into(), name.into(), value));
    }
    let name = file.trim();
    let name = match name.strip_prefix("/proc/sys/") {
        Some(name) => name,
        None if name.starts_with('/') => return None,
        None => name,
    };
    Some(Effect::Sysctl(name.replace('/', "."), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sysctl(name: &str, value: &str) -> Effect {
        Effect::Sysctl(name.into(), value.into())
    }

    #[test]
    fn kernel_parameters_can_be_set_in_several_ways() {
        let text = "sysctl -q net.ipv4.tcp_sack=0; sysctl -w net.ipv4.tcp_rmem=\"4096 131072 $((6*1024*1024))\"\n\
                    ../../common/set_sysctls.py /proc/sys/net/ipv4/tcp_timestamps=0 \\\n   /proc/sys/net/ipv4/tcp_ecn=1\n\
                    echo 1 > /proc/sys/net/ipv4/tcp_frto && ip tcp_metrics flush all > /dev/null 2>&1";
        let expected = vec![
            sysctl("net.ipv4.tcp_sack", "0"),
            sysctl("net.ipv4.tcp_rmem", "4096 131072 6291456"),
            sysctl("net.ipv4.tcp_timestamps", "0"),
            sysctl("net.ipv4.tcp_ecn", "1"),
            sysctl("net.ipv4.tcp_frto", "1"),
            Effect::FlushMetrics,
        ];
        assert_eq!(read(text), (expected, vec![]));
    }

    #[test]
    fn products_and_shifts_are_computed() {
        for (text, value) in [
            ("4096 $[2*3] $((1<<20))", "4096 6 1048576"),
            ("$((3*2<<1<<1))", "24"),
            ("$[2+3] $((1<<99)) $((2", "$[2+3] $((1<<99)) $((2"),
        ] {
            assert_eq!(products(text), value);
        }
    }

    #[test]
    fn one_command_can_set_several_parameters() {
        let both = vec![sysctl("net.ipv4.tcp_sack", "0"), sysctl("net.ipv4.tcp_ecn", "0x1")];
        for text in [
            "sysctl -q net.ipv4.tcp_sack=0 net.ipv4.tcp_ecn=0x1",
            "sysctl -qw net/ipv4/tcp_sack=0 > /dev/null; /sbin/sysctl -w 'net.ipv4.tcp_ecn=0x1' >/dev/null 2>&1",
            "python3 ./set_sysctls.py /proc/sys/net/ipv4/tcp_sack=0 /proc/sys/net/ipv4/tcp_ecn=0x1",
            "../helpers/set_all.sh -v /proc/sys/net/ipv4/tcp_sack=0 \\\n /proc/sys/net/ipv4/tcp_ecn=0x1",
            "echo 0 >/proc/sys/net/ipv4/tcp_sack && echo \"0x1\" > /proc/sys/net/ipv4/tcp_ecn || true # both",
        ] {
            assert_eq!(read(text), (both.clone(), vec![]), "{text}");
        }
        let module = Effect::Module("tcp_cubic".into(), "beta".into(), "512".into());
        for text in [
            "echo 512 > /sys/module/tcp_cubic/parameters/beta",
            "./set_sysctls.py /sys/module/tcp_cubic/parameters/beta=512",
        ] {
            assert_eq!(read(text), (vec![module.clone()], vec![]), "{text}");
        }
    }

    #[test]
    fn other_commands_have_their_effects() {
        let known = |text: &str| match read(text) {
            (effects, unknown) if unknown.is_empty() => effects,
            (_, unknown) => panic!("{unknown:?}"),
        };
        assert_eq!(known("sleep 0.5"), [Effect::Sleep(Duration::from_millis(500))]);
        assert_eq!(known("ethtool -K tun0 tso off gso off; echo done; rm -f /tmp/x"), []);
        assert_eq!(known("../common/defaults.sh"), [Effect::Script("../common/defaults.sh".into())]);
        assert_eq!(known("/tmp/sysctl_restore_${PPID}.sh"), [Effect::Restore]);
    }

    #[test]
    fn commands_that_configure_the_kernel_are_recognized() {
        for text in [
            "then sysctl -q net.ipv4.tcp_sack=0",
            "/sbin/sysctl -p my.conf",
            "do echo 1 > /proc/sys/net/ipv4/tcp_sack",
            "{ echo 1 >/proc/sys/net/ipv4/tcp_sack",
            "else ./set_all.py $X /proc/sys/net/ipv4/tcp_sack=0",
            "then tc qdisc add dev tun0 root netem",
            "ip -4 ro del default",
        ] {
            assert!(sets_up_kernel(text), "{text}");
        }
        for text in [
            "if [ -f /proc/sys/net/ipv4/tcp_plb_enabled ]",
            "X=$(cat /proc/sys/net/ipv4/tcp_sack)",
            "if sysctl -n net.ipv4.tcp_sack",
            "ip addr add 192.168.0.1/16 dev tun0",
            "ifconfig tun0 up",
            "fi",
            "ip",
        ] {
            assert!(!sets_up_kernel(text), "{text}");
        }
    }

    #[test]
    fn every_unsupported_command_is_returned() {
        let unknown = |text: &str| read(text).1;
        assert_eq!(
            unknown("true; reboot now\nnstat -n && sleep 1"),
            ["command `reboot now`", "command `nstat -n`"]
        );
        for text in [
            "sleep forever",
            "sysctl net.ipv4.tcp_sack",
            "tc qdisc add dev tun0 root netem",
            "./helper.py",
            "./helper.py --fast /etc/passwd",
            "echo 1 > /etc/passwd",
            "sysctl -a > /tmp/all",
            "python3 -c 1",
        ] {
            assert_eq!(unknown(text), [format!("command `{text}`")]);
        }
    }
}
