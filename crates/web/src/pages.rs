//! Table of the web pages to which the requests of a run belong.

use lab::{Column, Outcome, Scenario, Table};
use serde_json::Value;
use units::Time;

/// Return the page of each request of web users, or `None` if the run has no table of requests or
/// no web traffic.
///
/// A row is a request that a user sends on a network without delay until the end of the run. A run
/// has the same pages, but its users may send fewer requests in the same time. The columns are the
/// name of the `[[flows]]` table, the flow, the number of the connection as in the table
/// `requests`, and the number of the page. The rows of a connection are in the order of its
/// requests.
pub fn table(scenario: &Scenario, outcome: &Outcome) -> Option<Table> {
    outcome.tables.iter().find(|table| table.name == "requests")?;
    let written = lab::write(scenario);
    let tables = written["flows"].as_array()?;
    let web: Vec<usize> = (0..tables.len()).filter(|&i| tables[i]["traffic"]["kind"] == "web").collect();
    if web.is_empty() {
        return None;
    }
    let flows = lab::expanded(scenario).ok()?["flows"].take();
    let sampled = lab::sample::requests(scenario, outcome.end.since(Time::ZERO), None).ok()?;
    let [mut of_tables, mut of_flows] = [(); 2].map(|()| Vec::new());
    let [mut connections, mut pages] = [(); 2].map(|()| Vec::new());
    for (table, (name, requests)) in web.into_iter().zip(sampled) {
        let users: Vec<&Value> = flows.as_array()?.iter().filter(|flow| flow["table"] == table).collect();
        for request in requests {
            of_tables.push(name.clone());
            of_flows.push(users.get(request.user as usize)?["name"].as_str()?.to_owned());
            connections.push(u64::from(request.number));
            pages.push(u64::from(request.page));
        }
    }
    let columns = vec![
        ("table", lab::names_of(of_tables.into_iter())),
        ("flow", lab::names_of(of_flows.into_iter())),
        ("connection", Column::Count(connections)),
        ("page", Column::Count(pages)),
    ];
    Some(Table { name: "pages", columns })
}
