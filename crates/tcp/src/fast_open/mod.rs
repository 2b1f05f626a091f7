//! TCP Fast Open (RFC 7413, `rfc7413`; Linux 6.12, net/ipv4/tcp_fastopen.c): the response of a
//! server to a cookie ([`Server`]), the opening of a client and its cache ([`Opening`],
//! [`CookieCache`]), and the generation of cookies ([`Key`]). `endpoint/fast_open.rs` implements
//! the endpoint's part of Fast Open.

mod key;

pub use key::Key;
use net::{Cookie, FastOpen, Options};

use crate::config::Tcp;

/// Opening of a connection by a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Fast Open option of the first SYN, with a cookie or a request for a cookie; `None` if no
    /// cookie is needed.
    pub option: Option<FastOpen>,
    /// True if the SYN may carry data.
    pub data: bool,
    /// MSS of the other side, if it is known.
    pub mss: Option<u16>,
}

impl Opening {
    /// Return the maximum number of data bytes of the SYN, which is the MSS less the maximum size
    /// of TCP options (Linux, tcp_send_syn_data).
    pub fn max_data(&self, tcp: &Tcp) -> u32 {
        let mss = self.mss.map_or(tcp.mss.0, |mss| tcp.mss.0.min(mss.into())).min(u16::MAX.into());
        (mss as u32).saturating_sub(Options::MOST.into())
    }
}

/// Answer to a client's SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Fast Open option of the first SYN.
    pub requested: Option<FastOpen>,
    /// True if the first SYN carried data.
    pub data: bool,
    /// True if the SYN was retransmitted.
    pub syn_retransmitted: bool,
    /// Fast Open option of the SYN-ACK.
    pub option: Option<FastOpen>,
    /// MSS option of the SYN-ACK.
    pub mss: Option<u16>,
}

/// Entry of a client's cache about one server: cookie, MSS, and kind of the Fast Open option (RFC
/// 7413 §4.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CookieCache {
    cookie: Option<FastOpen>,
    mss: Option<u16>,
    /// Kind of option with which the client requests a cookie: at first the kind of RFC 7413, then
    /// once the experimental kind, then the kind of RFC 7413 again.
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
    /// Return the opening of a connection. `needs_cookie` is true if the SYN may carry data only
    /// with a cookie.
    pub fn opening(&self, needs_cookie: bool) -> Opening {
        let request = FastOpen { cookie: Cookie::REQUEST, experimental: self.kind == Kind::Experimental };
        let option = needs_cookie.then(|| self.cookie.unwrap_or(request));
        Opening { option, data: !needs_cookie || self.cookie.is_some(), mss: self.mss }
    }

    /// Update the cache after a SYN-ACK. If the server ignored the Fast Open option, the next
    /// request uses the experimental kind of option, which an older server may support (Linux,
    /// tcp_rcv_fastopen_synack, tcp_fastopen_cache_set). The client ignores a cookie that it did
    /// not request.
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

/// Cookies of a server for one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Cookie that the server issues to the client.
    pub cookie: Cookie,
    /// Cookie of the server's previous key, which the server still accepts.
    pub previous: Option<Cookie>,
    /// True if the server accepts data without a cookie.
    pub open_to_all: bool,
}

/// Decision of a server about a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// True if the server accepts the SYN's data, and may send data before the handshake ends.
    pub open: bool,
    /// Fast Open option of the SYN-ACK.
    pub option: Option<FastOpen>,
}

impl Server {
    /// Return the decision of the server about a SYN (RFC 7413 §4.2.2; Linux, tcp_try_fastopen).
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

/// Reasons why the data of a SYN was not accepted (Linux, enum tcp_fastopen_client_fail).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failure {
    /// The server accepted the data, or the SYN had no data.
    #[default]
    None,
    /// The client had no cookie.
    NoCookie,
    /// The server acknowledged only the SYN.
    NotAcknowledged,
    /// The client retransmitted the SYN.
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
    fn a_server_accepts_only_its_own_cookies() {
        let server = Server { cookie: cookie(1), previous: Some(cookie(2)), open_to_all: false };
        let verdict = |open, option| Verdict { open, option };
        for data in [false, true] {
            assert_eq!(server.decide(option(1), data), verdict(true, None));
            assert_eq!(
                server.decide(option(2), data),
                verdict(true, option(1)),
                "the cookie of the previous key"
            );
            assert_eq!(server.decide(option(3), data), verdict(false, option(1)));
            assert_eq!(server.decide(Some(REQUEST), data), verdict(false, option(1)));
            assert_eq!(server.decide(None, data), Verdict::default());
        }
        let requested = FastOpen { experimental: true, ..REQUEST };
        assert!(
            server.decide(Some(requested), true).option.is_some_and(|o| o.experimental),
            "the answer has the kind of the request"
        );
        let server = Server { open_to_all: true, ..server };
        assert_eq!([server.decide(None, true).open, server.decide(None, false).open], [true, false]);
    }

    #[test]
    fn a_client_caches_cookies_and_the_mss() {
        let mut cache = CookieCache::default();
        assert_eq!(cache.opening(true), Opening { option: Some(REQUEST), data: false, mss: None });
        assert_eq!(cache.opening(false), Opening { option: None, data: true, mss: None });
        let requested = Answer {
            requested: Some(REQUEST),
            data: false,
            syn_retransmitted: false,
            option: None,
            mss: Some(1000),
        };
        cache.update(&Answer { option: option(7), requested: None, ..requested });
        assert_eq!(cache.opening(true).option, Some(REQUEST), "the client did not request the cookie");
        cache.update(&Answer { option: option(7), ..requested });
        assert_eq!(cache.opening(true), Opening { option: option(7), data: true, mss: Some(1000) });
        cache.update(&Answer { requested: option(7), data: true, option: option(8), mss: None, ..requested });
        assert_eq!(cache.opening(true).option, option(8));
    }

    #[test]
    fn a_client_tries_both_kinds_of_option() {
        let mut cache = CookieCache::default();
        let mut unanswered = |syn_retransmitted| {
            let requested = cache.opening(true).option;
            cache.update(&Answer { requested, data: false, syn_retransmitted, option: None, mss: None });
            requested.is_some_and(|a| a.experimental)
        };
        let requested = [unanswered(true), unanswered(false), unanswered(false), unanswered(false)];
        assert_eq!(
            requested,
            [false, false, true, false],
            "the kind stays if the option may have caused the loss of the SYN"
        );
        assert!(!unanswered(false));
    }
}
