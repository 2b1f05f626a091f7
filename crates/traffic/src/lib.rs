//! What applications do with a connection, when connections come, and packets without one.

pub mod application;
mod arrivals;
mod bulk;
mod conversation;
pub mod datagrams;
pub mod distribution;
mod draws;
mod messages;
pub mod opener;
mod ping;
mod request_response;
mod requests;
pub mod sample;
mod side;
mod spacing;
mod web;
mod web_presets;

pub use application::Application;
pub use arrivals::{After, Arrivals};
pub use datagrams::Emitter;
pub use distribution::{Count, Size, Times};
pub use draws::{Draws, Lots};
pub use opener::Opener;
pub use spacing::Spacing;

use engine::Stream;

use datagrams::{Cbr, OnOff, Poisson, Replay, Voip};
use units::{Params, choice};

/// Defines the traffic of flows: the applications of connections, and what is sent without one.
macro_rules! traffic {
    (applications { $($A:ident($Application:ty),)+ } datagrams { $($D:ident($Datagrams:ty),)+ }) => {
        choice! {
            /// The traffic of a flow.
            pub enum Traffic {
                $($A($Application),)+
                $($D($Datagrams),)+
            }
        }

        impl Traffic {
            /// The key of its kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Traffic::$A(_) => <$Application>::KEY,)+
                    $(Traffic::$D(_) => <$Datagrams>::KEY,)+
                }
            }

            /// What it does with a connection; `None`: it is packets that nobody answers, with no connection.
            pub fn application(&self) -> Option<&dyn Application> {
                match self {
                    $(Traffic::$A(application) => Some(application),)+
                    $(Traffic::$D(_) => None,)+
                }
            }

            /// What sends its packets, if nobody answers them; `random` gives their randomness.
            pub fn emitter(&self, random: Stream) -> Option<Emitter> {
                match self {
                    $(Traffic::$A(_) => None,)+
                    $(Traffic::$D(datagrams) => Some(Emitter::new(datagrams, random)),)+
                }
            }
        }
    };
}

traffic! {
    applications {
        Bulk(bulk::Bulk),
        Messages(messages::Messages),
        Ping(ping::Ping),
        RequestResponse(request_response::RequestResponse),
        Requests(requests::Requests),
        Web(web::Web),
    }
    datagrams {
        Cbr(Cbr),
        Voip(Voip),
        Poisson(Poisson),
        OnOff(OnOff),
        Replay(Replay),
    }
}

/// Writes out the preset that a document of traffic names, under what it says itself.
pub fn expand(document: &mut units::param::Json) {
    if document.get("kind").and_then(|kind| kind.as_str()) == Some(<web::Web as Params>::KEY) {
        web_presets::expand(document);
    }
}

impl Traffic {
    /// Whether it is packets that nobody answers, with no connection.
    pub fn is_datagrams(&self) -> bool {
        self.application().is_none()
    }

    /// Return the size of a bulk transfer in bytes; `None` for data without end and for other traffic.
    pub fn bulk_bytes(&self, lots: Lots) -> Option<u64> {
        match self {
            Traffic::Bulk(bulk) => bulk.bytes(lots),
            _ => None,
        }
    }
}
