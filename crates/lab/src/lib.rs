//! Simulation laboratory, from a scenario to its results. The steps are: read and validate a
//! scenario document, build a network from the scenario, simulate the network in a run, and return
//! the tables of the run. Each step receives only the complete result of the previous step.

mod app_states;
mod arriving_flows;
mod baseline;
mod build;
mod capture;
mod check;
mod columns;
mod computing_time;
mod connections;
mod datagrams;
mod endpoints;
mod exchanges;
mod failure;
mod flow_index;
mod histogram;
mod lanes;
mod limits;
mod memory;
mod network;
mod observed_packet;
mod packet_records;
mod read;
mod real_ends;
mod real_packets;
mod record;
pub mod resolved;
mod run;
pub mod sample;
pub mod scenario;
mod sender_state;
mod senders;
mod series;
mod slot;
mod tables;
mod template;
mod totals;
mod warnings;

pub use build::expanded;
pub use capture::{CaptureTarget, file_name as capture_file_name};
pub use computing_time::ComputingTime;
pub use failure::Failure;
pub use limits::Limits;
pub use read::{Format, document, read, read_all, read_file_text};
pub use real_ends::KernelState;
pub use record::{Column, Outcome, Table, Warning, names_of};
pub use run::panics::{catch_panic, describe, run_catching_panics};
pub use run::{Departure, Forwarding, Happening, Report, Watch, forward, run, run_with};
pub use scenario::{CapturedPart, FORMAT, Scenario};
pub use series::is_column_of_why;

use units::Read;
use units::param::{Invalid, Json, page};

/// Return a scenario as JSON, with the value of every default.
pub fn write(scenario: &Scenario) -> Json {
    scenario.write()
}

/// Return the names of the flows whose data crosses at least one of the given links, for each
/// direction of data and each `[[flows]]` table. A link is named in the form from>to. The first
/// list describes the data from the host `from`, and the second list describes the data from the
/// host `to`.
pub fn crossing(scenario: &Scenario, links: &[String]) -> Result<[Vec<Vec<String>>; 2], Invalid> {
    build::plan(scenario).map(|plan| net::Direction::BOTH.map(|direction| plan.crossing(direction, links)))
}

/// Return the JSON Schema of a scenario.
pub fn schema() -> Json {
    let mut schema = Scenario::schema();
    schema["$schema"] = Json::from("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = Json::from("aqmlab scenario");
    type Changes = scenario::Changes<tcp::Tcp>;
    schema["$defs"] =
        serde_json::json!({ "queue": queues::Queue::definition(), Changes::name(): Changes::definition() });
    for (name, definition) in traffic::distribution::definitions() {
        schema["$defs"][name] = definition;
    }
    schema
}

/// Return the manual pages of all keys, queues, impairments, kinds of traffic and distributions of
/// a scenario.
pub fn pages() -> Json {
    use scenario::{Dumbbell, EvenSpread, Flow, Graph, Link, Pcap, PhaseBreaking, Record, Reverse};
    let mut traffic = traffic::Traffic::pages();
    traffic.push(page::<traffic::Arrivals>());
    serde_json::json!({
        "scenario": [page::<Scenario>(), page::<Flow>(), page::<PhaseBreaking>(), page::<Record>(), page::<Pcap>()],
        "network": [page::<Dumbbell>(), page::<EvenSpread>(), page::<Graph>(), page::<Link>(), page::<Reverse>()],
        "diffserv": queues::diffserv::pages(),
        "queues": queues::Queue::pages(),
        "classes": queues::schedulers::pages(),
        "impairments": impairments::pages(),
        "tcp": tcp::pages(),
        "traffic": traffic,
        "distributions": traffic::distribution::pages(),
    })
}

/// Return the description of each table that a run returns, and the name, unit and meaning of each
/// of its columns.
pub fn columns() -> Json {
    tables::definitions()
}

/// Read the limits of a run from JSON.
pub fn limits(text: &str) -> Result<Limits, Invalid> {
    Limits::read(&read_file_text(text, Format::Json)?, "limits")
}

/// Version of the package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
