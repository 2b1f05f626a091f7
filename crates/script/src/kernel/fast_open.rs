//! Fast Open settings of the host (Linux 6.12, Documentation/networking/ip-sysctl.rst,
//! tcp_fastopen).

use std::net::Ipv4Addr;

use net::Cookie;
use tcp::fast_open::{Key, Server};

/// Bits of tcp_fastopen.
const CLIENT: i64 = 0x1;
const SERVER: i64 = 0x2;
const CLIENT_NEEDS_NO_COOKIE: i64 = 0x4;
/// Bit of the setting tcp_fastopen that lets a server accept data with any cookie. Current kernels
/// do not support this bit of tcp_fastopen.
const OBSOLETE: i64 = 0x100;
const SERVER_NEEDS_NO_COOKIE: i64 = 0x200;
const EVERY_LISTENER: i64 = 0x400;
const KNOWN: i64 =
    CLIENT | SERVER | CLIENT_NEEDS_NO_COOKIE | OBSOLETE | SERVER_NEEDS_NO_COOKIE | EVERY_LISTENER;
/// Bits of the setting tcp_fastopen that have no meaning. Linux stores the bits without a meaning
/// and ignores them (include/net/tcp.h, TFO_*).
const IGNORED: i64 = 0x7fff_0000;

/// Default addresses in packetdrill: of the host under test, and of its peer.
const LOCAL: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const REMOTE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// Fast Open settings.
#[derive(Clone, Debug)]
pub struct FastOpen {
    bits: i64,
    /// Present and previous key with which the host computes cookies.
    pub keys: Keys,
    /// True if connections over the route to the peer need no cookie (ip-route(8),
    /// fastopen_no_cookie).
    pub route_needs_no_cookie: bool,
    /// Address of the host.
    pub local: Ipv4Addr,
    /// Address of the peer.
    pub remote: Ipv4Addr,
}

/// Keys of cookies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// Key of new cookies.
    pub now: Key,
    /// Previous key. Cookies that were computed with the previous key are still valid.
    pub before: Option<Key>,
}

impl Default for FastOpen {
    fn default() -> Self {
        FastOpen {
            bits: CLIENT,
            keys: Keys::default(),
            route_needs_no_cookie: false,
            local: LOCAL,
            remote: REMOTE,
        }
    }
}

impl FastOpen {
    fn has(&self, bit: i64) -> bool {
        self.bits & bit != 0
    }

    /// Return true if clients may use Fast Open.
    pub fn client(&self) -> bool {
        self.has(CLIENT)
    }

    /// Return true if a client may send data in its SYN only with a cookie.
    pub fn client_needs_cookie(&self) -> bool {
        !self.has(CLIENT_NEEDS_NO_COOKIE) && !self.route_needs_no_cookie
    }

    /// Return true if servers may use Fast Open.
    pub fn server(&self) -> bool {
        self.has(SERVER)
    }

    /// Return true if TCP Fast Open is on for every listening socket.
    pub fn every_listener(&self) -> bool {
        self.has(SERVER) && self.has(EVERY_LISTENER)
    }

    /// Return the Fast Open parameters of a listening socket. The keys of the cookies are those of
    /// the listening socket if it has its own keys, and else those of the host.
    pub fn at_listener(&self, keys: Option<Keys>, needs_no_cookie: bool) -> Server {
        let keys = keys.unwrap_or(self.keys);
        let all = needs_no_cookie || self.route_needs_no_cookie || self.has(SERVER_NEEDS_NO_COOKIE);
        Server {
            cookie: self.cookie(&keys.now),
            previous: keys.before.map(|key| self.cookie(&key)),
            open_to_all: all,
        }
    }

    /// Return the cookie that the host computes for the address of its peer.
    pub fn cookie(&self, key: &Key) -> Cookie {
        key.cookie(self.remote.octets(), self.local.octets())
    }

    /// Set the setting tcp_fastopen, or return `None` if one of the bits is not supported.
    pub fn set_bits(&mut self, bits: i64) -> Option<()> {
        (bits & !(KNOWN | IGNORED) == 0 && bits & OBSOLETE == 0).then(|| self.bits = bits)
    }
}

impl Keys {
    /// Parse the setting tcp_fastopen_key: one key, or two keys, of four hexadecimal words each.
    pub fn read(text: &str) -> Option<Keys> {
        let mut keys = text.trim().split(',').map(key);
        let now = keys.next()??;
        let before = keys.next();
        if keys.next().is_some() || before == Some(None) {
            return None;
        }
        Some(Keys { now, before: before.flatten() })
    }

    /// Decode the socket option TCP_FASTOPEN_KEY: one key, or two keys, in binary form.
    pub fn of_bytes(bytes: &[u8]) -> Option<Keys> {
        let key = |bytes: &[u8]| <[u8; 16]>::try_from(bytes).ok().map(Key);
        match bytes.len() {
            16 => Some(Keys { now: key(bytes)?, before: None }),
            32 => Some(Keys { now: key(&bytes[..16])?, before: key(&bytes[16..]) }),
            _ => None,
        }
    }
}

fn key(text: &str) -> Option<Key> {
    let words: Vec<u32> =
        text.trim().split('-').map(|word| u32::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
    Some(Key::of_words(words.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_from_text_and_bytes() {
        let one = "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4";
        let keys = Keys::read(one).unwrap();
        assert_eq!((keys.now.0[0], keys.now.0[15], keys.before), (0xa1, 0xd4, None));
        assert_eq!(Keys::read(&format!("{one},{one}")).unwrap().before, Some(keys.now));
        assert_eq!(Keys::of_bytes(&keys.now.0), Some(keys));
        for wrong in ["", "1-2-3", "1-2-3-4-5", "1-2-3-x", "1-2-3-4,", "1-2-3-4,1-2-3-4,1-2-3-4"] {
            assert_eq!(Keys::read(wrong), None, "{wrong}");
        }
        assert_eq!(Keys::of_bytes(&[0; 15]), None);
    }

    #[test]
    fn unsupported_bits_are_refused() {
        let mut settings = FastOpen::default();
        assert_eq!(settings.set_bits(0x607), Some(()));
        assert!(settings.client() && settings.every_listener() && !settings.client_needs_cookie());
        for bits in [0x100, 0x800, 0x7_0503, 0x1_0000_0000, -1] {
            assert_eq!(settings.set_bits(bits), None);
        }
    }

    #[test]
    fn bits_that_linux_ignores_have_no_effect() {
        let mut settings = FastOpen::default();
        assert_eq!(settings.set_bits(0x7_0403), Some(()));
        assert!(settings.client() && settings.every_listener() && settings.client_needs_cookie());
    }
}
