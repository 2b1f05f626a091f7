//! Lanes of the event queue. Each component that causes events, such as a link or an endpoint, has
//! its own lane. A lane has at most one pending event, and simultaneous events are processed in the
//! order of their lanes. The lanes of endpoints have the largest numbers, because the number of
//! endpoints grows during the run.

use net::End;

/// Component to which a lane belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Link, with its index.
    Link(u32),
    /// Flow that opens connections during the run, with its index among such flows.
    Arrivals(usize),
    /// Wire, with its index.
    Wire(usize),
    /// Flow of datagrams, with its index among the flows of datagrams.
    Datagrams(usize),
    /// Sampler of the series.
    Sampler,
    /// Endpoint of a connection. The events of an endpoint are expiries of timers and actions of
    /// the application.
    End(End),
}

/// First lane in the event queue for each kind of component, in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    arrivals: u32,
    wires: u32,
    datagrams: u32,
    ends: u32,
}

impl Lanes {
    /// Compute the lanes of the event queue. The arguments are the numbers of links, of flows that
    /// open connections during the run, of wires, and of flows of datagrams.
    pub fn new(links: usize, arrivals: usize, wires: usize, datagrams: usize) -> Self {
        let arrivals_end = links + arrivals;
        let wires_end = arrivals_end + wires;
        let datagrams_end = wires_end + datagrams;
        Lanes {
            arrivals: links as u32,
            wires: arrivals_end as u32,
            datagrams: wires_end as u32,
            ends: datagrams_end as u32 + 1,
        }
    }

    /// Return the total number of lanes of a network with `ends` endpoints.
    pub fn count(&self, ends: usize) -> usize {
        self.ends as usize + ends
    }

    /// Return the component that uses a lane of the event queue.
    #[inline(always)]
    pub fn of(&self, lane: u32) -> Lane {
        if lane < self.arrivals {
            Lane::Link(lane)
        } else if lane >= self.ends {
            Lane::End(End::from_index(lane - self.ends))
        } else if lane < self.wires {
            Lane::Arrivals((lane - self.arrivals) as usize)
        } else if lane < self.datagrams {
            Lane::Wire((lane - self.wires) as usize)
        } else if lane < self.sampler() {
            Lane::Datagrams((lane - self.datagrams) as usize)
        } else {
            Lane::Sampler
        }
    }

    /// Return the lane of a one-way link. The lanes of links have the smallest numbers.
    #[inline(always)]
    pub fn link(&self, index: u32) -> u32 {
        index
    }

    /// Return the event queue lane of a flow that opens connections during the run.
    pub fn arrivals(&self, index: usize) -> u32 {
        self.arrivals + index as u32
    }

    /// Return the event queue lane of a wire, which applies the impairments of a link.
    pub fn wire(&self, index: usize) -> u32 {
        self.wires + index as u32
    }

    /// Return the event queue lane of a flow of datagrams.
    pub fn datagrams(&self, index: usize) -> u32 {
        self.datagrams + index as u32
    }

    /// Return the lane of the sampler, which takes the samples of the series.
    pub fn sampler(&self) -> u32 {
        self.ends - 1
    }

    /// Return the lane of an endpoint.
    #[inline(always)]
    pub fn end(&self, end: End) -> u32 {
        self.ends + end.index() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_belongs_to_one_component() {
        let lanes = Lanes::new(3, 2, 1, 2);
        let all: Vec<Lane> = (0..lanes.count(4) as u32).map(|lane| lanes.of(lane)).collect();
        let number = |lane: &Lane| match *lane {
            Lane::Link(l) => lanes.link(l),
            Lane::Arrivals(k) => lanes.arrivals(k),
            Lane::Wire(w) => lanes.wire(w),
            Lane::Datagrams(k) => lanes.datagrams(k),
            Lane::Sampler => lanes.sampler(),
            Lane::End(end) => lanes.end(end),
        };
        assert_eq!(all.iter().map(number).collect::<Vec<_>>(), (0..13).collect::<Vec<u32>>());
        let ends = [End::sender(0), End::receiver(0), End::sender(1), End::receiver(1)];
        assert_eq!(all[9..], ends.map(Lane::End));
    }
}
