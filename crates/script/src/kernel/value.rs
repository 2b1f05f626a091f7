//! Values of kernel parameters.

/// Parse a whole number as the kernel does: decimal, hexadecimal (`0x207`) or octal (`0123`).
pub fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let value = if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        i64::from_str_radix(hexadecimal, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(&digits[1..], 8)
    } else {
        digits.parse()
    };
    value.ok().filter(|v| *v >= 0).map(|v| sign * v)
}

/// Parse exactly `N` whole numbers, separated by white space.
pub fn integers<const N: usize>(text: &str) -> Option<[i64; N]> {
    let all: Vec<i64> = text.split_whitespace().map(integer).collect::<Option<_>>()?;
    all.try_into().ok()
}

/// Parse a time in the format of ip-route(8), where the default unit is milliseconds, and return it
/// with its unit.
pub fn milliseconds(text: &str) -> Option<String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let unit = match unit {
        "" | "ms" | "msec" | "msecs" => "ms",
        "s" | "sec" | "secs" => "s",
        _ => return None,
    };
    number.parse::<f64>().ok().filter(|n| *n > 0.0)?;
    Some(format!("{number} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_kernel_does() {
        for (text, value) in [
            ("5", Some(5)),
            ("0x207", Some(0x207)),
            ("0XfF", Some(255)),
            ("010", Some(8)),
            ("0", Some(0)),
            ("-1", Some(-1)),
            (" 7 ", Some(7)),
            ("", None),
            ("--1", None),
            ("0x", None),
            ("yes", None),
            ("1.5", None),
        ] {
            assert_eq!(integer(text), value, "{text:?}");
        }
        assert_eq!(integers("4096\t0x10 3"), Some([4096, 16, 3]));
        assert_eq!(integers::<3>("1 2"), None);
    }

    #[test]
    fn times_of_routes_have_units() {
        assert_eq!(milliseconds("5").as_deref(), Some("5 ms"));
        assert_eq!(milliseconds("0.3s").as_deref(), Some("0.3 s"));
        assert_eq!((milliseconds("5h"), milliseconds("x"), milliseconds("0ms")), (None, None, None));
    }
}
