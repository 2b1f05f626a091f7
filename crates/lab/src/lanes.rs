//! The lanes of the event queue: which of them is whose. A lane has at most one pending event, and simultaneous
//! events go by lane. The ends of connections come last, since their number grows.

use net::End;

/// Whose event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The link with this index.
    Link(u32),
    /// The flow with arrivals that has this index.
    Arrivals(usize),
    /// The wire with this index.
    Wire(usize),
    /// The flow of datagrams with this index.
    Datagrams(usize),
    /// What takes samples.
    Sampler,
    /// An end of a connection: its timer, or its application.
    End(End),
}

/// The first lane of each kind, in their order.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    arrivals: u32,
    wires: u32,
    datagrams: u32,
    ends: u32,
}

impl Lanes {
    /// Of so many links, flows with arrivals, wires and flows of datagrams.
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

    /// How many there are with so many ends.
    pub fn count(&self, ends: usize) -> usize {
        self.ends as usize + ends
    }

    /// Whose a lane is.
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

    /// That of a link: links come first.
    #[inline(always)]
    pub fn link(&self, index: u32) -> u32 {
        index
    }

    /// That of a flow with arrivals.
    pub fn arrivals(&self, index: usize) -> u32 {
        self.arrivals + index as u32
    }

    /// That of a wire.
    pub fn wire(&self, index: usize) -> u32 {
        self.wires + index as u32
    }

    /// That of a flow of datagrams.
    pub fn datagrams(&self, index: usize) -> u32 {
        self.datagrams + index as u32
    }

    /// That of what takes samples.
    pub fn sampler(&self) -> u32 {
        self.ends - 1
    }

    /// That of an end.
    #[inline(always)]
    pub fn end(&self, end: End) -> u32 {
        self.ends + end.index() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_of_one_thing() {
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
