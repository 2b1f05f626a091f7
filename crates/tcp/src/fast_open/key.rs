//! Generation of cookies: SipHash-2-4 (Aumasson & Bernstein 2012, "SipHash: a Fast Short-Input
//! PRF") of the two IPv4 addresses, as in Linux (net/ipv4/tcp_fastopen.c,
//! __tcp_fastopen_cookie_gen_cipher).

use net::Cookie;

/// Secret key of 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Key(pub [u8; 16]);

impl Key {
    /// Return the key that consists of four 32-bit words, the lowest byte of each word first
    /// (Linux, tcp_fastopen_key).
    pub fn of_words(words: [u32; 4]) -> Self {
        let mut bytes = [0; 16];
        for (at, word) in bytes.chunks_exact_mut(4).zip(words) {
            at.copy_from_slice(&word.to_le_bytes());
        }
        Key(bytes)
    }

    /// Return the cookie that a server issues to a client.
    pub fn cookie(&self, client: [u8; 4], server: [u8; 4]) -> Cookie {
        let [a, b, c, d] = client;
        let [e, f, g, h] = server;
        Cookie::of(&self.hash(&[a, b, c, d, e, f, g, h]).to_le_bytes()).unwrap_or_default() // 8 bytes always form a cookie
    }

    fn hash(&self, message: &[u8]) -> u64 {
        let (k0, k1) = (word(&self.0[..8]), word(&self.0[8..]));
        let mut v = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        let mut absorb = |m: u64| {
            v[3] ^= m;
            round(&mut v);
            round(&mut v);
            v[0] ^= m;
        };
        let chunks = message.chunks_exact(8);
        let last = word(chunks.remainder()) | (message.len() as u64) << 56;
        chunks.for_each(|chunk| absorb(word(chunk)));
        absorb(last);
        v[2] ^= 0xff;
        (0..4).for_each(|_| round(&mut v));
        v[0] ^ v[1] ^ v[2] ^ v[3]
    }
}

/// Return the number that up to eight bytes represent, the lowest byte first.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Apply one round of SipHash (SipRound).
fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].wrapping_add(v[3]);
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].wrapping_add(v[1]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[2] = v[2].rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Aumasson & Bernstein 2012, appendix A, give the input and output of this test.
    #[test]
    fn the_hash_equals_the_example_of_the_paper() {
        let bytes: Vec<u8> = (0..16).collect();
        let key = Key(bytes.clone().try_into().unwrap());
        assert_eq!(key.hash(&bytes[..15]), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn a_cookie_depends_on_both_addresses_and_the_key() {
        let key = Key::of_words([0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c]);
        assert_eq!(key.0.to_vec(), (0..16).collect::<Vec<u8>>());
        let cookie = key.cookie([0, 1, 2, 3], [4, 5, 6, 7]);
        // The authors of SipHash publish this hash as the test vector for an input of 8 bytes.
        assert_eq!(cookie.bytes(), [0x62, 0x24, 0x93, 0x9a, 0x79, 0xf5, 0xf5, 0x93]);
        assert_ne!(cookie, key.cookie([4, 5, 6, 7], [0, 1, 2, 3]));
        assert_ne!(cookie, Key::default().cookie([0, 1, 2, 3], [4, 5, 6, 7]));
    }
}
