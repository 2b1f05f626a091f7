//! Traffic: applications that use connections, the times at which connections open, and datagrams.

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
pub use draws::{DrawStreams, RandomDraws};
pub use opener::Opener;
pub use spacing::Spacing;

use engine::Stream;

use datagrams::{Cbr, OnOff, Poisson, Replay, Voip};
use units::{Params, choice};

/// Define the kinds of traffic, which are either applications that use connections or datagrams
/// without connections.
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
            /// Return the key that a scenario uses for the kind of traffic.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Traffic::$A(_) => <$Application>::KEY,)+
                    $(Traffic::$D(_) => <$Datagrams>::KEY,)+
                }
            }

            /// Return the application of the traffic, or `None` if the traffic consists of
            /// datagrams.
            pub fn application(&self) -> Option<&dyn Application> {
                match self {
                    $(Traffic::$A(application) => Some(application),)+
                    $(Traffic::$D(_) => None,)+
                }
            }

            /// Return the sender of the datagrams, or `None` if the traffic is an application. The
            /// argument `random` is the stream of random numbers for the sender.
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

/// If a document of web traffic names a preset, add the keys of this preset to the document. Keys
/// that the document already contains do not change.
pub fn expand(document: &mut units::param::Json) {
    if document.get("kind").and_then(|kind| kind.as_str()) == Some(<web::Web as Params>::KEY) {
        web_presets::expand(document);
    }
}

impl Traffic {
    /// Return true if the traffic consists of datagrams, which do not use connections.
    pub fn is_datagrams(&self) -> bool {
        self.application().is_none()
    }

    /// Return the size of a bulk transfer in bytes, or `None` for unlimited data and for other
    /// traffic.
    pub fn bulk_bytes(&self, draws: RandomDraws) -> Option<u64> {
        match self {
            Traffic::Bulk(bulk) => bulk.bytes(draws),
            _ => None,
        }
    }
}
