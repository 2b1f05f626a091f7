//! Loss recovery: how losses are found, and what is sent then. Without SACK: [`tahoe`], [`reno`],
//! [`newreno`] say what a duplicate or partial ACK does. With SACK the [`scoreboard`] knows what is where,
//! and [`sack`], [`fack`] and [`rack`] say what is lost.

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
    /// The loss recoveries.
    pub enum RecoveryKind {
        /// Fast retransmit without fast recovery: slow start from one segment (Jacobson 1988).
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery; any new ACK ends it (RFC 5681 §3.2).
        Reno = "reno",
        /// Fast recovery that lasts until everything sent before it is acknowledged (RFC 6582).
        NewReno = "newreno",
        /// By selective acknowledgements (RFC 6675); NewReno where the other side has none.
        Sack = "sack",
        /// By the forward-most selective acknowledgement (Mathis & Mahdavi 1996).
        Fack = "fack",
    }
}

words! {
    /// What the ACK that ends a fast recovery does to cwnd.
    pub enum RecoveryExit {
        /// Sets it to ssthresh (RFC 5681 §3.2, step 6).
        Deflate = "deflate",
        /// Sets it to ssthresh and opens it as any ACK of new data does (4.3BSD-Reno, ns-2).
        DeflateAndOpen = "deflate-and-open",
    }
}
