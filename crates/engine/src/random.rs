//! Named streams of random numbers from a counter-based generator.
//!
//! The generator is Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011, "Parallel random numbers: as
//! easy as 1, 2, 3"). A block of random numbers is a function of a key and a counter, so the name
//! of a stream defines its random numbers. Each component has its own stream of random numbers for
//! each purpose. An additional component therefore does not change the random numbers of the other
//! components. Two runs that are compared have the same traffic.

/// Stream of random numbers that a seed and a name determine.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: u64,
    block: [u32; 4],
    /// Number of random words of `block` that have been returned.
    used: usize,
}

impl Stream {
    /// Create the stream of random numbers that belongs to a name and to the seed of the run.
    pub fn new(seed: u64, name: &str) -> Self {
        let key = mix(mix(seed) ^ hash(name.as_bytes()));
        Stream { key: [key as u32, (key >> 32) as u32], counter: 0, block: [0; 4], used: 4 }
    }

    /// Create a separate stream of random numbers for one purpose of the component that owns this
    /// stream.
    #[must_use]
    pub fn branch(&self, name: &str) -> Self {
        let seed = u64::from(self.key[1]) << 32 | u64::from(self.key[0]);
        Stream::new(seed, name)
    }

    fn word(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox([self.counter as u32, (self.counter >> 32) as u32, 0, 0], self.key);
            self.counter += 1;
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// Return a random number that is uniformly distributed in [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        let (high, low) = (self.word(), self.word());
        unit(high, low)
    }

    /// Return a random whole number that is uniformly distributed in `0..n`.
    ///
    /// # Panics
    /// If `n` is zero.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "the upper bound of a random number must be above 0");
        let bits = (u64::from(self.word()) << 32) | u64::from(self.word());
        ((u128::from(bits) * u128::from(n)) >> 64) as u64
    }
}

/// Random numbers by index. The seed, the name and an index determine each random number, so a
/// random number does not depend on earlier ones. A connection that rarely uses random numbers
/// therefore does not need to store the state of a generator.
#[derive(Clone, Copy, Debug)]
pub struct Indexed {
    key: [u32; 2],
}

impl Indexed {
    /// Create the indexed random numbers that belong to a name and to the seed of the run.
    pub fn new(seed: u64, name: &str) -> Self {
        Indexed { key: Stream::new(seed, name).key }
    }

    /// Return the two random numbers at `index`, both uniformly distributed in [0, 1) and multiples
    /// of 2^-53.
    pub fn uniform(&self, [a, b, c]: [u32; 3]) -> [f64; 2] {
        let w = philox([a, b, c, 1], self.key); // a stream with the same name has 0 in place of 1
        [(w[0], w[1]), (w[2], w[3])].map(|(high, low)| unit(high, low))
    }
}

/// Convert 64 random bits to a number in [0, 1), a multiple of 2^-53.
fn unit(high: u32, low: u32) -> f64 {
    let bits = (u64::from(high) << 32) | u64::from(low);
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Return the FNV-1a hash of a name, which is the same on every machine.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

/// Return the output function of the generator SplitMix64 at `x` (Steele, Lea & Flood 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Return one block of random numbers of Philox4x32-10.
fn philox(mut c: [u32; 4], mut k: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let p0 = u64::from(c[0]) * 0xD251_1F53;
        let p1 = u64::from(c[2]) * 0xCD9E_8D57;
        c = [(p1 >> 32) as u32 ^ c[1] ^ k[0], p1 as u32, (p0 >> 32) as u32 ^ c[3] ^ k[1], p0 as u32];
        k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The generator Philox4x32-10 reproduces its published test vectors (Random123, kat_vectors).
    #[test]
    fn philox_reproduces_the_published_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn seed_and_name_determine_a_stream() {
        let draw = |seed, name| {
            let mut s = Stream::new(seed, name);
            [s.uniform(), s.uniform(), s.uniform()]
        };
        assert_eq!(draw(1, "link/b"), draw(1, "link/b"));
        assert_ne!(draw(1, "link/b"), draw(2, "link/b"));
        assert_ne!(draw(1, "link/b"), draw(1, "link/c"));
    }

    /// A million random numbers lie in [0, 1), and their mean and variance are within six standard
    /// errors of 1/2 and 1/12.
    #[test]
    fn uniform_has_the_moments_of_its_distribution() {
        let n = 1_000_000;
        let mut s = Stream::new(7, "moments");
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let u = s.uniform();
            assert!((0.0..1.0).contains(&u));
            sum += u;
            squares += (u - 0.5) * (u - 0.5);
        }
        let n = f64::from(n);
        assert!((sum / n - 0.5).abs() < 6.0 * (1.0 / 12.0 / n).sqrt());
        assert!((squares / n - 1.0 / 12.0).abs() < 6.0 * (1.0 / 180.0 / n).sqrt());
    }

    /// Random numbers at different indices differ, and their mean and variance agree with 1/2 and
    /// 1/12.
    #[test]
    fn numbers_by_index_are_uniform_and_distinct() {
        let numbers = Indexed::new(7, "indexed");
        let n = 100_000u32;
        for place in 0..3 {
            let (mut sum, mut squares) = (0.0, 0.0);
            for i in 0..n {
                let mut index = [3, 5, 9];
                index[place] = i;
                for u in numbers.uniform(index) {
                    sum += u;
                    squares += (u - 0.5) * (u - 0.5);
                }
            }
            let n = 2.0 * f64::from(n);
            assert!((sum / n - 0.5).abs() < 6.0 * (1.0 / 12.0 / n).sqrt());
            assert!((squares / n - 1.0 / 12.0).abs() < 6.0 * (1.0 / 180.0 / n).sqrt());
        }
        let mut stream = Stream::new(7, "indexed");
        assert_ne!(numbers.uniform([0, 0, 0]), [stream.uniform(), stream.uniform()]);
        assert_ne!(numbers.uniform([1, 0, 0]), numbers.uniform([0, 1, 0]));
        assert_eq!(numbers.uniform([1, 2, 3]), Indexed::new(7, "indexed").uniform([1, 2, 3]));
    }

    #[test]
    fn below_reaches_every_value() {
        let mut s = Stream::new(7, "below");
        let mut seen = [0u32; 5];
        for _ in 0..10_000 {
            seen[s.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&c| (1800..2200).contains(&c)), "{seen:?}");
    }
}
