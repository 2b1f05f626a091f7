//! Write calls with the flag MSG_ZEROCOPY, until their data is acknowledged (Linux 6.12,
//! Documentation/networking/msg_zerocopy.rst; net/core/skbuff.c: msg_zerocopy_realloc,
//! __msg_zerocopy_callback).

use std::collections::VecDeque;

use super::error_queue::{Entry, ErrorQueue};

/// Maximum number of bytes of zero-copy calls that are reported together (Linux,
/// msg_zerocopy_realloc).
const MAX_TOGETHER: u64 = 1 << 19;

/// Zero-copy calls that are reported together, because their data is in the same kernel buffer.
#[derive(Clone, Copy, Debug)]
struct Calls {
    first: u32,
    last: u32,
    bytes: u64,
    /// Number of bytes of the connection up to the end of the last call.
    end: u64,
}

/// Zero-copy calls of a connection whose completion is not yet reported.
#[derive(Clone, Debug, Default)]
pub struct ZeroCopy {
    next: u32,
    calls: VecDeque<Calls>,
}

impl ZeroCopy {
    /// Record a zero-copy call that wrote `bytes` bytes, after which the connection has `end` bytes
    /// in total. The argument `tail` is the position in the written data at which the last kernel
    /// buffer of unsent data began, in bytes, before the zero-copy call.
    pub fn on_write(&mut self, end: u64, bytes: u64, tail: u64) {
        let id = self.next;
        self.next = id.wrapping_add(1);
        if let Some(calls) = self.calls.back_mut()
            && calls.end > tail
            && calls.last.wrapping_add(1) == id
            && calls.bytes.saturating_add(bytes) <= MAX_TOGETHER
        {
            (calls.last, calls.end, calls.bytes) = (id, end, calls.bytes + bytes);
        } else {
            self.calls.push_back(Calls { first: id, last: id, bytes, end });
        }
    }

    /// Report the completion of the zero-copy calls whose data is within the first `acked` bytes,
    /// which are acknowledged.
    pub fn on_acked(&mut self, acked: u64, errors: &mut ErrorQueue) {
        while let Some(calls) = self.calls.front().copied().filter(|c| c.end <= acked) {
            self.calls.pop_front();
            errors.push(Entry::Done(calls.first, calls.last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_one_buffer_are_reported_together() {
        let (mut zero_copy, mut errors) = (ZeroCopy::default(), ErrorQueue::default());
        zero_copy.on_write(100, 100, 0);
        zero_copy.on_write(200, 100, 0); // in the first buffer
        zero_copy.on_write(300, 100, 200); // in another buffer
        zero_copy.on_acked(199, &mut errors);
        assert!(errors.is_empty());
        zero_copy.on_acked(200, &mut errors);
        assert_eq!(errors.pop(), Some(Entry::Done(0, 1)));
        zero_copy.on_acked(300, &mut errors);
        zero_copy.on_write(400, 100, 400);
        zero_copy.on_acked(400, &mut errors);
        assert_eq!((errors.pop(), errors.pop(), errors.reports), (Some(Entry::Done(2, 3)), None, 3));
    }

    #[test]
    fn calls_above_the_maximum_are_reported_separately() {
        let (mut zero_copy, mut errors) = (ZeroCopy::default(), ErrorQueue::default());
        zero_copy.on_write(MAX_TOGETHER, MAX_TOGETHER, 0);
        zero_copy.on_write(MAX_TOGETHER + 1, 1, 0);
        zero_copy.on_acked(MAX_TOGETHER, &mut errors);
        assert_eq!(errors.pop(), Some(Entry::Done(0, 0)));
    }
}
