//! What the application does: open, write, read, close.

use std::sync::Arc;

use units::Time;

use super::Endpoint;
use super::incidents::Reset;
use super::state::State;
use crate::config::Tcp;

impl Endpoint {
    /// Opens actively.
    pub fn connect(&mut self) {
        self.state = State::SynSent;
        self.syn_due = true;
    }

    /// Opens passively.
    pub fn listen(&mut self) {
        self.state = State::Listen;
    }

    /// Its parameters are these from now on; another congestion control begins anew. What the handshake agreed on stays,
    /// and so does what its halves took from the parameters when they began: segment size, SACK, the clock.
    pub fn configure(&mut self, tcp: Arc<Tcp>) {
        if let Some(sender) = &mut self.sender
            && tcp.congestion != self.tcp.congestion
        {
            sender.tcb.replace_controller(&tcp);
        }
        self.tcp = tcp;
    }

    /// The application writes `bytes`; `u64::MAX`: without end. After its close there is nothing to write (RFC 9293
    /// §3.10.2).
    pub fn write(&mut self, bytes: u64) {
        let sender = self.sender();
        if !sender.tcb.closing {
            sender.write(bytes);
        }
    }

    /// Record that the application waits for the connection in order to write: the data then carries
    /// the ACK of the SYN-ACK.
    pub fn await_write(&mut self) {
        self.incidents().write_waits = true;
    }

    /// The application has no more to write.
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

    /// The application drops the connection (RFC 9293 §3.10.5): a reset goes out.
    pub fn abort(&mut self) {
        let synchronized =
            !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::TimeWait);
        if synchronized {
            let (seq, ack) = (self.max(), self.next());
            self.incidents().reset = Some(Reset { seq, ack: Some(ack), echo: None });
        }
        self.end(Time::ZERO, None);
    }

    /// Ends without a word.
    pub fn forget(&mut self, now: Time) {
        self.end(now, None);
    }

    /// It is to tell the [delivery rate](Endpoint::delivery_rate). (Not after something was sent.)
    pub fn tell_rate(&mut self) {
        self.incidents().rate = true;
    }

    /// From now on the application reads when it likes ([`Endpoint::read`]), not at once.
    pub fn hold_data(&mut self) {
        self.incidents().reads = true;
    }

    /// The application reads up to `bytes`: how many there were.
    pub fn read(&mut self, now: Time, bytes: u32) -> u32 {
        let (buffer, most, smss) = (self.buffer(), self.most_told(), self.smss());
        let Some(receiver) = &mut self.receiver else { return 0 };
        let (n, update) = receiver.read(bytes, buffer, most, smss);
        receiver.on_read(now);
        self.ack_due |= update && !matches!(self.state, State::Closed | State::TimeWait);
        n
    }

    /// Bytes in order that the application has not read.
    pub fn readable(&self) -> u32 {
        self.receiver.as_ref().map_or(0, |r| r.unread)
    }

    /// Whether the other side has closed and everything was read.
    pub fn at_eof(&self) -> bool {
        self.fin_received() && self.readable() == 0
    }

    /// Whether the other side's FIN has been reached.
    pub fn fin_received(&self) -> bool {
        matches!(self.state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait)
    }

    /// Bytes written and not acknowledged, and of those never sent.
    pub fn outstanding(&self) -> (u64, u64) {
        self.sender.as_ref().map_or((0, 0), |s| {
            let sent = u64::from(s.tcb.data_end().minus(s.tcb.una).max(0) as u32) - u64::from(self.syn_out());
            (sent.saturating_add(s.tcb.unsent), s.tcb.unsent)
        })
    }

    /// Whether the application has closed and the FIN is not acknowledged, and whether it was not even sent.
    pub fn fin_outstanding(&self) -> (bool, bool) {
        let Some(s) = &self.sender else { return (false, false) };
        (s.tcb.closing && !(s.tcb.fin_sent && s.tcb.una == s.tcb.max), s.tcb.closing && !s.tcb.fin_sent)
    }

    /// Whether ACKs go out at once, as the application wished or as a connection begins.
    pub fn acks_quickly(&self) -> bool {
        self.receiver.as_ref().map_or(self.tcp.ack.quick.0 > 0.0, |r| r.is_quick())
    }

    /// Small segments never wait (TCP_NODELAY).
    pub fn set_nodelay(&mut self, on: bool) {
        self.sender().tcb.nodelay(on);
    }

    /// Small segments wait for more (TCP_CORK).
    pub fn set_cork(&mut self, on: bool) {
        self.sender().tcb.cork(on);
    }

    /// Small segments wait for what the application writes next (MSG_MORE), until something arrives: then
    /// whoever calls this with `false`.
    pub fn expect_more(&mut self, on: bool) {
        self.sender().tcb.expect_more(on);
    }

    /// What was written ends a record: no segment has bytes of the next beside it (MSG_EOR).
    pub fn end_record(&mut self) {
        self.sender().end_record();
    }

    /// ACKs go out at once, or not (TCP_QUICKACK).
    pub fn set_quickack(&mut self, on: bool) {
        self.receiver().set_quick(on);
    }

    /// The other side has closed and this side has not.
    pub fn peer_closed(&self) -> bool {
        self.state == State::CloseWait
    }
}
