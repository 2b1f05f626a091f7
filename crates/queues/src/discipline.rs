//! The table of disciplines: how a scenario names them and how they are built.

use engine::Stream;
use net::{Aqm, Arrival, Fates, Fifo, Packet};
use units::param::{Invalid, Json, JsonMap, object, page};
use units::{Params, Rate, Read, choice};

use crate::adaptive_red::AdaptiveRed;
use crate::avq::Avq;
use crate::blue::Blue;
use crate::drop_tail::{DropTail, NoLaw};
use crate::fifo::{Buffer, Shell};
use crate::fred::Fred;
use crate::law::{Configures, Place};
use crate::nonlinear_red::NonlinearRed;
use crate::pi::Pi;
use crate::pi2::Pi2;
use crate::pie::Pie;
use crate::red::Red;
use crate::rem::Rem;
use crate::rio::Rio;
use crate::self_configuring_red::SelfConfiguringRed;
use crate::sfb::Sfb;
use crate::sred::Sred;
use crate::tc_red::TcRed;
use crate::threshold::Threshold;
use crate::wred::Wred;

/// The table of laws: what a scenario can name and a link can hold.
macro_rules! laws {
    ($($Name:ident,)+) => {
        choice! {
            /// The law of a queue.
            pub enum Law {
                DropTail(DropTail),
                $($Name($Name),)+
            }
        }

        /// Every queue a link can hold: a closed choice, so that a call is a jump and not a pointer.
        #[derive(Debug)]
        pub enum Discipline {
            /// Drop Tail.
            DropTail(Shell<NoLaw>),
            $(
                #[doc = concat!("See [`", stringify!($Name), "`]; boxed, so that the many links without it stay small.")]
                $Name(Box<Shell<<$Name as Configures>::Law>>),
            )+
        }

        impl Queue {
            /// The discipline on a link of this rate; `random` gives its randomness.
            pub fn build(&self, rate: Rate, random: Stream) -> Discipline {
                match &self.law {
                    Law::DropTail(_) => Discipline::DropTail(Shell::new(&self.buffer, NoLaw)),
                    $(Law::$Name(law) => {
                        let law = law.law(Place { rate, limit: self.buffer.limit, random });
                        Discipline::$Name(Box::new(Shell::new(&self.buffer, law)))
                    })+
                }
            }
        }

        impl Fifo for Discipline {
            #[inline]
            fn admit(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> bool {
                match self {
                    Discipline::DropTail(shell) => shell.admit(packet, at, fates),
                    $(Discipline::$Name(shell) => shell.admit(packet, at, fates),)+
                }
            }

            fn average(&self) -> Option<f64> {
                match self {
                    Discipline::DropTail(shell) => shell.law().average(),
                    $(Discipline::$Name(shell) => shell.law().average(),)+
                }
            }

            fn passes_below(&self) -> Option<u32> {
                match self {
                    Discipline::DropTail(shell) => shell.limit().map(|n| n.saturating_sub(1)),
                    _ => None,
                }
            }
        }
    };
}

laws! {
    Red,
    TcRed,
    AdaptiveRed,
    SelfConfiguringRed,
    NonlinearRed,
    Wred,
    Rio,
    Fred,
    Sred,
    Threshold,
    Blue,
    Sfb,
    Rem,
    Pi,
    Avq,
    Pie,
    Pi2,
}

/// A queue of a scenario: a buffer under a law, written as one table
/// (`{ kind = "red", limit = "64 packets", minth = "20 packets" }`).
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// The limits of the buffer.
    pub buffer: Buffer,
    /// The law.
    pub law: Law,
}

impl Queue {
    /// The manual page of each kind of queue: its law's parameters, then those of the buffer.
    pub fn pages() -> Vec<Json> {
        let buffer = page::<Buffer>();
        let mut pages = Law::pages();
        for page in &mut pages {
            if let (Some(all), Some(more)) =
                (page["parameters"].as_array_mut(), buffer["parameters"].as_array())
            {
                all.extend(more.iter().cloned());
            }
        }
        pages
    }
}

fn is_buffer_key(key: &str) -> bool {
    Buffer::params().iter().any(|p| p.name == key)
}

impl Read for Queue {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        if value.is_string() {
            return Ok(Queue {
                buffer: Buffer::read(&Json::Object(JsonMap::new()), path)?,
                law: Law::read(value, path)?,
            });
        }
        let (buffer, law): (JsonMap, JsonMap) =
            object(value, path)?.clone().into_iter().partition(|(key, _)| is_buffer_key(key));
        let queue = Queue {
            law: Law::read(&Json::Object(law), path)?,
            buffer: Buffer::read(&Json::Object(buffer), path)?,
        };
        Ok(queue)
    }

    fn write(&self) -> Json {
        let mut all = JsonMap::new();
        for part in [self.law.write(), self.buffer.write()] {
            if let Json::Object(map) = part {
                all.extend(map);
            }
        }
        Json::Object(all)
    }

    fn schema() -> Json {
        let mut schema = Law::schema();
        let buffer = Buffer::schema();
        fn add(node: &mut Json, buffer: &Json) {
            if let Some(properties) = node.get_mut("properties").and_then(Json::as_object_mut) {
                properties.extend(buffer["properties"].as_object().cloned().unwrap_or_default());
            }
            for option in node.get_mut("anyOf").and_then(Json::as_array_mut).into_iter().flatten() {
                add(option, buffer);
            }
        }
        add(&mut schema, &buffer);
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_queue_is_one_table() {
        let q = Queue::read(
            &json!({"kind": "red", "limit": "64 packets", "minth": "20 packets", "maxth": "60 packets"}),
            "q",
        )
        .unwrap();
        assert_eq!(Queue::read(&q.write(), "q").unwrap(), q);
        assert_eq!(q.buffer.limit, units::Depth::Packets(64.0));
        assert!(Queue::read(&json!("drop_tail"), "q").is_ok());
    }

    #[test]
    fn refusals_name_the_key() {
        let e = |v| Queue::read(&v, "link.queue").unwrap_err().to_string();
        assert!(e(json!({"kind": "red", "mintth": "5 packets"})).contains("link.queue.mintth"));
        assert!(
            e(json!({"kind": "red", "limit": "0 packets"}))
                .contains("link.queue.limit: \"0 packets\" must be a whole number")
        );
        assert!(e(json!({"kind": "drop_tail", "minth": "5 packets"})).contains("link.queue.minth"));
        assert!(e(json!({"limit": "5 packets"})).contains("link.queue.kind: is missing"));
    }
}
