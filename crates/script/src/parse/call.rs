//! System calls: `accept(3, ..., ...) = 4`.

use super::cursor::{Cursor, SyntaxError};
use crate::syntax::{Call, Expr, Field, Outcome};
use units::Duration;

/// How deep lists and structs may be nested.
const DEEPEST: usize = 24;

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

/// `EAGAIN`. Nothing else that may follow a result begins with a capital E.
fn errno(c: &mut Cursor) -> Option<String> {
    c.sees("E").then(|| c.word()).flatten().map(String::from)
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

/// Expressions separated by commas, up to `end`.
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
    if depth > DEEPEST {
        return Err(c.wrong(format!("brackets are nested more than {DEEPEST} deep")));
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
            Ok(Expr::Word(word.into()))
        }
    }
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

fn text(c: &mut Cursor) -> Result<Expr, SyntaxError> {
    let start = c.at();
    c.eat("\"");
    let mut text = String::new();
    loop {
        text += c.take_while(|x| !matches!(x, '"' | '\\' | '\n'));
        if c.eat("\"") {
            c.eat("..."); // "text"... is a text that goes on
            return Ok(Expr::Text(text));
        }
        if !c.eat("\\") {
            c.back_to(start);
            return Err(c.wrong("this text has no end; write \"".into()));
        }
        let Some(escaped) = c.peek() else {
            c.back_to(start);
            return Err(c.wrong("this text has no end; write \"".into()));
        };
        c.eat(escaped.encode_utf8(&mut [0; 4]));
        text.push(match escaped {
            'n' => '\n',
            't' => '\t',
            other => other,
        });
    }
}

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
