//! Locations in a kernel's description, for messages.

use super::expression::{Expression, Scope};
use crate::input::toml_text::point_at;
use std::ops::Range;

/// Error in a kernel's description; names the file or option, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DescriptionError(pub String);

/// A location in a file, or an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Text before the message: `saxpy.toml:7:3`, `--grid`.
    head: String,
    /// Text after the message: the line, and carets under the location.
    tail: String,
}

impl Place {
    /// Creates the location of an option or a whole file.
    pub fn of(name: &str) -> Self {
        Place { head: name.into(), tail: String::new() }
    }

    /// Creates the location of the bytes `span` in the file `name` with the contents `text`.
    pub fn span(name: &str, text: &str, span: Range<usize>) -> Self {
        // The message is placed between the two parts and has no line end.
        let pointed = point_at(name, text, Some(span), "\n");
        match pointed.split_once(": \n") {
            Some((head, tail)) => Place { head: head.into(), tail: tail.into() },
            None => Place::of(name),
        }
    }

    /// Creates an error at this location.
    pub fn fail(&self, message: impl std::fmt::Display) -> DescriptionError {
        DescriptionError(format!("{}: {message}{}", self.head, self.tail))
    }
}

/// An expression with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Expression to evaluate.
    pub expression: Expression,
    /// Location of the expression.
    pub place: Place,
}

impl Formula {
    /// Creates a constant at a location.
    pub fn constant(value: i64, place: Place) -> Self {
        Formula { expression: Expression::constant(value), place }
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// [`DescriptionError`].
    pub fn value(&self, scope: &Scope) -> Result<i64, DescriptionError> {
        self.expression.value(scope).map_err(|message| self.place.fail(message))
    }

    /// Evaluates an extent, which must be from `least` to 2^32 - 1; `what` names it in the message.
    ///
    /// # Errors
    /// [`DescriptionError`].
    pub fn extent(&self, scope: &Scope, least: u32, what: &str) -> Result<u32, DescriptionError> {
        let value = self.value(scope)?;
        u32::try_from(value).ok().filter(|&value| value >= least).ok_or_else(|| {
            let expected = format!("{what}: expected {least} to {}, found {value}", u32::MAX);
            self.place.fail(match self.expression.with(scope) {
                with if with.is_empty() => expected,
                with => format!("{expected}: `{}`{with}", self.expression.text()),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stand_at_their_place() {
        let place = Place::span("k.toml", "a = 1\nbb = 2\n", 6..8);
        assert_eq!(place.fail("too small").to_string(), "k.toml:2:1: too small\n  |\n2 | bb = 2\n  | ^^");
        assert_eq!(Place::of("--grid").fail("too small").to_string(), "--grid: too small");
    }

    #[test]
    fn extents_are_within_bounds() {
        let formula = Formula { expression: Expression::parse("size / 16").unwrap(), place: Place::of("k.toml:2") };
        let of = |size| {
            let mut scope = Scope::default();
            scope.set("size", size);
            formula.extent(&scope, 1, "the grid").map_err(|error| error.to_string())
        };
        assert_eq!(of(64), Ok(4));
        assert_eq!(of(8), Err("k.toml:2: the grid: expected 1 to 4294967295, found 0: `size / 16`, with size = 8".into()));
        assert!(of(-64).is_err() && of(1 << 40).is_err() && of(i64::MAX).is_err());
    }
}
