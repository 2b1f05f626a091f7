//! The table of impairments. A kind of impairment is one file in `kinds/` and one line in the table
//! at the end of this file.

use engine::Stream;
use units::{Params, choice};

use crate::effect::{Effect, Impair, Kind, Passage};

/// Define the modules of the kinds of impairments, an enum of their parameters, and an enum of
/// their states. Calls through the enum are compiled to a branch instead of a call through a
/// pointer.
macro_rules! impairments {
    ($($file:ident::$Kind:ident,)+) => {
        $(pub mod $file;)+

        choice! {
            /// An impairment of a wire.
            pub enum Impairment { $($Kind($file::$Kind),)+ }
        }

        impl Impairment {
            /// Return the name of the kind.
            pub fn name(&self) -> &'static str {
                match self { $(Impairment::$Kind(_) => <$file::$Kind as Params>::KEY,)+ }
            }

            /// Return true if the impairment can duplicate packets.
            pub fn duplicates(&self) -> bool {
                match self { $(Impairment::$Kind(_) => <$file::$Kind as Kind>::DUPLICATES,)+ }
            }
        }

        /// State of an impairment on a wire.
        #[derive(Clone, Debug)]
        pub(crate) enum State { $($Kind(<$file::$Kind as Kind>::State),)+ }

        impl State {
            /// Return the state of the impairment before its first packet.
            pub(crate) fn new(impairment: &Impairment, random: Stream) -> Self {
                match impairment { $(Impairment::$Kind(kind) => State::$Kind(kind.start(random)),)+ }
            }
        }

        impl Impair for State {
            fn act(&mut self, packet: &Passage) -> Effect {
                match self { $(State::$Kind(state) => state.act(packet),)+ }
            }
        }
    };
}

impairments! {
    loss::Loss,
    periodic_loss::PeriodicLoss,
    listed_loss::ListedLoss,
    gilbert_elliott::GilbertElliott,
    bit_errors::BitErrors,
    corruption::Corruption,
    duplication::Duplication,
    reordering::Reordering,
    jitter::Jitter,
    delay_spikes::DelaySpikes,
    outage::Outage,
}
