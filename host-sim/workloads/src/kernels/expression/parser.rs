//! Parser from text to postfix order.

use super::{Operator, Step};
use crate::kernels::element::integer;

/// Maximum nesting of parentheses and signs (assumption: beyond readable expressions).
const DEEPEST: u32 = 32;

/// Parses the whole `text`.
///
/// # Errors
/// The cause and the expected form.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, String> {
    let mut parser = Parser { text, rest: text, steps: Vec::new(), depth: 0 };
    parser.sum()?;
    match parser.peek() {
        None => Ok(parser.steps),
        Some(_) => Err(parser.expected("an operator, + - * / or %")),
    }
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
    steps: Vec<Step>,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        self.rest.chars().next()
    }

    fn take(&mut self, character: char) -> bool {
        let is = self.peek() == Some(character);
        if is {
            self.rest = &self.rest[character.len_utf8()..];
        }
        is
    }

    /// Reads a name or a number: letters, digits and `_`.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn expected(&self, what: &str) -> String {
        let found = if self.rest.is_empty() { "its end".to_owned() } else { format!("`{}`", self.rest) };
        format!("`{}`: expected {what}, found {found}", self.text)
    }

    fn sum(&mut self) -> Result<(), String> {
        self.product()?;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                Some('-') => Operator::Subtract,
                _ => return Ok(()),
            };
            self.rest = &self.rest[1..];
            self.product()?;
            self.steps.push(Step::Binary(operator));
        }
    }

    fn product(&mut self) -> Result<(), String> {
        self.factor()?;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Multiply,
                Some('/') => Operator::Divide,
                Some('%') => Operator::Remainder,
                _ => return Ok(()),
            };
            self.rest = &self.rest[1..];
            self.factor()?;
            self.steps.push(Step::Binary(operator));
        }
    }

    fn factor(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("`{}`: more than {DEEPEST} nested parentheses or signs", self.text));
        }
        if self.take('-') {
            self.factor()?;
            self.steps.push(Step::Negate);
        } else if self.take('(') {
            self.sum()?;
            self.close()?;
        } else {
            self.atom()?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn atom(&mut self) -> Result<(), String> {
        match self.peek() {
            Some('0'..='9') => {
                let word = self.word();
                let number = integer(word).and_then(|number| i64::try_from(number).ok());
                self.steps.push(Step::Number(number.ok_or_else(|| format!("`{}`: `{word}` is not a number of 64 bits", self.text))?));
            }
            Some('a'..='z' | 'A'..='Z' | '_') => {
                let word = self.word();
                let function = match word {
                    "min" => Some(Operator::Min),
                    "max" => Some(Operator::Max),
                    _ => None,
                };
                match function.filter(|_| self.peek() == Some('(')) {
                    Some(operator) => self.call(operator)?,
                    None => self.steps.push(Step::Name(word.into())),
                }
            }
            _ => return Err(self.expected("a number, a name or `(`")),
        }
        Ok(())
    }

    /// Parses the two arguments of `min` and `max`.
    fn call(&mut self, operator: Operator) -> Result<(), String> {
        self.take('(');
        self.sum()?;
        if !self.take(',') {
            return Err(self.expected("`,`"));
        }
        self.sum()?;
        self.close()?;
        self.steps.push(Step::Binary(operator));
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        if self.take(')') { Ok(()) } else { Err(self.expected("`)`")) }
    }
}
