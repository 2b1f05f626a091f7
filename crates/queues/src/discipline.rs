//! Table of the kinds of queues: their names in a scenario, and how each is built.

mod queue;

use engine::Stream;
use net::{Answer, Aqm, Arrival, Backlog, Fates, LinkQueue, Next, Packet, QueueDiscipline, QueuedPacket};
use units::{Depth, Params, Rate, Room, Time, choice};

use crate::adaptive_red::AdaptiveRed;
use crate::avq::Avq;
use crate::blue::Blue;
use crate::choke::Choke;
use crate::cobalt::Cobalt;
use crate::codel::Codel;
use crate::custom::{Custom, CustomLaw};
use crate::diffserv::Flows;
use crate::diffserv::phb::Phb;
use crate::drop_tail::{DropTail, NoLaw};
use crate::dualpi2::DualPi2;
use crate::fifo::{DropFrom, HUNDRED_PACKETS, MarkAt, Shell};
use crate::fq_codel::FqCodel;
use crate::fq_pie::FqPie;
use crate::fred::Fred;
use crate::holding::HoldingShell;
use crate::law::{Configures, Keeps, Laws, Place};
use crate::nonlinear_red::NonlinearRed;
use crate::pi::Pi;
use crate::pi2::Pi2;
use crate::pie::Pie;
use crate::pie_enhanced::PieEnhanced;
use crate::red::Red;
use crate::red_pd::RedPd;
use crate::rem::Rem;
use crate::rio::Rio;
use crate::schedulers::cbq::Cbq;
use crate::schedulers::drr::Drr;
use crate::schedulers::htb::Htb;
use crate::schedulers::mdrr::Mdrr;
use crate::schedulers::priority::Priority;
use crate::schedulers::scfq::Scfq;
use crate::schedulers::sfq::Sfq;
use crate::schedulers::tbf::Tbf;
use crate::schedulers::wfq::Wfq;
use crate::schedulers::wrr::Wrr;
use crate::schedulers::{Child, Classes, Schedules};
use crate::self_configuring_red::SelfConfiguringRed;
use crate::sfb::Sfb;
use crate::sred::Sred;
use crate::tc_pie::TcPie;
use crate::tc_red::TcRed;
use crate::tc_sfb::TcSfb;
use crate::threshold::Threshold;
use crate::wred::Wred;

pub use queue::Queue;

/// Table of the kinds of queues. First the AQMs that decide on arrival, then the disciplines that
/// store their packets, then the schedulers.
macro_rules! queues {
    (laws { $($Name:ident,)+ } disciplines { $($Keeper:ident,)+ } schedulers { $($Scheduler:ident,)+ }) => {
        queues! { @all [$($Name)+] [$($Keeper)+ $($Scheduler)+] }

        impl Law {
            /// Kinds that have classes with queues.
            const SCHEDULERS: &'static [&'static str] = &[$(<$Scheduler as Params>::KEY),+];

            /// Return the classes, if this is a scheduler.
            fn children(&self) -> Vec<Child<'_>> {
                match self {
                    $(Law::$Scheduler(law) => law.children(),)+
                    _ => Vec::new(),
                }
            }
        }

        impl Discipline {
            /// Return the classes, if this is a scheduler or is built from one.
            pub fn classes(&self) -> Option<&Classes> {
                match self {
                    Discipline::Keeping(queue) => queue.classes(),
                    _ => None,
                }
            }
        }

        impl Keeping {
            /// See [`Discipline::classes`].
            pub fn classes(&self) -> Option<&Classes> {
                match self {
                    $(Keeping::$Scheduler(queue) => Some(&queue.classes),)+
                    Keeping::Phb(queue) => Some(&queue.classes),
                    _ => None,
                }
            }
        }
    };
    (@all [$($Name:ident)+] [$($Keeper:ident)+]) => {
        choice! {
            /// Kind of a queue, with its parameters.
            pub enum Law {
                DropTail(DropTail),
                $($Name($Name),)+
                $($Keeper($Keeper),)+
                Custom(Custom),
            }
        }

        impl Law {
            /// Return true if only the arriving packet may be dropped when the buffer is full.
            fn counts_on_order(&self) -> bool {
                match self {
                    Law::DropTail(_) | Law::Custom(_) => false,
                    $(Law::$Name(_) => <$Name as Configures>::COUNTS_ON_ORDER,)+
                    $(Law::$Keeper(_) => true,)+
                }
            }

            /// Return the default limit of the buffer of a kind.
            fn limit_of(kind: &str) -> Room {
                match kind {
                    $(<$Name as Params>::KEY => <$Name as Configures>::LIMIT,)+
                    $(<$Keeper as Params>::KEY => <$Keeper as Keeps>::LIMIT,)+
                    _ => HUNDRED_PACKETS,
                }
            }

            /// Return true if the kind itself chooses the packets to mark.
            fn places_marks(&self) -> bool {
                match self {
                    $(Law::$Keeper(_) => true,)+
                    _ => false,
                }
            }
        }

        /// Queue of a link. It is a closed choice, so that a call is a jump instead of an indirect
        /// call.
        #[derive(Debug)]
        pub enum Discipline {
            /// Drop Tail.
            DropTail(Shell<NoLaw>),
            /// Another AQM that decides on arrival, boxed so that the many links without one stay
            /// small.
            Lawful(Box<Lawful>),
            /// Queue discipline that stores its packets until they are sent.
            Keeping(Box<Keeping>),
        }

        /// AQMs that decide on arrival, without Drop Tail.
        #[derive(Debug)]
        pub enum Lawful {
            $(
                #[doc = concat!("See [`", stringify!($Name), "`].")]
                $Name(Shell<<$Name as Configures>::Law>),
            )+
            /// See [`Custom`].
            Custom(Shell<CustomLaw>),
        }

        impl Lawful {
            #[inline(never)]
            fn admit(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> bool {
                match self {
                    $(Lawful::$Name(shell) => shell.admit_apart(packet, at, fates),)+
                    Lawful::Custom(shell) => shell.admit_apart(packet, at, fates),
                }
            }

            fn average(&self) -> Option<Depth> {
                match self {
                    $(Lawful::$Name(shell) => shell.law().average(),)+
                    Lawful::Custom(shell) => shell.law().average(),
                }
            }
        }

        /// Queue disciplines that store their packets until they are sent.
        #[derive(Debug)]
        pub enum Keeping {
            /// Drop Tail that drops or marks at another position than the tail, or below a
            /// scheduler.
            DropTail(HoldingShell<NoLaw>),
            $(
                #[doc = concat!("See [`", stringify!($Name), "`].")]
                $Name(HoldingShell<<$Name as Configures>::Law>),
            )+
            /// See [`Custom`].
            Custom(HoldingShell<CustomLaw>),
            $(
                #[doc = concat!("See [`", stringify!($Keeper), "`].")]
                $Keeper(<$Keeper as Keeps>::Discipline),
            )+
        }

        impl Queue {
            /// Build the queue of the link with this name and rate. `random` is its random stream,
            /// `laws` supplies the AQMs that this crate does not contain, and `flows` are the flows
            /// of the scenario.
            pub fn build(
                &self,
                name: &str,
                rate: Rate,
                random: Stream,
                laws: &dyn Laws,
                flows: &dyn Flows,
            ) -> Discipline {
                let keeps = self.buffer.drop_from != DropFrom::Tail || self.buffer.mark_at != MarkAt::Tail;
                let depth = self.buffer.limit.at(rate);
                let place = Place { name, laws, flows, ..Place::new(rate, depth, random) };
                match &self.law {
                    Law::DropTail(_) if !keeps => Discipline::DropTail(Shell::new(&self.buffer, depth, NoLaw)),
                    $(
                        Law::$Name(law) if !keeps => {
                            let shell = Shell::new(&self.buffer, depth, law.law(place));
                            Discipline::Lawful(Box::new(Lawful::$Name(shell)))
                        }
                    )+
                    Law::Custom(custom) if !keeps => {
                        let law = CustomLaw(laws.law(&custom.law, name, place));
                        Discipline::Lawful(Box::new(Lawful::Custom(Shell::new(&self.buffer, depth, law))))
                    }
                    _ => Discipline::Keeping(Box::new(self.build_storing(place))),
                }
            }

            /// Build the queue discipline that stores its packets until a dequeue.
            pub(crate) fn build_storing(&self, place: Place) -> Keeping {
                let (buffer, depth) = (&self.buffer, place.limit);
                let victims = place.random.branch("victims");
                match &self.law {
                    Law::DropTail(_) => Keeping::DropTail(HoldingShell::new(buffer, depth, NoLaw, victims)),
                    $(Law::$Name(law) => Keeping::$Name(HoldingShell::new(buffer, depth, law.law(place), victims)),)+
                    Law::Custom(custom) => {
                        let law = CustomLaw(place.laws.law(&custom.law, place.name, place.clone()));
                        Keeping::Custom(HoldingShell::new(buffer, depth, law, victims))
                    }
                    $(Law::$Keeper(law) => Keeping::$Keeper(law.discipline(buffer, place)),)+
                }
            }
        }

        impl LinkQueue for Discipline {
            #[inline]
            fn offer(&mut self, packet: &mut Packet, at: &Arrival, fates: &mut Fates) -> Answer {
                let admitted = match self {
                    Discipline::DropTail(shell) => shell.admit(packet, at, fates),
                    // The copy makes only AQMs pay for an arrival in memory.
                    Discipline::Lawful(law) => law.admit(packet, &{ *at }, fates),
                    Discipline::Keeping(_) => return Answer::Enqueue,
                };
                if admitted { Answer::Admitted } else { Answer::Dropped }
            }

            fn average(&self) -> Option<Depth> {
                match self {
                    Discipline::DropTail(shell) => shell.law().average(),
                    Discipline::Lawful(law) => law.average(),
                    Discipline::Keeping(queue) => queue.average(),
                }
            }

            fn passes_below(&self) -> Option<u32> {
                match self {
                    Discipline::DropTail(shell) => shell.limit().map(|n| n.saturating_sub(1)),
                    _ => None,
                }
            }

            type Discipline = Keeping;

            #[inline]
            fn discipline(&self) -> Option<&Keeping> {
                match self {
                    Discipline::Keeping(queue) => Some(queue),
                    _ => None,
                }
            }

            fn discipline_mut(&mut self) -> Option<&mut Keeping> {
                match self {
                    Discipline::Keeping(queue) => Some(queue),
                    _ => None,
                }
            }
        }

        impl QueueDiscipline for Keeping {
            fn enqueue(&mut self, held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
                match self {
                    Keeping::DropTail(queue) => queue.enqueue(held, at, fates),
                    Keeping::Custom(queue) => queue.enqueue(held, at, fates),
                    $(Keeping::$Name(queue) => queue.enqueue(held, at, fates),)+
                    $(Keeping::$Keeper(queue) => queue.enqueue(held, at, fates),)+
                }
            }

            fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Next {
                match self {
                    Keeping::DropTail(queue) => queue.dequeue(now, fates),
                    Keeping::Custom(queue) => queue.dequeue(now, fates),
                    $(Keeping::$Name(queue) => queue.dequeue(now, fates),)+
                    $(Keeping::$Keeper(queue) => queue.dequeue(now, fates),)+
                }
            }

            fn backlog(&self) -> Backlog {
                match self {
                    Keeping::DropTail(queue) => queue.backlog(),
                    Keeping::Custom(queue) => queue.backlog(),
                    $(Keeping::$Name(queue) => queue.backlog(),)+
                    $(Keeping::$Keeper(queue) => queue.backlog(),)+
                }
            }

            fn next_size(&self) -> u64 {
                match self {
                    Keeping::DropTail(queue) => queue.next_size(),
                    Keeping::Custom(queue) => queue.next_size(),
                    $(Keeping::$Name(queue) => queue.next_size(),)+
                    $(Keeping::$Keeper(queue) => queue.next_size(),)+
                }
            }

            fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
                match self {
                    Keeping::DropTail(queue) => queue.each(see),
                    Keeping::Custom(queue) => queue.each(see),
                    $(Keeping::$Name(queue) => queue.each(see),)+
                    $(Keeping::$Keeper(queue) => queue.each(see),)+
                }
            }

            fn average(&self) -> Option<Depth> {
                if let Some(classes) = self.classes() {
                    return classes.average();
                }
                match self {
                    Keeping::DropTail(queue) => queue.average(),
                    Keeping::Custom(queue) => queue.average(),
                    $(Keeping::$Name(queue) => queue.average(),)+
                    $(Keeping::$Keeper(queue) => queue.average(),)+
                }
            }
        }
    };
}

queues! {
    laws {
        Red,
        TcRed,
        AdaptiveRed,
        SelfConfiguringRed,
        NonlinearRed,
        RedPd,
        Wred,
        Rio,
        Fred,
        Sred,
        Threshold,
        Blue,
        Sfb,
        TcSfb,
        Rem,
        Pi,
        Avq,
        Pie,
        PieEnhanced,
        TcPie,
        Pi2,
    }
    disciplines {
        Choke,
        Codel,
        FqCodel,
        Cobalt,
        FqPie,
        DualPi2,
        Phb,
        Sfq,
    }
    schedulers {
        Priority,
        Wrr,
        Drr,
        Mdrr,
        Wfq,
        Scfq,
        Tbf,
        Htb,
        Cbq,
    }
}
