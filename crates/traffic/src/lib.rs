//! Traffic: applications on connections, the times at which connections open, and datagrams.

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

/// Define the kinds of traffic: applications, which use connections, and datagrams, which do not.
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
            /// Return the key that names the kind of traffic in a scenario.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Traffic::$A(_) => <$Application>::KEY,)+
                    $(Traffic::$D(_) => <$Datagrams>::KEY,)+
                }
            }

            /// Return the application, or `None` if the traffic consists of datagrams.
            pub fn application(&self) -> Option<&dyn Application> {
                match self {
                    $(Traffic::$A(application) => Some(application),)+
                    $(Traffic::$D(_) => None,)+
                }
            }

            /// Return the sender of datagrams, or `None` if the traffic is an application. `random`
            /// supplies its random numbers.
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

/// Add the keys of the web preset that a traffic document names. Keys that the document contains
/// stay unchanged.
pub fn expand(document: &mut units::param::Json) {
    if document.get("kind").and_then(|kind| kind.as_str()) == Some(<web::Web as Params>::KEY) {
        web_presets::expand(document);
    }
}

impl Traffic {
    /// Return true if the traffic consists of datagrams and so has no connection.
    pub fn is_datagrams(&self) -> bool {
        self.application().is_none()
    }

    /// Return the size of a bulk transfer in bytes, or `None` for endless data and other traffic.
    pub fn bulk_bytes(&self, draws: RandomDraws) -> Option<u64> {
        match self {
            Traffic::Bulk(bulk) => bulk.bytes(draws),
            _ => None,
        }
    }
}
