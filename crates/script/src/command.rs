//! Shell commands of a script, as far as they set up the host: `sysctl` and what does the same.

use std::collections::VecDeque;

use units::Duration;

/// What a command does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Sets a kernel parameter, named with dots.
    Sysctl(String, String),
    /// Sets the initial congestion window of the route, in segments.
    InitialWindow(String),
    /// Waits.
    Sleep(Duration),
}

/// Reads the commands of a text; `Err`: the one that is not understood.
pub fn read(text: &str) -> Result<Vec<Effect>, String> {
    let mut effects = Vec::new();
    for simple in split(text) {
        let words = words(&simple);
        if !words.is_empty() {
            one(words, &mut effects).ok_or_else(|| format!("command `{}`", simple.trim()))?;
        }
    }
    Ok(effects)
}

/// The commands of a text that are understood.
pub fn read_known(text: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for simple in split(text) {
        let known = effects.len();
        if one(words(&simple), &mut effects).is_none() {
            effects.truncate(known);
        }
    }
    effects
}

/// Simple commands: what stands between line ends, `;`, `&&` and `||`, without comments.
fn split(text: &str) -> Vec<String> {
    let joined = products(&text.replace("\\\n", " "));
    let mut all = Vec::new();
    for line in joined.lines() {
        let line = if line.trim_start().starts_with('#') { "" } else { line };
        let (mut quote, mut current) = (None, String::new());
        for c in line.chars() {
            match quote {
                Some(q) if c == q => quote = None,
                None if c == '"' || c == '\'' => quote = Some(c),
                None if matches!(c, ';' | '&' | '|') => {
                    all.push(std::mem::take(&mut current));
                    continue;
                }
                _ => {}
            }
            current.push(c);
        }
        all.push(current);
    }
    // `2>&1` is cut at its ampersand; the pieces say nothing.
    all.retain(|c| !c.trim().is_empty() && c.trim() != "1");
    all
}

/// A text with `$((15*1024*1024))`, `$[15*1024*1024]` and `$((32<<20))` worked out; other arithmetic stays as it is.
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

/// A product, shifted or not.
fn value(text: &str) -> Option<u64> {
    let mut parts = text.split("<<").map(|part| {
        let mut factors = part.split('*').map(|f| f.trim().parse::<u64>().ok());
        factors.try_fold(1u64, |product, f| product.checked_mul(f?))
    });
    let first = parts.next()??;
    parts.try_fold(first, |value, by| value.checked_mul(1u64.checked_shl(by?.try_into().ok()?)?))
}

/// Words of a simple command, quotes removed, and without redirections to /dev/null.
fn words(command: &str) -> VecDeque<String> {
    let mut all = VecDeque::new();
    let (mut quote, mut current, mut some) = (None, String::new(), false);
    for c in command.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => (quote, some) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if some {
                    all.push_back(std::mem::take(&mut current));
                }
                some = false;
            }
            (_, c) => {
                current.push(c);
                some = true;
            }
        }
    }
    if some {
        all.push_back(current);
    }
    all.retain(|w| !matches!(w.as_str(), "2>" | ">/dev/null" | "2>/dev/null"));
    all
}

fn one(mut words: VecDeque<String>, effects: &mut Vec<Effect>) -> Option<()> {
    let first = words.pop_front()?;
    let name = first.rsplit('/').next().unwrap_or(&first).to_string();
    match name.as_str() {
        "sysctl" | "set_sysctls.py" => {
            for word in words.iter().filter(|w| !w.starts_with('-')) {
                effects.push(setting(word)?);
            }
        }
        "sleep" => {
            let seconds: f64 = words.pop_front()?.trim_end_matches('s').parse().ok()?;
            let known = seconds.is_finite() && (0.0..=1e6).contains(&seconds);
            effects.push(Effect::Sleep(known.then(|| Duration::from_seconds(seconds))?));
        }
        // Standard settings of the host, which the preset has; nothing here caches metrics or offloads.
        "defaults.sh" | "restore_sysctls.sh" | "true" | ":" | "ethtool" | "sync" | "modprobe" | "rm" => {}
        "echo" => echo(&words, effects)?,
        "ip" => ip(&words, effects)?,
        "tc" => {
            let known = words.iter().any(|w| matches!(w.as_str(), "fq" | "pfifo" | "pfifo_fast" | "noqueue"));
            known.then_some(())?;
        }
        _ if name.ends_with("defaults.sh") => {}
        _ => return None,
    }
    Some(())
}

/// `net.ipv4.tcp_sack=1`, or the same as a path under /proc/sys.
fn setting(word: &str) -> Option<Effect> {
    let (name, value) = word.split_once('=')?;
    let name = name.trim().trim_start_matches("/proc/sys/").replace('/', ".");
    Some(Effect::Sysctl(name, value.trim().to_string()))
}

/// `echo 1 > /proc/sys/net/ipv4/tcp_sack`; without a file it says something and does nothing.
fn echo(words: &VecDeque<String>, effects: &mut Vec<Effect>) -> Option<()> {
    let text: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(at) = text.iter().position(|w| w.starts_with('>')) else { return Some(()) };
    let file = if text[at] == ">" { text.get(at + 1)? } else { &text[at][1..] };
    let name = file.strip_prefix("/proc/sys/")?.replace('/', ".");
    effects.push(Effect::Sysctl(name, text[..at].join(" ")));
    Some(())
}

fn ip(words: &VecDeque<String>, effects: &mut Vec<Effect>) -> Option<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| !w.starts_with('-')).collect();
    match words.first()? {
        w if w.starts_with("tcp") => Some(()),
        w if "route".starts_with(*w) => {
            if words.contains(&"flush") {
                return Some(());
            }
            let refused =
                ["mtu", "advmss", "rto_min", "features", "initrwnd", "window", "quickack", "congctl", "cwnd"];
            if words.iter().any(|w| refused.contains(w)) {
                return None;
            }
            let at = words.iter().position(|w| *w == "initcwnd")?;
            effects.push(Effect::InitialWindow((*words.get(at + 1)?).to_string()));
            Some(())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sysctl(name: &str, value: &str) -> Effect {
        Effect::Sysctl(name.into(), value.into())
    }

    #[test]
    fn the_ways_to_set_a_kernel_parameter() {
        let text = "../common/defaults.sh\n\
                    sysctl -q net.ipv4.tcp_sack=0; sysctl -w net.ipv4.tcp_rmem=\"4096 131072 $((6*1024*1024))\"\n\
                    ../../common/set_sysctls.py /proc/sys/net/ipv4/tcp_timestamps=0 \\\n   /proc/sys/net/ipv4/tcp_ecn=1\n\
                    echo 1 > /proc/sys/net/ipv4/tcp_frto && ip tcp_metrics flush all > /dev/null 2>&1";
        let expected = vec![
            sysctl("net.ipv4.tcp_sack", "0"),
            sysctl("net.ipv4.tcp_rmem", "4096 131072 6291456"),
            sysctl("net.ipv4.tcp_timestamps", "0"),
            sysctl("net.ipv4.tcp_ecn", "1"),
            sysctl("net.ipv4.tcp_frto", "1"),
        ];
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn arithmetic() {
        for (text, value) in [
            ("4096 $[2*3] $((1<<20))", "4096 6 1048576"),
            ("$((3*2<<1<<1))", "24"),
            ("$[2+3] $((1<<99)) $((2", "$[2+3] $((1<<99)) $((2"),
        ] {
            assert_eq!(products(text), value);
        }
    }

    #[test]
    fn other_commands() {
        assert_eq!(read("sleep 0.5"), Ok(vec![Effect::Sleep(Duration::from_millis(500))]));
        assert_eq!(
            read("ip ro change default via 192.0.2.1 dev tun0 initcwnd 3"),
            Ok(vec![Effect::InitialWindow("3".into())])
        );
        assert_eq!(read("ethtool -K tun0 tso off gso off"), Ok(vec![]));
        assert_eq!(read("true; reboot now"), Err("command `reboot now`".into()));
        assert!(read("sleep forever").is_err() && read("sysctl net.ipv4.tcp_sack").is_err());
    }
}
