//! Routes: shortest paths over a graph of one-way links.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A one-way link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Node it leaves.
    pub from: usize,
    /// Node it enters.
    pub to: usize,
    /// Cost of taking it, at least 1.
    pub cost: u64,
}

/// The cheapest sequence of edges (indices into `edges`) from one node to another; among equals the
/// one found first by edge index, so that routes do not depend on the machine. `None`: unreachable.
/// (Dijkstra 1959.)
pub fn shortest_path(nodes: usize, edges: &[Edge], from: usize, to: usize) -> Option<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (i, e) in edges.iter().enumerate() {
        out[e.from].push(i);
    }
    let mut best: Vec<Option<(u64, Option<usize>)>> = vec![None; nodes];
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

    fn edge(from: usize, to: usize, cost: u64) -> Edge {
        Edge { from, to, cost }
    }

    #[test]
    fn the_cheaper_way_round() {
        let edges = [edge(0, 1, 1), edge(1, 2, 1), edge(0, 2, 5), edge(2, 3, 1)];
        assert_eq!(shortest_path(4, &edges, 0, 3), Some(vec![0, 1, 3]));
    }

    #[test]
    fn equal_ways_are_settled_by_index() {
        let edges = [edge(0, 1, 1), edge(0, 2, 1), edge(2, 3, 1), edge(1, 3, 1)];
        assert_eq!(shortest_path(4, &edges, 0, 3), Some(vec![0, 3]));
    }

    #[test]
    fn links_are_one_way() {
        assert_eq!(shortest_path(2, &[edge(0, 1, 1)], 1, 0), None);
        assert_eq!(shortest_path(2, &[edge(0, 1, 1)], 0, 0), Some(vec![]));
    }
}
