//! TCP Fast Open option (RFC 7413 §4.1.1, `rfc7413`).

/// Cookie of TCP Fast Open, with an even number of bytes from 4 to 16. An empty cookie in a SYN
/// requests a cookie from the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cookie {
    bytes: [u8; 16],
    len: u8,
}

impl Cookie {
    /// Request for a cookie.
    pub const REQUEST: Cookie = Cookie { bytes: [0; 16], len: 0 };

    /// Create a cookie from bytes, or return `None` if the number of bytes is invalid.
    pub fn of(bytes: &[u8]) -> Option<Cookie> {
        let mut cookie = Cookie::REQUEST;
        let fits = bytes.is_empty() || ((4..=16).contains(&bytes.len()) && bytes.len().is_multiple_of(2));
        fits.then(|| {
            cookie.bytes[..bytes.len()].copy_from_slice(bytes);
            cookie.len = bytes.len() as u8;
            cookie
        })
    }

    /// Return the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Return true if the cookie is empty, which requests a cookie from the server.
    pub fn is_request(&self) -> bool {
        self.len == 0
    }
}

/// Fast Open option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FastOpen {
    /// Cookie of the TCP Fast Open option. An empty cookie requests a cookie.
    pub cookie: Cookie,
    /// True if the option uses kind 254, which experiments share, with the identifier 0xF989, as
    /// before RFC 7413. The value is false if the TCP Fast Open option uses kind 34.
    pub experimental: bool,
}

impl FastOpen {
    /// Return the length of the TCP Fast Open option in a TCP header in bytes, padded to a multiple
    /// of four.
    pub fn wire_len(&self) -> u16 {
        let before = if self.experimental { 4 } else { 2 };
        (before + u16::from(self.cookie.len)).next_multiple_of(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_has_4_to_16_bytes() {
        let good: Vec<usize> = (0..40).filter(|&n| Cookie::of(&[1; 40][..n]).is_some()).collect();
        assert_eq!(good, [0, 4, 6, 8, 10, 12, 14, 16]);
        assert!(Cookie::of(&[]).is_some_and(|c| c.is_request()));
    }

    #[test]
    fn the_option_is_padded() {
        let cookie = Cookie::of(&[1; 8]).unwrap();
        let len = |experimental| FastOpen { cookie, experimental }.wire_len();
        assert_eq!((len(false), len(true)), (12, 12));
        assert_eq!(FastOpen::default().wire_len(), 4);
    }
}
