//! Routes between the nodes of a network. A route is computed when a flow needs it.

use std::collections::HashMap;

use net::Edge;
use units::param::{Invalid, Json, did_you_mean};

use super::links::LinkPlan;

/// Return the error about an unknown node. The error suggests the most similar name.
fn unknown_node(path: &str, name: &str, nodes: &[String]) -> Invalid {
    let mut known: Vec<&str> = nodes.iter().map(String::as_str).take(30).collect();
    known.sort_unstable();
    Invalid::new(path, &Json::from(name), "is not a node of the network").remedy(did_you_mean(name, &known))
}

/// Nodes of a network, and the links between them.
pub(super) struct Nodes {
    names: Vec<String>,
    index: HashMap<String, usize>,
    edges: Vec<Edge>,
}

impl Nodes {
    /// Return all nodes that the keys `from` and `to` of the links name.
    pub(super) fn new(links: &[LinkPlan]) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut index: HashMap<String, usize> = HashMap::new();
        let mut node = |name: &str| {
            *index.entry(name.to_string()).or_insert_with(|| {
                names.push(name.to_string());
                names.len() - 1
            })
        };
        let edges =
            links.iter().map(|l| Edge { from: node(&l.from), to: node(&l.to), cost: l.cost }).collect();
        Nodes { names, index, edges }
    }

    /// Return the index of the node with the name `name`. The error for an unknown node contains
    /// `path`, the position of the node name in the scenario.
    pub(super) fn find(&self, path: &str, name: &str) -> Result<usize, Invalid> {
        self.index.get(name).copied().ok_or_else(|| unknown_node(path, name, &self.names))
    }
}

/// Routes computed so far.
pub(super) struct Routes<'a> {
    nodes: &'a Nodes,
    paths: net::Routes<'a>,
    known: HashMap<(usize, usize), u32>,
    /// Routes, each as a sequence of links.
    pub(super) routes: Vec<Vec<usize>>,
}

impl<'a> Routes<'a> {
    /// Return an empty set of routes.
    pub(super) fn new(nodes: &'a Nodes) -> Self {
        let paths = net::Routes::new(nodes.names.len(), &nodes.edges);
        Routes { nodes, paths, known: HashMap::new(), routes: Vec::new() }
    }

    /// Return the index of the route from the node `from` to the node `to`.
    pub(super) fn find(&mut self, path: &str, from: usize, to: usize) -> Result<u32, Invalid> {
        if let Some(&route) = self.known.get(&(from, to)) {
            return Ok(route);
        }
        let names = &self.nodes.names;
        let links = self.paths.path(from, to).ok_or_else(|| {
            Invalid::at(path, format!("no route leads from {} to {}", names[from], names[to]))
                .remedy("add the missing links, in both directions for a TCP flow")
        })?;
        self.routes.push(links);
        let route = self.routes.len() as u32 - 1;
        self.known.insert((from, to), route);
        Ok(route)
    }
}
