//! Parser of times such as `0.1`, `+.1`, `0.1~0.2`, `+.1~+.2` and `*`.

use units::Duration;

use super::cursor::{Cursor, SyntaxError};
use crate::syntax::When;

/// Maximum time in a script, in seconds. The clock of 64-bit picoseconds ends at 18,446,744 s.
const MAX_SECONDS: u64 = 18_446_743;
const TIME: &str = "a time in seconds, such as 0.1, +.1 or *";

/// Return true if the text at the present position begins with a time.
pub(super) fn begins(c: &Cursor) -> bool {
    c.peek().is_some_and(|x| x.is_ascii_digit() || x == '+' || x == '*' || x == '.') && !c.sees("...")
}

pub(super) fn when(c: &mut Cursor) -> Result<When, SyntaxError> {
    if c.eat("*") {
        return Ok(When::Any);
    }
    let relative = c.eat("+");
    c.space()?;
    let from = seconds(c)?;
    let end = c.at();
    c.space()?;
    if !c.eat("~") {
        c.back_to(end);
        return Ok(if relative { When::After(from) } else { When::At(from) });
    }
    c.space()?;
    let start = c.at();
    if c.eat("+") != relative {
        c.back_to(start);
        return Err(c.expected(if relative {
            "'+', because both ends of the interval must be relative"
        } else {
            TIME
        }));
    }
    c.space()?;
    let to = seconds(c)?;
    if to < from {
        c.back_to(start);
        return Err(c.wrong("the interval of times ends before it begins".into()));
    }
    Ok(if relative { When::AfterBetween(from, to) } else { When::Between(from, to) })
}

/// Parse a time span in seconds, with a precision of one picosecond.
pub(super) fn seconds(c: &mut Cursor) -> Result<Duration, SyntaxError> {
    let start = c.at();
    let whole = c.take_while(|x| x.is_ascii_digit());
    let point = c.at();
    let fraction = if c.eat(".") { c.take_while(|x| x.is_ascii_digit()) } else { "" };
    if fraction.is_empty() {
        c.back_to(point); // "0." is 0, and the point belongs to the dots that follow: 0...0.2
    }
    if whole.is_empty() && fraction.is_empty() {
        c.back_to(start);
        return Err(c.expected(TIME));
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().unwrap_or(u64::MAX) };
    if whole > MAX_SECONDS {
        c.back_to(start);
        return Err(c.wrong(format!("a time must be at most {MAX_SECONDS} s")));
    }
    let digits = format!("{fraction:0<12}");
    let picoseconds: u64 = digits[..12].parse().unwrap_or(0);
    Ok(Duration(whole * 1_000_000_000_000 + picoseconds))
}
