//! Parser of scripts. The parser returns a [`Script`] or the first syntax error.

mod call;
mod cursor;
mod packet;
mod time;

pub use cursor::SyntaxError;

use crate::syntax::{Action, Code, Command, Direction, Event, Script, Setting};
use cursor::Cursor;

/// Parse a script.
pub fn parse(text: &str) -> Result<Script, SyntaxError> {
    parse_with(text, &[])
}

/// Parse a script, in which each defined word stands for another text. The argument `defines` gives
/// each defined word with its text.
///
/// A defined word can represent a value of a call, an error, a cookie, or a command in backticks.
pub fn parse_with(text: &str, defines: &[(String, String)]) -> Result<Script, SyntaxError> {
    let mut c = Cursor::new(text, defines);
    let mut script = Script::default();
    c.space()?;
    while c.sees("--") {
        script.settings.push(setting(&mut c)?);
        c.space()?;
    }
    if c.sees("`") {
        script.init = Some(command(&mut c)?);
        c.space()?;
    }
    while c.peek().is_some() && !c.sees("`") {
        script.events.push(event(&mut c)?);
        c.space()?;
    }
    while c.sees("`") {
        script.cleanup.push(command(&mut c)?);
        c.space()?;
    }
    if c.peek().is_some() {
        return Err(c.wrong(
            "a command without a time must be at the end of the script; write a time before this event"
                .into(),
        ));
    }
    Ok(script)
}

fn setting(c: &mut Cursor) -> Result<Setting, SyntaxError> {
    let line = c.line();
    c.eat("--");
    let Some(name) = c.word() else { return Err(c.expected("the name of an option after '--'")) };
    c.blanks();
    let value = if c.eat("=") {
        c.blanks();
        Some(if name == "set" { rest_of_line(c) } else { word(c)? })
    } else {
        None
    };
    Ok(Setting { line, name: name.into(), value })
}

/// Consume and return the rest of a line up to a comment. The value of an option may contain
/// spaces, as in "2 packets".
fn rest_of_line(c: &mut Cursor) -> String {
    let line = c.rest().lines().next().unwrap_or("");
    let comment = ["//", "/*", "#"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    let start = c.at();
    c.back_to(start + comment);
    line[..comment].trim().to_string()
}

/// Consume and return the value of an option, which is quoted or ends at white space.
fn word(c: &mut Cursor) -> Result<String, SyntaxError> {
    if !c.eat("\"") {
        return Ok(c.take_while(|x| !x.is_whitespace()).to_string());
    }
    match c.take_until("\"") {
        Some(text) => Ok(text.to_string()),
        None => Err(c.wrong("this quoted text has no end; write \"".into())),
    }
}

fn command(c: &mut Cursor) -> Result<Command, SyntaxError> {
    let (line, start) = (c.line(), c.at());
    c.eat("`");
    let mut text = String::new();
    loop {
        let Some(part) = c.take_until("`") else {
            c.back_to(start);
            return Err(c.wrong("this command has no end; write `".into()));
        };
        text += part;
        match text.strip_suffix('\\') {
            Some(before) => text = format!("{before}`"), // \` does not end the command
            None => return Ok(Command { line, text }),
        }
    }
}

/// If the next word is defined as a command in backticks, consume it and return the command.
fn defined_command(c: &mut Cursor) -> Option<Command> {
    let (line, start) = (c.line(), c.at());
    let value = c.word().and_then(|word| c.defined(word));
    let text = value.and_then(|v| v.strip_prefix('`')?.strip_suffix('`'));
    if text.is_none() {
        c.back_to(start);
    }
    text.map(|text| Command { line, text: text.into() })
}

fn code(c: &mut Cursor) -> Result<Code, SyntaxError> {
    let (line, start) = (c.line(), c.at());
    c.eat("%{");
    match c.take_until("}%") {
        Some(text) => Ok(Code { line, text: text.into() }),
        None => {
            c.back_to(start);
            Err(c.wrong("this block has no end; write }%".into()))
        }
    }
}

fn event(c: &mut Cursor) -> Result<Event, SyntaxError> {
    let line = c.line();
    if !time::begins(c) {
        return Err(c.expected("the time of an event, such as 0.1, +.1 or *"));
    }
    let when = time::when(c)?;
    c.space()?;
    let action = if c.eat("<") {
        packet::packet(c, Direction::In)?
    } else if c.eat(">") {
        packet::packet(c, Direction::Out)?
    } else if c.sees("`") {
        Action::Command(command(c)?)
    } else if let Some(command) = defined_command(c) {
        Action::Command(command)
    } else if c.sees("%{") {
        Action::Code(code(c)?)
    } else if c.eat("...") {
        c.space()?;
        c.eat("+");
        let end = time::seconds(c)?;
        Action::Call(Box::new(call::call(c, Some(end))?))
    } else {
        Action::Call(Box::new(call::call(c, None)?))
    };
    Ok(Event { line, when, action })
}
