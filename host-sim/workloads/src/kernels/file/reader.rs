//! Locations in a kernel file, and the names known to its expressions.

use super::form::{KernelForm, Whole};
use super::spanned::Spanned;
use crate::input::toml_text::parse_error;
use crate::kernels::expression::{Expression, unknown};
use crate::kernels::place::{DescriptionError, Formula, Place};
use std::ops::Range;

/// Names reserved in words and expressions of every kernel.
const TAKEN: [&str; 4] = ["size", "seed", "min", "max"];

/// State of a kernel file being read.
pub(super) struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    /// Names known to expressions.
    names: Vec<String>,
    /// Names that the file must not define.
    taken: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Creates a reader without defined names.
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        Reader { file, text, names: Vec::new(), taken: TAKEN.map(str::to_owned).to_vec() }
    }

    /// Parses the whole file as TOML.
    pub(super) fn form(&self) -> Result<KernelForm, DescriptionError> {
        toml::from_str(self.text).map_err(|error| DescriptionError(parse_error(self.file, self.text, &error)))
    }

    /// Returns the location of a span in the file.
    pub(super) fn at(&self, span: Range<usize>) -> Place {
        Place::span(self.file, self.text, span)
    }

    /// Returns the location by line number, with a note: `k.toml:7: argument 2`.
    pub(super) fn line(&self, span: &Range<usize>, note: &str) -> Place {
        let line = self.text.get(..span.start).map_or(1, |before| before.matches('\n').count() + 1);
        Place::of(&format!("{}:{line}: {note}", self.file))
    }

    /// Makes a name known to later expressions.
    pub(super) fn know(&mut self, name: &str) {
        self.names.push(name.into());
        self.take(name);
    }

    /// Reserves a name for the rest of the file.
    pub(super) fn take(&mut self, name: &str) {
        self.taken.push(name.into());
    }

    /// Checks that a new name is an identifier and not taken.
    pub(super) fn new_name(&self, name: &Spanned<String>) -> Result<(), DescriptionError> {
        identifier(name.get_ref()).map_err(|message| self.at(name.span()).fail(message))?;
        let text = name.get_ref().as_str();
        if self.taken.iter().any(|taken| taken == text) {
            return Err(self.at(name.span()).fail(format!("`{text}` is a reserved name; use another")));
        }
        Ok(())
    }

    /// Checks that an expression uses only known names.
    pub(super) fn check(&self, expression: &Expression, span: Range<usize>) -> Result<(), DescriptionError> {
        let known: Vec<&str> = self.names.iter().map(String::as_str).collect();
        match expression.names().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(self.at(span).fail(unknown(name, &known))),
        }
    }

    /// Parses an expression at its own location.
    pub(super) fn formula(&self, whole: &Spanned<Whole>) -> Result<Formula, DescriptionError> {
        self.formula_at(whole.get_ref(), whole.span())
    }

    /// Parses an expression at a given location.
    pub(super) fn formula_at(&self, whole: &Whole, span: Range<usize>) -> Result<Formula, DescriptionError> {
        let place = self.at(span.clone());
        let expression = match whole {
            Whole::Number(number) => Expression::constant(*number),
            Whole::Text(text) => Expression::parse(text).map_err(|message| place.fail(message))?,
        };
        self.check(&expression, span)?;
        Ok(Formula { expression, place })
    }
}

/// Checks that a name is usable in an expression.
pub(super) fn identifier(name: &str) -> Result<(), String> {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(rest) {
        Ok(())
    } else {
        Err(format!("`{name}`: a name has letters, digits and _, and begins with a letter"))
    }
}
