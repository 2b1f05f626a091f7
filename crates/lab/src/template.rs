//! Templates in the names of hosts, links and flows: `{i}` is replaced by a number, `{i+1}` by the
//! number plus 1, and `{i%100}` by the remainder of the number modulo 100.

/// Return `text`, in which the value of the variable replaces every `{variable}`, `{variable+K}`,
/// `{variable%K}` and combination of these forms. All other text in braces remains unchanged.
pub fn expand(text: &str, variables: &[(&str, u64)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let Some(close) = rest.find('}') else { break };
        match value(&rest[1..close], variables) {
            Some(v) => out.push_str(&v.to_string()),
            None => out.push_str(&rest[..=close]),
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    out
}

/// Evaluate a variable name that is followed by any number of `+K` and `%K`, from left to right.
fn value(expression: &str, variables: &[(&str, u64)]) -> Option<u64> {
    let (name, value) = variables.iter().find(|v| expression.starts_with(v.0))?;
    let (mut value, mut rest) = (*value, &expression[name.len()..]);
    while let Some((operator, after)) = rest.split_at_checked(1) {
        let end = after.find(['+', '%']).unwrap_or(after.len());
        let k = after[..end].parse().ok()?;
        value = match operator {
            "+" => value.checked_add(k)?,
            "%" => value.checked_rem(k)?,
            _ => return None,
        };
        rest = &after[end..];
    }
    rest.is_empty().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_replaced_and_other_text_stays() {
        let e = |text| expand(text, &[("i", 12), ("n", 100)]);
        assert_eq!(e("left-{i}"), "left-12");
        assert_eq!(e("r{i}>r{i+1}, {i%5} of {n}"), "r12>r13, 2 of 100");
        assert_eq!(e("{x} {i-1} {i%0} {i+} { {i"), "{x} {i-1} {i%0} {i+} { {i");
        assert_eq!(e("é{i}é {ié} {i%10+1} {i+1%10}"), "é12é {ié} 3 3");
    }
}
