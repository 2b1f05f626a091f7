//! TCP Fast Open (RFC 7413, `rfc7413`; Linux 6.12, net/ipv4/tcp_fastopen.c): what a server says to a cookie
//! ([`Server`]), what a client begins with and remembers ([`Opening`], [`CookieCache`]), and how cookies are made ([`Key`]).
//! What an endpoint does with them is in `endpoint/fast_open.rs`.

mod key;

pub use key::Key;
use net::{Cookie, FastOpen, Options};

use crate::config::Tcp;

/// How a client opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The option of its first SYN: a cookie or a request for one; none where no cookie is needed.
    pub option: Option<FastOpen>,
    /// Whether that SYN may carry data.
    pub data: bool,
    /// The other side's segment size, if it is known.
    pub mss: Option<u16>,
}

impl Opening {
    /// Bytes of data that the SYN may have: a segment, less the room for all options there could be (Linux,
    /// tcp_send_syn_data).
    pub fn max_data(&self, tcp: &Tcp) -> u32 {
        let mss = self.mss.map_or(tcp.mss.0, |mss| tcp.mss.0.min(mss.into())).min(u16::MAX.into());
        (mss as u32).saturating_sub(Options::MOST.into())
    }
}

/// How a client's SYN was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The option of the first SYN.
    pub requested: Option<FastOpen>,
    /// Whether that had data.
    pub data: bool,
    /// Whether a SYN was sent again.
    pub syn_retransmitted: bool,
    /// The option of the SYN-ACK.
    pub option: Option<FastOpen>,
    /// The segment size that it told, if it did.
    pub mss: Option<u16>,
}

/// What a client knows of a server (RFC 7413 §4.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CookieCache {
    cookie: Option<FastOpen>,
    mss: Option<u16>,
    /// Which kind of option it asks with: those of RFC 7413, of experiments for once, of RFC 7413 for good.
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    #[default]
    Standard,
    Experimental,
    StandardAgain,
}

impl CookieCache {
    /// How to open; `needs_cookie`: without one there is no data with the SYN.
    pub fn opening(&self, needs_cookie: bool) -> Opening {
        let request = FastOpen { cookie: Cookie::REQUEST, experimental: self.kind == Kind::Experimental };
        let option = needs_cookie.then(|| self.cookie.unwrap_or(request));
        Opening { option, data: !needs_cookie || self.cookie.is_some(), mss: self.mss }
    }

    /// A SYN-ACK came. A server that knows only the kind of experiments is asked so the next time (Linux,
    /// tcp_rcv_fastopen_synack, tcp_fastopen_cache_set); a cookie that nobody asked for is none.
    pub fn update(&mut self, answer: &Answer) {
        self.mss = answer.mss.or(self.mss);
        let Some(requested) = answer.requested else { return };
        match answer.option {
            Some(option) if !option.cookie.is_request() => self.cookie = Some(option),
            None if !answer.syn_retransmitted && !answer.data && self.cookie.is_none() => {
                let next = if requested.experimental { Kind::StandardAgain } else { Kind::Experimental };
                self.kind = self.kind.max(next);
            }
            _ => {}
        }
    }
}

/// What a server that takes data with SYNs goes by, for one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// The cookie that it gives the client.
    pub cookie: Cookie,
    /// The cookie that it gave before its key changed, and still takes.
    pub previous: Option<Cookie>,
    /// Whether no cookie is needed.
    pub open_to_all: bool,
}

/// What becomes of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Its data is taken, and data may be sent before the handshake ends.
    pub open: bool,
    /// The option of the SYN-ACK.
    pub option: Option<FastOpen>,
}

impl Server {
    /// What to do with a SYN (RFC 7413 §4.2.2; Linux, tcp_try_fastopen).
    pub fn decide(&self, option: Option<FastOpen>, has_data: bool) -> Verdict {
        if self.open_to_all {
            return Verdict { open: has_data || option.is_some(), option: None };
        }
        let Some(offered) = option else { return Verdict::default() };
        let own = Some(FastOpen { cookie: self.cookie, ..offered });
        let has_cookie = !offered.cookie.is_request();
        match offered.cookie {
            c if has_cookie && c == self.cookie => Verdict { open: true, option: None },
            c if has_cookie && Some(c) == self.previous => Verdict { open: true, option: own },
            _ => Verdict { open: false, option: own },
        }
    }
}

/// Why data of a SYN was not taken (Linux, enum tcp_fastopen_client_fail).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failure {
    /// It was, or there was none.
    #[default]
    None,
    /// There was no cookie.
    NoCookie,
    /// The SYN alone was acknowledged.
    NotAcknowledged,
    /// The SYN went out again.
    SynRetransmitted,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(byte: u8) -> Cookie {
        Cookie::of(&[byte; 8]).unwrap()
    }

    fn option(byte: u8) -> Option<FastOpen> {
        Some(FastOpen { cookie: cookie(byte), experimental: false })
    }

    const REQUEST: FastOpen = FastOpen { cookie: Cookie::REQUEST, experimental: false };

    #[test]
    fn a_server_takes_its_cookies_alone() {
        let server = Server { cookie: cookie(1), previous: Some(cookie(2)), open_to_all: false };
        let verdict = |open, option| Verdict { open, option };
        for data in [false, true] {
            assert_eq!(server.decide(option(1), data), verdict(true, None));
            assert_eq!(server.decide(option(2), data), verdict(true, option(1)), "the cookie of the previous key");
            assert_eq!(server.decide(option(3), data), verdict(false, option(1)));
            assert_eq!(server.decide(Some(REQUEST), data), verdict(false, option(1)));
            assert_eq!(server.decide(None, data), Verdict::default());
        }
        let requested = FastOpen { experimental: true, ..REQUEST };
        assert!(server.decide(Some(requested), true).option.is_some_and(|o| o.experimental), "the answer has the kind of the request");
        let server = Server { open_to_all: true, ..server };
        assert_eq!([server.decide(None, true).open, server.decide(None, false).open], [true, false]);
    }

    #[test]
    fn a_client_remembers() {
        let mut cache = CookieCache::default();
        assert_eq!(cache.opening(true), Opening { option: Some(REQUEST), data: false, mss: None });
        assert_eq!(cache.opening(false), Opening { option: None, data: true, mss: None });
        let requested = Answer { requested: Some(REQUEST), data: false, syn_retransmitted: false, option: None, mss: Some(1000) };
        cache.update(&Answer { option: option(7), requested: None, ..requested });
        assert_eq!(cache.opening(true).option, Some(REQUEST), "the client did not request the cookie");
        cache.update(&Answer { option: option(7), ..requested });
        assert_eq!(cache.opening(true), Opening { option: option(7), data: true, mss: Some(1000) });
        cache.update(&Answer { requested: option(7), data: true, option: option(8), mss: None, ..requested });
        assert_eq!(cache.opening(true).option, option(8));
    }

    #[test]
    fn a_client_tries_both_kinds() {
        let mut cache = CookieCache::default();
        let mut unanswered = |syn_retransmitted| {
            let requested = cache.opening(true).option;
            cache.update(&Answer { requested, data: false, syn_retransmitted, option: None, mss: None });
            requested.is_some_and(|a| a.experimental)
        };
        let requested = [unanswered(true), unanswered(false), unanswered(false), unanswered(false)];
        assert_eq!(requested, [false, false, true, false], "the kind stays if the option may have caused the loss of the SYN");
        assert!(!unanswered(false));
    }
}
