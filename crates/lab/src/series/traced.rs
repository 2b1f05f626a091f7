//! The flows that are traced: those of one connection that `record.traced` names, or all of these.

use net::End;
use units::Read;
use units::param::{Invalid, did_you_mean};

use super::recorder::{Held, Start};
use crate::build::Plan;
use crate::memory::List;
use crate::scenario::Scenario;

/// Refuses to trace what is not there.
pub fn check(scenario: &Scenario, plan: &Plan) -> Result<(), Invalid> {
    let traced = &scenario.record.traced;
    if traced.is_empty() {
        return Ok(());
    }
    let single = (0..plan.flows()).filter(|&f| plan.arrivals(f).is_none());
    let names: Vec<String> = single.map(|f| plan.name(f)).collect();
    for (i, name) in traced.iter().enumerate() {
        if !names.contains(name) {
            let shown: Vec<&str> = names.iter().map(String::as_str).take(30).collect();
            let problem = "is no flow of one connection";
            return Err(Invalid::new(&format!("record.traced.{i}"), &name.write(), problem)
                .remedy(did_you_mean(name, &shown)));
        }
    }
    Ok(())
}

/// The rows of the flows that are traced, and how far each flow has come.
#[derive(Debug)]
pub struct Traced<Progress, Row> {
    /// By slot; none: not traced.
    progress: Vec<Option<Progress>>,
    rows: List<Row>,
}

impl<Progress: Clone + Default, Row> Traced<Progress, Row> {
    /// None yet.
    pub fn begin(start: &Start) -> Self {
        let names = &start.scenario.record.traced;
        let traced = |&f: &u32| names.is_empty() || names.contains(&start.plan.name(f as usize));
        let progress = start.lasting.iter().map(|f| traced(f).then(Progress::default)).collect();
        Traced { progress, rows: List::default() }
    }

    /// How far an end has come, and its rows; none: it is not traced.
    pub fn of(&mut self, end: End) -> Option<(&mut Progress, &mut List<Row>)> {
        let progress = self.progress.get_mut(end.connection() as usize)?.as_mut()?;
        end.is_sender().then_some((progress, &mut self.rows))
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How many there are.
    pub fn held(&self) -> Held {
        Held::from(&self.rows)
    }
}
