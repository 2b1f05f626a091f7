//! TCP options (RFC 9293 §3.2), and the part of a TCP header that contains them.

use net::{AccEcn, AccEcnOrder, Seq};

use crate::accurate_ecn;
use crate::error::Error;
use crate::inline_vec::InlineVec;

/// Blocks of a SACK option. A SACK option has at most four blocks, or three if the header also has
/// timestamps (RFC 2018 §3). The first block of a SACK option may report duplicate data (D-SACK,
/// RFC 2883).
pub type SackBlocks = InlineVec<(Seq, Seq), 4>;
/// A Fast Open cookie with an even number of bytes from 4 to 16. An empty cookie requests a cookie
/// (RFC 7413 §4.1.1).
pub type Cookie = InlineVec<u8, 16>;

/// Kinds of TCP options (IANA, TCP option kind numbers).
mod kind {
    pub const END: u8 = 0;
    pub const NOP: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
    pub const MD5: u8 = 19;
    pub const FAST_OPEN: u8 = 34;
    pub const EXPERIMENT: u8 = 254;
}

/// Experiment identifier of TCP Fast Open (RFC 6994; RFC 7413 §4.1.1 and §8).
const FAST_OPEN_EXID: [u8; 2] = [0xf9, 0x89];

/// A TCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// End of the option list (RFC 9293 §3.2).
    End,
    /// No operation: padding before another TCP option.
    Nop,
    /// Maximum segment size in bytes (RFC 9293 §3.7.1).
    Mss(u16),
    /// Window scale: the shift of the window field (RFC 7323 §2.2), as the sender of the option
    /// wrote it. The receiver of the window scale option limits the shift to 14.
    WindowScale(u8),
    /// SACK permitted: the sender of the option accepts SACK options (RFC 2018 §2).
    SackPermitted,
    /// SACK: blocks of data that arrived out of order (RFC 2018 §3). The first block of a SACK
    /// option may report duplicate data (RFC 2883 §4).
    Sack(SackBlocks),
    /// Timestamps (RFC 7323 §3.2).
    Timestamps {
        /// TSval: value of the sender's timestamp clock.
        val: u32,
        /// TSecr: value of the peer's timestamp clock, which the sender echoes.
        ecr: u32,
    },
    /// Fast Open (RFC 7413 §4.1.1).
    FastOpen(Cookie),
    /// Fast Open option with the kind that experiments share, as used before RFC 7413.
    FastOpenExperiment(Cookie),
    /// Accurate ECN (RFC 9768 §3.2.3).
    AccEcn(AccEcn),
    /// MD5 digest as defined in RFC 2385. This crate neither computes nor verifies MD5 digests.
    Md5([u8; 16]),
    /// Any other option.
    Unknown {
        /// Kind of the option.
        kind: u8,
        /// Data of the option, which follows the length byte.
        data: InlineVec<u8, 38>,
    },
}

impl TcpOption {
    /// Return the kind.
    pub fn kind(&self) -> u8 {
        match self {
            TcpOption::End => kind::END,
            TcpOption::Nop => kind::NOP,
            TcpOption::Mss(_) => kind::MSS,
            TcpOption::WindowScale(_) => kind::WINDOW_SCALE,
            TcpOption::SackPermitted => kind::SACK_PERMITTED,
            TcpOption::Sack(_) => kind::SACK,
            TcpOption::Timestamps { .. } => kind::TIMESTAMPS,
            TcpOption::FastOpen(_) => kind::FAST_OPEN,
            TcpOption::FastOpenExperiment(_) => kind::EXPERIMENT,
            TcpOption::AccEcn(option) => accurate_ecn::kind(option),
            TcpOption::Md5(_) => kind::MD5,
            TcpOption::Unknown { kind, .. } => *kind,
        }
    }

    /// Decode a TCP option from its kind and the data that follows its length byte.
    fn read(kind: u8, data: &[u8]) -> Result<TcpOption, Error> {
        let invalid = Error::OptionLength { kind, length: data.len() + 2 };
        let accurate = |order, fields| TcpOption::AccEcn(accurate_ecn::read(order, fields));
        let unknown = || InlineVec::of(data).map(|data| TcpOption::Unknown { kind, data }).ok_or(invalid);
        match (kind, data) {
            (kind::MSS, &[a, b]) => Ok(TcpOption::Mss(u16::from_be_bytes([a, b]))),
            (kind::WINDOW_SCALE, &[shift]) => Ok(TcpOption::WindowScale(shift)),
            (kind::SACK_PERMITTED, []) => Ok(TcpOption::SackPermitted),
            (kind::SACK, blocks) => read_blocks(blocks).map(TcpOption::Sack).ok_or(invalid),
            (kind::TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => Ok(TcpOption::Timestamps {
                val: u32::from_be_bytes([a, b, c, d]),
                ecr: u32::from_be_bytes([e, f, g, h]),
            }),
            (kind::MD5, digest) => digest.try_into().map(TcpOption::Md5).map_err(|_| invalid),
            (accurate_ecn::KIND_0, fields) => Ok(accurate(AccEcnOrder::Ect0First, fields)),
            (accurate_ecn::KIND_1, fields) => Ok(accurate(AccEcnOrder::Ect1First, fields)),
            // A Fast Open cookie of invalid length must be ignored (RFC 7413 §4.1.1), so the
            // function returns neither a cookie nor an error.
            (kind::FAST_OPEN, data) => read_cookie(data).map(TcpOption::FastOpen).map_or_else(unknown, Ok),
            (kind::EXPERIMENT, &[a, b, ref data @ ..]) if [a, b] == FAST_OPEN_EXID => {
                read_cookie(data).map(TcpOption::FastOpenExperiment).map_or_else(unknown, Ok)
            }
            (kind::MSS | kind::WINDOW_SCALE | kind::SACK_PERMITTED | kind::TIMESTAMPS, _) => Err(invalid),
            _ => unknown(),
        }
    }
}

/// Decode SACK blocks. "A SACK option that specifies n blocks will have a length of 8*n+2 bytes"
/// (RFC 2018 §3), and n is at most four.
fn read_blocks(data: &[u8]) -> Option<SackBlocks> {
    let mut blocks = SackBlocks::new();
    for block in data.chunks(8) {
        let &[a, b, c, d, e, f, g, h] = block else { return None };
        let edges = (Seq(u32::from_be_bytes([a, b, c, d])), Seq(u32::from_be_bytes([e, f, g, h])));
        blocks.extend(&[edges]).then_some(())?;
    }
    (!blocks.is_empty()).then_some(blocks)
}

fn read_cookie(data: &[u8]) -> Option<Cookie> {
    is_cookie(data).then(|| Cookie::of(data)).flatten()
}

fn is_cookie(data: &[u8]) -> bool {
    data.is_empty() || (4..=16).contains(&data.len()) && data.len().is_multiple_of(2)
}

/// Encoded TCP options of a header, with padding. The size of the encoded options is a multiple of
/// four bytes, and at most 40 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options(InlineVec<u8, 40>);

impl Options {
    /// Encode TCP options in the given order, and pad them with zeros to a multiple of four bytes.
    pub fn of(options: impl IntoIterator<Item = TcpOption>) -> Result<Options, Error> {
        let mut list = List::default();
        for option in options {
            list.add(&[option])?;
        }
        list.padded()
    }

    /// Decode the TCP options of a header. All TCP options of the header must be valid.
    pub(crate) fn read(bytes: &[u8]) -> Result<Options, Error> {
        debug_assert!(bytes.len().is_multiple_of(4));
        let options = Options(InlineVec::of(bytes).ok_or(Error::OptionRoom { needed: bytes.len() })?);
        options.checked().try_for_each(|option| option.map(drop))?;
        Ok(options)
    }

    /// Return the TCP options in order, up to the end of the option list.
    pub fn iter(&self) -> impl Iterator<Item = TcpOption> {
        // The options are valid, because either `of` has encoded them or `read` has checked them.
        self.checked().map_while(Result::ok)
    }

    /// Return the encoded options.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn checked(&self) -> Checked<'_> {
        Checked(&self.0)
    }
}

/// TCP options that are encoded one after the other.
#[derive(Default)]
pub(crate) struct List(InlineVec<u8, 40>);

impl List {
    /// Append options.
    pub fn add(&mut self, options: &[TcpOption]) -> Result<(), Error> {
        options.iter().try_for_each(|option| write(option, &mut self.0))
    }

    /// Return the encoded TCP options, padded with zeros to a multiple of four bytes.
    pub fn padded(mut self) -> Result<Options, Error> {
        let padding = self.0.len().next_multiple_of(4) - self.0.len();
        put(&mut self.0, &[kind::END; 3][..padding])?;
        Ok(Options(self.0))
    }
}

/// Iterator over encoded TCP options, which ends after the first invalid option.
struct Checked<'a>(&'a [u8]);

impl Iterator for Checked<'_> {
    type Item = Result<TcpOption, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = std::mem::take(&mut self.0);
        match *bytes {
            [] => None,
            // "the content of the header beyond the End-of-Option option MUST be header padding of
            // zeros" (RFC 9293 §3.1, MUST-69), so the bytes after the End-of-Option option are not
            // options.
            [kind::END, ..] => Some(Ok(TcpOption::End)),
            [kind::NOP, ref rest @ ..] => {
                self.0 = rest;
                Some(Ok(TcpOption::Nop))
            }
            [kind, length, ref rest @ ..] if (2..=bytes.len()).contains(&usize::from(length)) => {
                let (data, rest) = rest.split_at(usize::from(length) - 2);
                self.0 = rest;
                Some(TcpOption::read(kind, data))
            }
            [kind, ref rest @ ..] => {
                let length = rest.first().map_or(1, |&length| usize::from(length));
                Some(Err(Error::OptionLength { kind, length }))
            }
        }
    }
}

/// Append an encoded option.
fn write(option: &TcpOption, out: &mut InlineVec<u8, 40>) -> Result<(), Error> {
    let kind = option.kind();
    let with_length = |out: &mut InlineVec<u8, 40>, data: &[u8]| {
        put(out, &[kind, data.len() as u8 + 2])?;
        put(out, data)
    };
    match option {
        TcpOption::End | TcpOption::Nop => put(out, &[kind]),
        TcpOption::Mss(mss) => with_length(out, &mss.to_be_bytes()),
        TcpOption::WindowScale(shift) => with_length(out, &[*shift]),
        TcpOption::SackPermitted => with_length(out, &[]),
        TcpOption::Sack(blocks) if blocks.is_empty() => Err(Error::OptionLength { kind, length: 2 }),
        TcpOption::Sack(blocks) => {
            put(out, &[kind, blocks.len() as u8 * 8 + 2])?;
            blocks.iter().flat_map(|b| [b.0, b.1]).try_for_each(|edge| put(out, &edge.0.to_be_bytes()))
        }
        TcpOption::Timestamps { val, ecr } => {
            put(out, &[kind, 10])?;
            put(out, &val.to_be_bytes())?;
            put(out, &ecr.to_be_bytes())
        }
        TcpOption::FastOpen(cookie) | TcpOption::FastOpenExperiment(cookie) if !is_cookie(cookie) => {
            Err(Error::OptionLength { kind, length: cookie.len() + 2 })
        }
        TcpOption::FastOpen(cookie) => with_length(out, cookie),
        TcpOption::FastOpenExperiment(cookie) => {
            put(out, &[kind, cookie.len() as u8 + 4])?;
            put(out, &FAST_OPEN_EXID)?;
            put(out, cookie)
        }
        TcpOption::AccEcn(option) => {
            put(out, &[kind, option.counters().len() as u8 * 3 + 2])?;
            option.counters().iter().try_for_each(|counter| put(out, &counter.to_be_bytes()[1..]))
        }
        TcpOption::Md5(digest) => with_length(out, digest),
        // An option of kind 0 or 1 has no length byte, so any data of the option would be decoded
        // as further options.
        TcpOption::Unknown { kind: kind::END | kind::NOP, data } => {
            Err(Error::OptionLength { kind, length: data.len() + 2 })
        }
        TcpOption::Unknown { data, .. } => with_length(out, data),
    }
}

fn put(out: &mut InlineVec<u8, 40>, bytes: &[u8]) -> Result<(), Error> {
    if out.extend(bytes) { Ok(()) } else { Err(Error::OptionRoom { needed: out.len() + bytes.len() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sack(n: u32) -> TcpOption {
        let blocks: Vec<_> = (0..n).map(|i| (Seq(i * 20), Seq(i * 20 + 10))).collect();
        TcpOption::Sack(InlineVec::of(&blocks).unwrap())
    }

    fn bytes(options: &[TcpOption]) -> Vec<u8> {
        Options::of(options.iter().copied()).unwrap().bytes().to_vec()
    }

    #[test]
    fn encoded_options_match_their_documents() {
        assert_eq!(bytes(&[TcpOption::Mss(1460)]), [2, 4, 0x05, 0xb4]);
        assert_eq!(bytes(&[TcpOption::Nop, TcpOption::WindowScale(7)]), [1, 3, 3, 7]);
        assert_eq!(bytes(&[TcpOption::SackPermitted]), [4, 2, 0, 0]);
        // RFC 7323 Appendix A: NOP, NOP, kind 8, length 10, TSval, TSecr.
        let stamps = TcpOption::Timestamps { val: 0x0102_0304, ecr: 0xa0b0_c0d0 };
        let expected = [1, 1, 8, 10, 1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0];
        assert_eq!(bytes(&[TcpOption::Nop, TcpOption::Nop, stamps]), expected);
        assert_eq!(bytes(&[sack(1)]), [5, 10, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0]);
        let cookie = InlineVec::of(&[1, 2, 3, 4]).unwrap();
        assert_eq!(bytes(&[TcpOption::FastOpen(cookie)]), [34, 6, 1, 2, 3, 4, 0, 0]);
        assert_eq!(bytes(&[TcpOption::FastOpenExperiment(cookie)]), [254, 8, 0xf9, 0x89, 1, 2, 3, 4]);
        // RFC 9768 Table 5: the kind of an Accurate ECN option gives the order of its counters, and
        // the length gives their number.
        let accurate = |order, n| bytes(&[TcpOption::AccEcn(AccEcn::of(order, 0xe0, 0xce, 0xff00_00e1, n))]);
        let all = [172, 11, 0, 0, 0xe0, 0, 0, 0xce, 0, 0, 0xe1, 0];
        assert_eq!(accurate(AccEcnOrder::Ect0First, 3), all);
        assert_eq!(accurate(AccEcnOrder::Ect1First, 2), [174, 8, 0, 0, 0xe1, 0, 0, 0xce]);
        assert_eq!(accurate(AccEcnOrder::Ect1First, 0), [174, 2, 0, 0]);
    }

    #[test]
    fn a_header_holds_four_blocks_or_three_beside_timestamps() {
        let stamps = TcpOption::Timestamps { val: 1, ecr: 2 };
        let nop = TcpOption::Nop;
        assert_eq!(bytes(&[nop, nop, sack(4)]).len(), 36);
        assert_eq!(bytes(&[nop, nop, stamps, nop, nop, sack(3)]).len(), 40);
        let four = Options::of([nop, nop, stamps, nop, nop, sack(4)]);
        assert_eq!(four, Err(Error::OptionRoom { needed: 44 }));
    }

    #[test]
    fn invalid_lengths_are_refused() {
        let invalid = |bytes: &[u8]| Options::read(bytes).unwrap_err();
        assert_eq!(invalid(&[2, 0, 5, 180]), Error::OptionLength { kind: 2, length: 0 });
        assert_eq!(invalid(&[2, 3, 5, 0]), Error::OptionLength { kind: 2, length: 3 });
        assert_eq!(invalid(&[99, 5, 0, 0]), Error::OptionLength { kind: 99, length: 5 });
        assert_eq!(invalid(&[1, 1, 1, 99]), Error::OptionLength { kind: 99, length: 1 });
        assert_eq!(invalid(&[5, 2, 0, 0]), Error::OptionLength { kind: 5, length: 2 });
        assert_eq!(invalid(&[5, 6, 0, 0, 0, 0, 0, 0]), Error::OptionLength { kind: 5, length: 6 });
        let refused = Options::of([TcpOption::Unknown { kind: 1, data: InlineVec::new() }]);
        assert_eq!(refused, Err(Error::OptionLength { kind: 1, length: 2 }));
        let odd = TcpOption::FastOpen(InlineVec::of(&[1, 2, 3, 4, 5]).unwrap());
        assert_eq!(Options::of([odd]), Err(Error::OptionLength { kind: 34, length: 7 }));
    }

    #[test]
    fn options_that_must_be_ignored_are_not_errors() {
        let only = |bytes: &[u8]| Options::read(bytes).unwrap().iter().next().unwrap();
        let odd = only(&[34, 7, 1, 2, 3, 4, 5, 0]);
        assert_eq!(odd, TcpOption::Unknown { kind: 34, data: InlineVec::of(&[1, 2, 3, 4, 5]).unwrap() });
        let TcpOption::AccEcn(longer) = only(&[172, 7, 0, 0, 9, 8, 8, 0]) else { panic!() };
        assert_eq!((longer.ee0b(), longer.eceb(), longer.ee1b()), (Some(9), None, None));
        let after_end = Options::read(&[1, 0, 2, 99]).unwrap();
        assert!(after_end.iter().eq([TcpOption::Nop, TcpOption::End]));
    }
}
