//! Parameters of kernel modules. Only the parameters of the module tcp_cubic are supported (Linux,
//! net/ipv4/tcp_cubic.c).

use serde_json::{Value, json};

use super::Kernel;
use super::value::integer;

/// Default values of the parameters of the kernel module tcp_cubic.
const DEFAULTS: &[(&str, i64)] = &[
    ("fast_convergence", 1),
    ("beta", 717),
    ("initial_ssthresh", 0),
    ("bic_scale", 41),
    ("tcp_friendliness", 1),
    ("hystart", 1),
    ("hystart_detect", 3),
    ("hystart_low_window", 16),
    ("hystart_ack_delta_us", 2000),
];

/// Set the parameter `/sys/module/MODULE/parameters/NAME` of a kernel module, or return an error if
/// the parameter is not supported.
pub(super) fn set(kernel: &mut Kernel, module: &str, name: &str, value: &str) -> Result<(), String> {
    let unsupported = || format!("parameter {name}={value} of {module}");
    let number = integer(value).filter(|_| module == "tcp_cubic").ok_or_else(unsupported)?;
    cubic(kernel, name, number).ok_or_else(unsupported)
}

fn cubic(kernel: &mut Kernel, name: &str, value: i64) -> Option<()> {
    let usual = DEFAULTS.iter().find(|d| d.0 == name)?.1;
    let mut set = |key: &str, value: Value| {
        kernel.cubic.insert(key.into(), value);
    };
    match name {
        "fast_convergence" => set("fast_convergence", json!(if value == 0 { "off" } else { "on" })),
        // The unit of the parameter beta is 1/1024. The default value of the parameter beta is 717,
        // which means 0.7.
        "beta" if value != usual => set("beta", json!(value as f64 / 1024.0)),
        "beta" => drop(kernel.cubic.remove("beta")),
        // The constant C of CUBIC is 10/1024 times the value of the parameter bic_scale. The
        // default value of the parameter bic_scale is 41, which means 0.4.
        "bic_scale" if value != usual => set("c", json!(value as f64 * 10.0 / 1024.0)),
        "bic_scale" => drop(kernel.cubic.remove("c")),
        "initial_ssthresh" => {
            let packets = if value == 0 { Value::Null } else { json!(format!("{value} packets")) };
            kernel.change(&[("cwnd.initial_ssthresh", packets)]).ok()?;
        }
        // If HyStart is off, CUBIC uses the function tcp_slow_start, whose growth is not limited
        // and which stops at ssthresh.
        "hystart" if value == 0 => {
            set("slow_start", json!({"kind": "standard", "limit": "255 packets", "at_ssthresh": "stops"}));
        }
        "hystart" if value == 1 && has_hystart(kernel) => drop(kernel.cubic.remove("slow_start")),
        _ if name.starts_with("hystart_") => return (value == usual && has_hystart(kernel)).then_some(()),
        _ => return (value == usual).then_some(()),
    }
    let tcp = kernel.tcp.clone();
    match &tcp.congestion {
        tcp::congestion::Algorithm::Cubic(_) => kernel.choose("cubic"),
        _ => kernel.with_congestion(&tcp, "cubic").map(drop), // checks the value
    }
}

/// Return true if the default slow start of CUBIC is HyStart.
fn has_hystart(kernel: &Kernel) -> bool {
    let mut plain = kernel.clone();
    plain.cubic.remove("slow_start");
    let tcp = plain.with_congestion(&plain.tcp, "cubic");
    tcp.is_some_and(|tcp| {
        use units::Read;
        tcp.congestion.write()["slow_start"]["kind"].as_str().is_some_and(|kind| kind != "standard")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::Tcp;
    use units::Read;

    fn kernel() -> Kernel {
        Kernel::new(Tcp::of_stack("linux", &json!({})).unwrap())
    }

    fn congestion(kernel: &Kernel) -> Value {
        kernel.tcp.congestion.write()
    }

    #[test]
    fn parameters_of_the_cubic_module_set_tcp_parameters() {
        let mut k = kernel();
        let before = congestion(&k);
        for (name, value) in
            [("fast_convergence", "0"), ("beta", "0x200"), ("bic_scale", "512"), ("hystart", "0")]
        {
            set(&mut k, "tcp_cubic", name, value).unwrap();
        }
        set(&mut k, "tcp_cubic", "initial_ssthresh", "20").unwrap();
        let now = congestion(&k);
        assert_eq!(
            (&now["fast_convergence"], &now["beta"], &now["c"]),
            (&json!("off"), &json!(0.5), &json!(5.0))
        );
        assert_eq!(
            (&now["slow_start"]["kind"], &now["slow_start"]["limit"]),
            (&json!("standard"), &json!("255 packets"))
        );
        assert_eq!(k.tcp.cwnd.initial_ssthresh, Some(units::Packets(20.0)));
        // If a script sets the same parameter several times, the last value applies.
        for (name, value) in [("fast_convergence", "1"), ("beta", "717"), ("bic_scale", "41")] {
            set(&mut k, "tcp_cubic", name, value).unwrap();
        }
        assert_eq!((&congestion(&k)["beta"], &congestion(&k)["c"]), (&before["beta"], &before["c"]));
    }

    /// The parameters of the module tcp_cubic apply only to CUBIC. A script may set parameters of
    /// the module tcp_cubic before it selects CUBIC.
    #[test]
    fn parameters_of_cubic_apply_when_it_is_chosen() {
        let mut k = kernel();
        k.choose("reno").unwrap();
        set(&mut k, "tcp_cubic", "beta", "512").unwrap();
        assert_eq!(congestion(&k)["kind"], "reno");
        k.choose("cubic").unwrap();
        assert_eq!(congestion(&k)["beta"], 0.5);
    }

    #[test]
    fn unsupported_parameters_are_refused() {
        for (module, name, value) in [
            ("tcp_cubic", "tcp_friendliness", "0"),
            ("tcp_cubic", "hystart_detect", "1"),
            ("tcp_cubic", "hystart_low_window", "1000"),
            ("tcp_cubic", "beta", "2000"),
            ("tcp_cubic", "speed", "1"),
            ("tcp_bbr", "speed", "1"),
        ] {
            let e = set(&mut kernel(), module, name, value).unwrap_err();
            assert_eq!(e, format!("parameter {name}={value} of {module}"));
        }
        set(&mut kernel(), "tcp_cubic", "tcp_friendliness", "1").unwrap();
    }
}
