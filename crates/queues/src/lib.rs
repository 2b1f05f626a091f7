//! AQM algorithms and queue disciplines, one file each.
//!
//! The guide docs/how-to/add-a-queue.md shows how to add a queue. The modules [`average`],
//! [`spacing`] and [`lazy`] contain parts that several AQMs use. The queue disciplines [`fifo`] and
//! [`storing`] carry out the decisions of an AQM.

pub mod adaptive_red;
mod aqm;
pub mod average;
pub mod avq;
pub mod blue;
pub mod choke;
pub mod cobalt;
pub mod codel;
mod custom;
pub mod diffserv;
mod discipline;
pub mod drop_tail;
pub mod dualpi2;
pub mod external;
pub mod fifo;
pub mod flow_queues;
pub mod fq_codel;
pub mod fq_pie;
pub mod fred;
mod hash;
pub mod lazy;
pub mod nonlinear_red;
pub mod pi;
pub mod pi2;
pub mod pie;
pub mod pie_enhanced;
pub mod red;
pub mod red_pd;
pub mod rem;
pub mod rio;
pub mod schedulers;
pub mod self_configuring_red;
pub mod sfb;
pub mod spacing;
pub mod sred;
pub mod store;
pub mod storing;
pub mod tc_pie;
pub mod tc_red;
pub mod tc_sfb;
pub mod threshold;
pub mod wred;

pub use aqm::{AqmParams, CustomAqms, DisciplineParams, NoCustomAqms, QueueContext};
pub use custom::Custom;
pub use discipline::{ArrivalQueue, Discipline, Kind, Queue, StoringQueue};
