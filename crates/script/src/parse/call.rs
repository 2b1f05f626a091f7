//! Parser of system calls such as `accept(3, ..., ...) = 4`.

use super::cursor::{Cursor, SyntaxError};
use crate::syntax::{Call, Expr, Field, Outcome};
use units::Duration;

/// Maximum depth of nested lists and structs.
const MAX_DEPTH: usize = 24;

pub(super) fn call(c: &mut Cursor, end: Option<Duration>) -> Result<Call, SyntaxError> {
    c.space()?;
    let Some(name) = c.word() else {
        return Err(c.expected("a packet (< or >), a system call, a command in backticks or %{"));
    };
    c.require("(")?;
    let args = items(c, ")", 0)?;
    c.require("=")?;
    let result = outcome(c)?;
    c.space()?;
    let errno = errno(c);
    c.space()?;
    let mut note = None;
    if c.eat("(") {
        let Some(text) = c.take_until(")") else { return Err(c.expected("')' after a remark")) };
        note = Some(text.to_string());
    }
    Ok(Call { end, name: name.into(), args, result, errno, note })
}

/// Parse the name of an error, such as `EAGAIN`. After the result of a call, a word with a capital
/// E is the name of an error.
fn errno(c: &mut Cursor) -> Option<String> {
    let start = c.at();
    let word = c.word()?;
    let name = c.defined(word).unwrap_or(word);
    if !name.starts_with('E') {
        c.back_to(start);
        return None;
    }
    Some(name.into())
}

fn outcome(c: &mut Cursor) -> Result<Outcome, SyntaxError> {
    if c.eat("?") {
        return Ok(Outcome::Any);
    }
    let value = expression(c, 0)?;
    if let Expr::Int(low) = value
        && !c.sees("...")
        && c.eat("..")
    {
        let high = c.integer("the end of a range of results")?;
        return Ok(Outcome::Between(low, high));
    }
    Ok(Outcome::Is(value))
}

/// Parse a list of expressions, separated by commas, up to the text `end`.
fn items(c: &mut Cursor, end: &str, depth: usize) -> Result<Vec<Expr>, SyntaxError> {
    let mut list = Vec::new();
    c.space()?;
    if c.eat(end) {
        return Ok(list);
    }
    loop {
        list.push(expression(c, depth)?);
        c.space()?;
        if c.eat(end) {
            return Ok(list);
        }
        if !c.eat(",") {
            return Err(c.expected(&format!("',' or '{end}'")));
        }
    }
}

fn expression(c: &mut Cursor, depth: usize) -> Result<Expr, SyntaxError> {
    if depth > MAX_DEPTH {
        return Err(c.wrong(format!("brackets must be nested at most {MAX_DEPTH} deep")));
    }
    c.space()?;
    let first = term(c, depth)?;
    let mut all = vec![first];
    loop {
        let before = c.at();
        c.space()?;
        if !c.eat("|") {
            c.back_to(before);
            break;
        }
        c.space()?;
        all.push(term(c, depth)?);
    }
    Ok(if all.len() > 1 { Expr::Or(all) } else { all.remove(0) })
}

fn term(c: &mut Cursor, depth: usize) -> Result<Expr, SyntaxError> {
    if c.eat("...") {
        return Ok(Expr::Ellipsis);
    }
    if c.eat("[") {
        return Ok(Expr::List(items(c, "]", depth + 1)?));
    }
    if c.eat("{") {
        return members(c, depth + 1);
    }
    match c.peek() {
        Some('"') => text(c),
        Some(x) if x.is_ascii_digit() || x == '-' || x == '.' => number(c),
        _ => {
            let Some(word) = c.word() else { return Err(c.expected("a value")) };
            if c.eat("(") {
                return Ok(Expr::Call(word.into(), items(c, ")", depth + 1)?));
            }
            match c.defined(word) {
                Some(value) => defined(c, word, value, depth),
                None => Ok(Expr::Word(word.into())),
            }
        }
    }
}

/// Parse the text by which a word is defined. If the definition of a word contains defined words,
/// these words are not replaced.
fn defined(c: &mut Cursor, word: &str, value: &str, depth: usize) -> Result<Expr, SyntaxError> {
    let mut inner = Cursor::new(value, &[]);
    let expression = expression(&mut inner, depth + 1);
    let ends = inner.space().is_ok() && inner.peek().is_none();
    expression.ok().filter(|_| ends).ok_or_else(|| {
        c.back_to(c.at() - word.len());
        c.wrong(format!("{word} is defined as '{}', which is not a value", value.escape_debug()))
    })
}

fn number(c: &mut Cursor) -> Result<Expr, SyntaxError> {
    let start = c.at();
    let decimal = c.take_while(|x| x.is_ascii_digit() || x == '-');
    if !c.sees("..") && c.eat(".") {
        let fraction = c.take_while(|x| x.is_ascii_digit());
        if fraction.is_empty() {
            c.back_to(start);
            return Err(c.expected("a number"));
        }
        return Ok(Expr::Float(format!("{decimal}.{fraction}")));
    }
    c.back_to(start);
    Ok(Expr::Int(c.integer("a number")?))
}

/// Parse a string. Adjacent strings are joined, as in C.
fn text(c: &mut Cursor) -> Result<Expr, SyntaxError> {
    let mut text = Vec::new();
    while c.sees("\"") {
        quoted(c, &mut text)?;
        if c.eat("...") {
            break; // "text"... is a truncated string
        }
        let end = c.at();
        c.space()?;
        if !c.sees("\"") {
            c.back_to(end);
        }
    }
    Ok(Expr::Text(text))
}

/// Append the bytes of a quoted string to `text`.
fn quoted(c: &mut Cursor, text: &mut Vec<u8>) -> Result<(), SyntaxError> {
    let start = c.at();
    c.eat("\"");
    loop {
        text.extend(c.take_while(|x| !matches!(x, '"' | '\\' | '\n')).bytes());
        if c.eat("\"") {
            return Ok(());
        }
        if !c.sees("\\") || c.rest().len() == 1 {
            c.back_to(start);
            return Err(c.wrong("this quoted text has no end; write \"".into()));
        }
        text.push(escape(c)?);
    }
}

/// Parse an escape sequence of C after the backslash (ISO C §6.4.4.4): a letter, up to three octal
/// digits, or `x` with hexadecimal digits.
fn escape(c: &mut Cursor) -> Result<u8, SyntaxError> {
    let start = c.at();
    c.eat("\\");
    let rest = c.rest();
    let octal = rest.bytes().take(3).take_while(|x| matches!(x, b'0'..=b'7')).count();
    let hexadecimal = rest.bytes().skip(1).take(2).take_while(u8::is_ascii_hexdigit).count();
    let (value, len) = match rest.as_bytes().first() {
        Some(b'0'..=b'7') => (u8::from_str_radix(&rest[..octal], 8).ok(), octal),
        Some(b'x') => (u8::from_str_radix(&rest[1..=hexadecimal], 16).ok(), 1 + hexadecimal),
        Some(letter) => (ESCAPES.iter().find(|e| e.0 == *letter).map(|e| e.1), 1),
        None => (None, 0),
    };
    let Some(value) = value else {
        c.back_to(start);
        return Err(c.wrong(
            "an unknown escape sequence: write an escape sequence of C, such as \\n, \\x0a or \\012, \
             and \\\\ for a backslash"
                .into(),
        ));
    };
    c.back_to(start + 1 + len);
    Ok(value)
}

/// Letters of the escape sequences of C, and the bytes that they represent.
const ESCAPES: [(u8, u8); 11] = [
    (b'a', 7),
    (b'b', 8),
    (b't', b'\t'),
    (b'n', b'\n'),
    (b'v', 11),
    (b'f', 12),
    (b'r', b'\r'),
    (b'"', b'"'),
    (b'\'', b'\''),
    (b'?', b'?'),
    (b'\\', b'\\'),
];

fn members(c: &mut Cursor, depth: usize) -> Result<Expr, SyntaxError> {
    let mut fields = Vec::new();
    c.space()?;
    if c.eat("}") {
        return Ok(Expr::Struct(fields));
    }
    loop {
        fields.push(member(c, depth)?);
        c.space()?;
        if c.eat("}") {
            return Ok(Expr::Struct(fields));
        }
        if !c.eat(",") {
            return Err(c.expected("',' or '}'"));
        }
    }
}

fn member(c: &mut Cursor, depth: usize) -> Result<Field, SyntaxError> {
    let head = expression(c, depth)?;
    c.space()?;
    if !c.eat("=") {
        return Ok(Field { name: None, argument: None, value: head });
    }
    let (name, argument) = match head {
        Expr::Word(name) => (name, None),
        Expr::Call(name, mut args) if args.len() == 1 => (name, args.pop()),
        _ => return Err(c.wrong("expected a name before '='".into())),
    };
    let value = expression(c, depth)?;
    Ok(Field { name: Some(name), argument, value })
}
