//! Addresses of hosts, and ports of flows, which follow from the numbers of hosts and flows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::error::Error;

/// Version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

/// Source and destination address of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// IPv4.
    V4 {
        /// Source address.
        source: Ipv4Addr,
        /// Destination address.
        destination: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// Source address.
        source: Ipv6Addr,
        /// Destination address.
        destination: Ipv6Addr,
    },
}

/// Addresses and ports of a packet. The addresses and ports of a flow are the addresses and ports
/// of its data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// Source and destination address.
    pub addresses: Addresses,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// First dynamic port, from which ports are assigned (RFC 6335 §6). No service is registered for
/// dynamic ports, so tools such as tshark do not try to decode the payload.
const FIRST_PORT: u16 = 49152;
const PORTS: u32 = 1 << 14;
/// Number of hosts in the network 10.0.0.0/8 (RFC 1918), without the network address and the
/// broadcast address.
const HOSTS: u32 = (1 << 24) - 2;

impl Endpoints {
    /// Return the addresses and ports of a flow between two hosts. Host 0 is 10.0.0.1 or fd00::1
    /// (RFC 4193). The ports of flow 0 are 49152 at both hosts. The source port of flow 1 is 49153.
    /// Flows use all source ports with the first destination port, then all source ports with the
    /// next destination port, and so on.
    pub fn of(family: Family, from: u32, to: u32, flow: u32) -> Result<Endpoints, Error> {
        let (from, to) = (number(from)?, number(to)?);
        let addresses = match family {
            Family::V4 => Addresses::V4 { source: v4(from), destination: v4(to) },
            Family::V6 => Addresses::V6 { source: v6(from), destination: v6(to) },
        };
        if flow >= PORTS * PORTS {
            return Err(Error::Flow(flow));
        }
        let port = |n: u32| FIRST_PORT + n as u16;
        Ok(Endpoints { addresses, source_port: port(flow % PORTS), destination_port: port(flow / PORTS) })
    }

    /// Return the number of the flow of a packet with the given ports, in either direction. The
    /// number of a flow after the first 16384 flows is `None`, because the ports of its packets do
    /// not determine their direction.
    pub fn flow_of(source_port: u16, destination_port: u16) -> Option<u32> {
        match [source_port, destination_port].map(|port| port.checked_sub(FIRST_PORT)) {
            [Some(n), Some(0)] | [Some(0), Some(n)] => Some(n.into()),
            _ => None,
        }
    }

    /// Return the source address.
    pub fn source(&self) -> IpAddr {
        match self.addresses {
            Addresses::V4 { source, .. } => source.into(),
            Addresses::V6 { source, .. } => source.into(),
        }
    }

    /// Return the addresses and ports of a packet that travels in the opposite direction.
    pub fn reversed(self) -> Endpoints {
        let addresses = match self.addresses {
            Addresses::V4 { source, destination } => {
                Addresses::V4 { source: destination, destination: source }
            }
            Addresses::V6 { source, destination } => {
                Addresses::V6 { source: destination, destination: source }
            }
        };
        Endpoints { addresses, source_port: self.destination_port, destination_port: self.source_port }
    }
}

fn number(host: u32) -> Result<u32, Error> {
    if host < HOSTS { Ok(host + 1) } else { Err(Error::Host(host)) }
}

fn v4(n: u32) -> Ipv4Addr {
    Ipv4Addr::from(10 << 24 | n)
}

fn v6(n: u32) -> Ipv6Addr {
    Ipv6Addr::from(0xfd << 120 | u128::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_addresses_and_flows_have_ports() {
        let endpoints = Endpoints::of(Family::V4, 0, 256, PORTS + 1).unwrap();
        let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 1));
        assert_eq!(endpoints.addresses, Addresses::V4 { source, destination });
        assert_eq!((endpoints.source_port, endpoints.destination_port), (49153, 49153));
        assert_eq!(Endpoints::flow_of(49153, 49153), None);
        assert_eq!([(49160, 49152), (49152, 49160)].map(|(a, b)| Endpoints::flow_of(a, b)), [Some(8); 2]);
        let last = Endpoints::of(Family::V6, HOSTS - 1, 0, PORTS * PORTS - 1).unwrap();
        let Addresses::V6 { source, destination } = last.addresses else { panic!() };
        assert_eq!((source.to_string(), destination.to_string()), ("fd00::ff:fffe".into(), "fd00::1".into()));
        assert_eq!((last.source_port, last.destination_port), (65535, 65535));
        assert_eq!(endpoints.reversed().reversed(), endpoints);
    }

    #[test]
    fn numbers_beyond_the_range_are_refused() {
        assert_eq!(Endpoints::of(Family::V4, HOSTS, 0, 0), Err(Error::Host(HOSTS)));
        assert_eq!(Endpoints::of(Family::V4, 0, 0, PORTS * PORTS), Err(Error::Flow(PORTS * PORTS)));
    }
}
