//! Calls of the application: open, write, read, close.

use std::sync::Arc;

use units::Time;

use super::Endpoint;
use super::incidents::Reset;
use super::state::State;
use crate::config::Tcp;
use crate::window::CwndChange;

impl Endpoint {
    /// Open actively.
    pub fn connect(&mut self) {
        self.state = State::SynSent;
        self.syn_due = true;
    }

    /// Open passively.
    pub fn listen(&mut self) {
        self.state = State::Listen;
    }

    /// Replace the parameters. If the new parameters select another congestion control, that
    /// control starts in its initial state. The results of the handshake do not change. The segment
    /// size, the use of SACK and the tick of the host's clock do not change, because the sender and
    /// the receiver read these parameters only at their creation.
    pub fn configure(&mut self, tcp: Arc<Tcp>) {
        if let Some(sender) = &mut self.sender
            && tcp.congestion != self.tcp.congestion
        {
            sender.tcb.replace_controller(&tcp);
        }
        self.tcp = tcp;
    }

    /// Write `bytes` bytes; `u64::MAX` is endless data. A write after the close has no effect (RFC
    /// 9293 §3.10.2).
    pub fn write(&mut self, bytes: u64) {
        let sender = self.sender();
        if !sender.tcb.closing {
            sender.write(bytes);
        }
    }

    /// Record that the application waits for the connection in order to write. The first data that
    /// the application writes carries the ACK of the SYN-ACK.
    pub fn await_write(&mut self) {
        self.incidents().write_waits = true;
    }

    /// Close the sending side, after which the application writes no more data.
    pub fn close(&mut self) {
        if matches!(self.state, State::Closed | State::Listen) {
            self.state = State::Closed;
            return;
        }
        let sender = self.sender();
        if !sender.tcb.closing {
            sender.tcb.closing = true;
            sender.tcb.release_small_segment();
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                state => state,
            };
        }
    }

    /// Abort the connection with a reset (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        let synchronized =
            !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait);
        if synchronized {
            let (seq, ack) = (self.max(), self.next());
            self.incidents().reset = Some(Reset { seq, ack: Some(ack), echo: None });
        }
        self.end(Time::ZERO, None);
    }

    /// Close the connection without sending a segment.
    pub fn discard(&mut self, now: Time) {
        self.end(now, None);
    }

    /// Measure the [delivery rate](Endpoint::delivery_rate). The application must call this
    /// function before the endpoint sends its first segment.
    pub fn measure_delivery_rate(&mut self) {
        self.incidents().measures_rate = true;
    }

    /// Record the changes of cwnd and ssthresh, which
    /// [`take_cwnd_changes`](Endpoint::take_cwnd_changes) returns. The application must call this
    /// function before the endpoint sends its first segment.
    pub fn record_cwnd_changes(&mut self) {
        self.incidents().records_changes = true;
    }

    /// Call the function `see` with each change of cwnd and ssthresh since the last call, in order.
    pub fn take_cwnd_changes(&mut self, see: impl FnMut(CwndChange)) {
        if let Some(sender) = &mut self.sender {
            sender.tcb.take_changes(see);
        }
    }

    /// Store received data until the application reads it with [`Endpoint::read`]. If the
    /// application does not read explicitly, the endpoint discards received data at once.
    pub fn hold_data(&mut self) {
        self.incidents().explicit_reads = true;
    }

    /// Read up to `bytes` bytes. Return the number of bytes read.
    pub fn read(&mut self, now: Time, bytes: u32) -> u32 {
        let (buffer, max, smss) = (self.buffer(), self.max_window(), self.smss());
        let Some(receiver) = &mut self.receiver else { return 0 };
        let (n, update) = receiver.read(bytes, buffer, max, smss);
        receiver.on_read(now);
        self.ack_due |= update && !matches!(self.state, State::Closed | State::TimeWait);
        n
    }

    /// Return the number of bytes in order that the application has not read.
    pub fn readable(&self) -> u32 {
        self.receiver.as_ref().map_or(0, |r| r.unread)
    }

    /// Return true if the other side has closed and all data was read.
    pub fn at_eof(&self) -> bool {
        self.fin_received() && self.readable() == 0
    }

    /// Return true if the other side's FIN is in order.
    pub fn fin_received(&self) -> bool {
        matches!(self.state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
    }

    /// Return the number of bytes that the application has written and the other side has not
    /// acknowledged, and the number of these bytes that were never sent.
    pub fn outstanding(&self) -> (u64, u64) {
        self.sender.as_ref().map_or((0, 0), |s| {
            let sent = u64::from(s.tcb.data_end().minus(s.tcb.una).max(0) as u32) - u64::from(self.syn_out());
            (sent.saturating_add(s.tcb.unsent), s.tcb.unsent)
        })
    }

    /// Return two flags. The first flag is true if the application has closed and the FIN is not
    /// acknowledged. The second flag is true if the application has closed and the FIN was not
    /// sent.
    pub fn fin_outstanding(&self) -> (bool, bool) {
        let Some(s) = &self.sender else { return (false, false) };
        (s.tcb.closing && !(s.tcb.fin_sent && s.tcb.una == s.tcb.max), s.tcb.closing && !s.tcb.fin_sent)
    }

    /// Return true if ACKs are sent at once, by request of the application or at the beginning of a
    /// connection.
    pub fn acks_quickly(&self) -> bool {
        self.receiver.as_ref().map_or(self.tcp.ack.quick.0 > 0.0, |r| r.is_quick())
    }

    /// Enable or disable the immediate transmission of small segments (TCP_NODELAY).
    pub fn set_nodelay(&mut self, on: bool) {
        self.sender().tcb.nodelay(on);
    }

    /// Enable or disable the delay of small segments (TCP_CORK).
    pub fn set_cork(&mut self, on: bool) {
        self.sender().tcb.cork(on);
    }

    /// Delay small segments until the application writes more data (MSG_MORE). When a segment
    /// arrives, the caller passes `false` to this function, so that small segments no longer wait.
    pub fn expect_more(&mut self, on: bool) {
        self.sender().tcb.expect_more(on);
    }

    /// End a record after the data written so far (MSG_EOR). No segment contains data from before
    /// and after the end of a record.
    pub fn end_record(&mut self) {
        self.sender().end_record();
    }

    /// Enable or disable immediate ACKs (TCP_QUICKACK).
    pub fn set_quickack(&mut self, on: bool) {
        self.receiver().set_quick(on);
    }

    /// Return true if the other side has closed the connection and this side has not.
    pub fn peer_closed(&self) -> bool {
        self.state == State::CloseWait
    }
}
