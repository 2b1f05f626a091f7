//! The parser's position in a script, with functions that parse single words and numbers, and that
//! create errors.

use std::fmt;

/// Position and description of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SyntaxError {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Description: "expected …, found …".
    pub problem: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.problem)
    }
}

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    lines: Vec<usize>,
    defines: &'a [(String, String)],
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, defines: &'a [(String, String)]) -> Self {
        let starts = text.bytes().enumerate().filter(|b| b.1 == b'\n').map(|b| b.0 + 1);
        Cursor { text, at: 0, lines: std::iter::once(0).chain(starts).collect(), defines }
    }

    /// Return the text by which a word is defined. If a word is defined several times, the last
    /// definition applies.
    pub fn defined(&self, word: &str) -> Option<&'a str> {
        self.defines.iter().rfind(|d| d.0 == word).map(|d| d.1.as_str())
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn back_to(&mut self, at: usize) {
        self.at = at;
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn sees(&self, what: &str) -> bool {
        self.rest().starts_with(what)
    }

    /// Return the line number of the next character.
    pub fn line(&self) -> u32 {
        self.lines.partition_point(|&start| start <= self.at) as u32
    }

    /// If the text `what` comes next, consume the text and return true.
    pub fn eat(&mut self, what: &str) -> bool {
        let there = self.sees(what);
        if there {
            self.at += what.len();
        }
        there
    }

    /// Consume and return the next characters, as long as `wanted` returns true for them.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Return the text before the next `mark`. Move the cursor to the position after the text
    /// `mark`.
    pub fn take_until(&mut self, mark: &str) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(mark)?;
        self.at += end + mark.len();
        Some(&rest[..end])
    }

    /// Skip spaces and tabs within a line.
    pub fn blanks(&mut self) {
        self.take_while(|c| c == ' ' || c == '\t');
    }

    /// Skip white space and comments.
    pub fn space(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.sees("//") || self.sees("#") {
                self.take_while(|c| c != '\n');
            } else if self.sees("/*") {
                if self.take_until("*/").is_none() {
                    return Err(self.wrong("this comment has no end; write */".into()));
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Consume and return a name: a letter or `_`, followed by letters, digits and `_`.
    pub fn word(&mut self) -> Option<&'a str> {
        if !self.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
            return None;
        }
        Some(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_'))
    }

    /// Consume and return a whole number, decimal or hexadecimal.
    pub fn integer(&mut self, what: &str) -> Result<i64, SyntaxError> {
        let start = self.at;
        let negative = self.eat("-");
        let hexadecimal = self.eat("0x") || self.eat("0X");
        let (digits, radix) = if hexadecimal {
            (self.take_while(|c| c.is_ascii_hexdigit()), 16)
        } else {
            (self.take_while(|c| c.is_ascii_digit()), 10)
        };
        let value = i64::from_str_radix(digits, radix).ok().map(|v| if negative { -v } else { v });
        value.ok_or_else(|| {
            self.at = start;
            self.expected(what)
        })
    }

    /// Consume and return a whole number in the range `0..=most`.
    pub fn bounded(&mut self, what: &str, most: u32) -> Result<u32, SyntaxError> {
        let start = self.at;
        let value = self.integer(what)?;
        match u32::try_from(value) {
            Ok(v) if v <= most => Ok(v),
            _ => {
                self.at = start;
                Err(self.wrong(format!("{what} must be between 0 and {most}, not {value}")))
            }
        }
    }

    /// Consume the text `what`, with white space before and after it, or return an error.
    pub fn require(&mut self, what: &str) -> Result<(), SyntaxError> {
        self.space()?;
        if !self.eat(what) {
            return Err(self.expected(&format!("'{what}'")));
        }
        self.space()
    }

    /// Return a syntax error: the parser expected `what` at the present position.
    pub fn expected(&self, what: &str) -> SyntaxError {
        let found: String = match self.peek() {
            None => "the end of the script".into(),
            Some('\n') => "the end of the line".into(),
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                let rest = self.rest();
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                format!("'{}'", &rest[..end.min(30)])
            }
            Some(c) => format!("'{}'", c.escape_default()),
        };
        self.wrong(format!("expected {what}, found {found}"))
    }

    /// Return a syntax error at the present position.
    pub fn wrong(&self, problem: String) -> SyntaxError {
        let line = self.line();
        let column = self.text[self.lines[line as usize - 1]..self.at].chars().count() as u32 + 1;
        SyntaxError { line, column, problem }
    }
}
