//! Text in, [`Script`] out; or the first place where it makes no sense.

mod call;
mod cursor;
mod packet;
mod time;

pub use cursor::SyntaxError;

use crate::syntax::{Action, Code, Command, Event, Script, Setting, Way};
use cursor::Cursor;

/// Reads a script.
pub fn parse(text: &str) -> Result<Script, SyntaxError> {
    let mut c = Cursor::new(text);
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
    while c.peek().is_some() {
        script.events.push(event(&mut c)?);
        c.space()?;
    }
    Ok(script)
}

fn setting(c: &mut Cursor) -> Result<Setting, SyntaxError> {
    let line = c.line();
    c.eat("--");
    let Some(name) = c.word() else { return Err(c.expected("the name of an option after '--'")) };
    // A value of ours may have spaces ("2 packets"): it takes the rest of the line.
    let ours = name == "set";
    let end = |x: char| if ours { x == '\n' } else { x.is_whitespace() };
    let value = c.eat("=").then(|| c.take_while(|x| !end(x)).trim().to_string());
    Ok(Setting { line, name: name.into(), value })
}

fn command(c: &mut Cursor) -> Result<Command, SyntaxError> {
    let (line, start) = (c.line(), c.at());
    c.eat("`");
    match c.take_until("`") {
        Some(text) => Ok(Command { line, text: text.into() }),
        None => {
            c.back_to(start);
            Err(c.wrong("this command has no end; write `".into()))
        }
    }
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
        packet::packet(c, Way::In)?
    } else if c.eat(">") {
        packet::packet(c, Way::Out)?
    } else if c.sees("`") {
        Action::Command(command(c)?)
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
