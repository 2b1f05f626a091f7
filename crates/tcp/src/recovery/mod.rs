//! Loss recovery: the detection of losses, and the choice of the segments to retransmit. Without
//! SACK, [`tahoe`], [`reno`] and [`newreno`] define the response to a duplicate or partial ACK.
//! With SACK, the [`scoreboard`] records the state of each segment, and [`sack`], [`fack`] and
//! [`rack`] decide which segments are lost.

pub mod eifel;
pub mod fack;
pub mod frto;
pub mod newreno;
pub mod parameters;
pub mod prr;
pub mod rack;
pub mod reno;
pub mod reordering;
pub mod sack;
pub mod scoreboard;
pub mod send_order;
pub mod tahoe;
pub mod tlp;

use units::words;

words! {
    /// Methods of loss recovery.
    pub enum RecoveryKind {
        /// Fast retransmit without fast recovery: slow start from one segment (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery; any ACK of new data ends the recovery (RFC 5681
        /// §3.2).
        Reno = "reno",
        /// Fast recovery that lasts until all data that was sent before the recovery is
        /// acknowledged (RFC 6582).
        NewReno = "newreno",
        /// Recovery by selective acknowledgements (RFC 6675). The sender uses NewReno if the
        /// receiver does not support SACK.
        Sack = "sack",
        /// Recovery by the forward-most selective acknowledgement (Mathis & Mahdavi 1996).
        Fack = "fack",
    }
}

words! {
    /// Effect on cwnd of the ACK that ends a fast recovery.
    pub enum RecoveryExit {
        /// The ACK sets cwnd to ssthresh (RFC 5681 §3.2, step 6).
        Deflate = "deflate",
        /// The ACK sets cwnd to ssthresh, then increases it like any ACK of new data (4.3BSD-Reno,
        /// ns-2).
        DeflateAndOpen = "deflate-and-open",
    }
}
