//! Write the colours that a meter assigns to random packets, for the tests that compare the meter
//! with its reference implementation.
//!
//! The program reads `{"meter": …, "rate": …, "largest": 1500, "seed": 1, "arrivals": 1000}` from
//! standard input. The program writes 16 bytes per packet to standard output, little-endian: time
//! of arrival in ps (8), size (2), DSCP, colour (0 green, 1 yellow, 2 red), four zeros.
//!
//! The packets arrive in periods of random length, with random idle times between periods. The mean
//! rate of a period is between about 0.2 and 11 times the rate of the meter. The packet sizes are
//! random, from 1 byte to a maximum. The codepoints are random, and each colour has codepoints
//! among them.

use std::io::{Read, Write};

use engine::Stream;
use net::{Label, Packet};
use queues::diffserv::meters::Meter;
use serde_json::Value;
use units::{Bytes, Duration, Rate, Read as _, Time};

const LOADS: [f64; 6] = [0.2, 0.8, 1.0, 1.2, 2.0, 10.0];
const IDLE: [u64; 3] = [1_000_000_000, 100_000_000_000, 30_000_000_000_000];
const CODEPOINTS: [u8; 6] = [0, 10, 12, 14, 34, 38];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let spec: Value = serde_json::from_str(&text)?;
    let meter = Meter::read(&spec["meter"], "meter")?;
    let rate = Rate::read(&spec["rate"], "rate")?;
    let [largest, seed, arrivals] = ["largest", "seed", "arrivals"].map(|key| u64::read(&spec[key], key));
    let (largest, seed) = (largest?.clamp(1, 65_535), seed?);

    let mut metering = meter.build(Stream::new(seed, "meter"));
    let mut random = Stream::new(seed, "traffic");
    let (mut now, mut left, mut load) = (Time::ZERO, 0, 1.0);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for _ in 0..arrivals? {
        if left == 0 {
            let longest = [5, 50, 500][random.below(3) as usize];
            left = 1 + random.below(longest);
            load = LOADS[random.below(6) as usize];
            if random.below(4) == 0 {
                let longest = IDLE[random.below(3) as usize];
                now += Duration(random.below(longest));
            }
        }
        left -= 1;
        let size = if random.below(3) == 0 { largest } else { 1 + random.below(largest) } as u16;
        // One in ten packets arrives at the same time as the previous packet.
        if random.below(10) > 0 {
            let mean = rate.transmission_time(Bytes(largest)).0 as f64 / load;
            now += Duration((1.3 * mean * random.uniform()) as u64);
        }
        let dscp = CODEPOINTS[random.below(6) as usize];
        let packet = Packet { size, label: Label::default().with_dscp(dscp), ..Packet::default() };
        let colour = metering.colour(now, &packet);
        out.write_all(&now.0.to_le_bytes())?;
        out.write_all(&size.to_le_bytes())?;
        out.write_all(&[dscp, colour as u8, 0, 0, 0, 0])?;
    }
    Ok(())
}
