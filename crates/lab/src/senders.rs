//! State of the senders at the time of a sample: of the endpoints of the simulator, or of real
//! hosts.

use net::End;

use crate::endpoints::Endpoints;
use crate::real_ends::RealEnd;
use crate::sender_state::SenderState;

/// Senders of all connections.
#[derive(Clone, Copy, Debug)]
pub struct Senders<'a> {
    /// Endpoints of the simulator.
    pub endpoints: &'a Endpoints,
    /// Endpoints of real hosts, if real hosts send the packets.
    pub real: Option<&'a [[RealEnd; 2]]>,
}

impl Senders<'_> {
    /// Return the state of the sender at an endpoint.
    #[inline]
    pub fn of(&self, end: End) -> SenderState {
        if let Some(real) = self.real {
            return real[end.connection() as usize][usize::from(!end.is_sender())].state();
        }
        let sender = &self.endpoints[end];
        let window = sender.window();
        SenderState {
            acked: sender.acked(),
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            flight: window.flight,
            rto: sender.rto(),
            delivery_rate: sender.delivery_rate().map(|(rate, _)| rate),
        }
    }
}
