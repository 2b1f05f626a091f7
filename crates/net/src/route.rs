//! Shortest routes over a graph of one-way links.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};

/// One-way link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Node at which the link begins.
    pub from: usize,
    /// Node at which the link ends.
    pub to: usize,
    /// Cost that the link adds to a route, at least 1.
    pub cost: u64,
}

/// Routes of a graph. The path between each pair of inner nodes is computed once and stored. If a
/// host has only one outgoing link, the first step of its routes is fixed. If a host has only one
/// incoming link, the last step of the routes to this host is fixed. A hundred thousand hosts at
/// two routers therefore need only one computed path.
#[derive(Debug)]
pub struct Routes<'a> {
    edges: &'a [Edge],
    out: Vec<Vec<usize>>,
    into: Vec<Vec<usize>>,
    found: HashMap<(usize, usize), Option<Vec<usize>>>,
}

impl<'a> Routes<'a> {
    /// Create the graph with the nodes `0..nodes` and the given edges.
    pub fn new(nodes: usize, edges: &'a [Edge]) -> Self {
        let mut routes = Routes {
            edges,
            out: vec![Vec::new(); nodes],
            into: vec![Vec::new(); nodes],
            found: HashMap::new(),
        };
        for (i, e) in edges.iter().enumerate() {
            routes.out[e.from].push(i);
            routes.into[e.to].push(i);
        }
        routes
    }

    /// Return the sequence of edges with the minimum cost from one node to another, or `None` if no
    /// route exists.
    pub fn path(&mut self, from: usize, to: usize) -> Option<Vec<usize>> {
        let (mut a, mut b) = (from, to);
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        // If the first node has only one outgoing link, or the last node only one incoming link,
        // the route must use this link.
        if let [only] = self.out[a][..]
            && a != b
        {
            head.push(only);
            a = self.edges[only].to;
        }
        if let [only] = self.into[b][..]
            && a != b
        {
            tail.push(only);
            b = self.edges[only].from;
        }
        let inner = match self.found.entry((a, b)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(shortest_path(&self.out, self.edges, a, b)),
        };
        inner.as_ref().map(|inner| [&head[..], inner, &tail].concat())
    }
}

/// Return a path with the minimum cost (Dijkstra 1959). If two paths have equal cost, the indices
/// of their edges decide, so routes do not depend on the machine.
fn shortest_path(out: &[Vec<usize>], edges: &[Edge], from: usize, to: usize) -> Option<Vec<usize>> {
    let mut best: Vec<Option<(u64, Option<usize>)>> = vec![None; out.len()];
    best[from] = Some((0, None));
    let mut frontier = BinaryHeap::from([Reverse((0u64, from))]);
    while let Some(Reverse((cost, node))) = frontier.pop() {
        if best[node].is_some_and(|(b, _)| cost > b) {
            continue;
        }
        for &i in &out[node] {
            let next = cost + edges[i].cost;
            if best[edges[i].to].is_none_or(|(b, _)| next < b) {
                best[edges[i].to] = Some((next, Some(i)));
                frontier.push(Reverse((next, edges[i].to)));
            }
        }
    }
    let mut path = Vec::new();
    let mut node = to;
    while let (_, Some(i)) = best[node]? {
        path.push(i);
        node = edges[i].from;
    }
    path.reverse();
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edge(from: usize, to: usize, cost: u64) -> Edge {
        Edge { from, to, cost }
    }

    fn path(nodes: usize, edges: &[Edge], from: usize, to: usize) -> Option<Vec<usize>> {
        Routes::new(nodes, edges).path(from, to)
    }

    #[test]
    fn the_cheaper_path_is_used() {
        let edges = [edge(0, 1, 1), edge(1, 2, 1), edge(0, 2, 5), edge(2, 3, 1)];
        assert_eq!(path(4, &edges, 0, 3), Some(vec![0, 1, 3]));
    }

    #[test]
    fn equal_paths_are_chosen_by_edge_index() {
        let edges = [edge(0, 1, 1), edge(0, 2, 1), edge(2, 3, 1), edge(1, 3, 1)];
        assert_eq!(path(4, &edges, 0, 3), Some(vec![0, 3]));
    }

    #[test]
    fn links_are_one_way() {
        assert_eq!(path(2, &[edge(0, 1, 1)], 1, 0), None);
        assert_eq!(path(2, &[edge(0, 1, 1)], 0, 0), Some(vec![]));
    }

    proptest! {
        /// A route with fixed first and last steps exists if and only if an unrestricted route
        /// exists, and both have the same cost.
        #[test]
        fn fixed_steps_preserve_the_cost(
            list in prop::collection::vec((0usize..7, 0usize..7, 1u64..4), 1..14), from in 0usize..7, to in 0usize..7,
        ) {
            let edges: Vec<Edge> = list.into_iter().filter(|e| e.0 != e.1).map(|(a, b, c)| edge(a, b, c)).collect();
            let mut routes = Routes::new(7, &edges);
            let plain = shortest_path(&routes.out, &edges, from, to);
            let cost = |p: &Vec<usize>| p.iter().map(|&i| edges[i].cost).sum::<u64>();
            let found = routes.path(from, to);
            prop_assert_eq!(found.as_ref().map(cost), plain.as_ref().map(cost));
            if let Some(p) = found {
                prop_assert!(p.windows(2).all(|w| edges[w[0]].to == edges[w[1]].from));
            }
        }
    }
}
