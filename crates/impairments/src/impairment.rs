//! The table of impairments: how a scenario names them.

use units::choice;

use crate::bit_errors::BitErrors;
use crate::corruption::Corruption;
use crate::delay_spikes::DelaySpikes;
use crate::duplication::Duplication;
use crate::gilbert_elliott::GilbertElliott;
use crate::jitter::Jitter;
use crate::listed_loss::ListedLoss;
use crate::loss::Loss;
use crate::outage::Outage;
use crate::periodic_loss::PeriodicLoss;
use crate::reordering::Reordering;

choice! {
    /// What a wire does to packets.
    pub enum Impairment {
        Loss(Loss),
        PeriodicLoss(PeriodicLoss),
        ListedLoss(ListedLoss),
        GilbertElliott(GilbertElliott),
        BitErrors(BitErrors),
        Corruption(Corruption),
        Duplication(Duplication),
        Reordering(Reordering),
        Jitter(Jitter),
        DelaySpikes(DelaySpikes),
        Outage(Outage),
    }
}

impl Impairment {
    /// Its kind.
    pub fn name(&self) -> &'static str {
        use units::Params;
        match self {
            Impairment::Loss(_) => Loss::KEY,
            Impairment::PeriodicLoss(_) => PeriodicLoss::KEY,
            Impairment::ListedLoss(_) => ListedLoss::KEY,
            Impairment::GilbertElliott(_) => GilbertElliott::KEY,
            Impairment::BitErrors(_) => BitErrors::KEY,
            Impairment::Corruption(_) => Corruption::KEY,
            Impairment::Duplication(_) => Duplication::KEY,
            Impairment::Reordering(_) => Reordering::KEY,
            Impairment::Jitter(_) => Jitter::KEY,
            Impairment::DelaySpikes(_) => DelaySpikes::KEY,
            Impairment::Outage(_) => Outage::KEY,
        }
    }
}
