//! Words for the initial contents of buffers.
//!
//! | word | elements |
//! |---|---|
//! | `zeros`, `ones`, `0.5`, `nan` | all the same |
//! | `iota` | 0, 1, 2, .. |
//! | `random` | any: floats in [-1, 1), integers of all values |
//! | `random:LOW:HIGH` | floats from LOW up to but without HIGH, but for rounding; integers from LOW to HIGH |
//! | `whole:LOW:HIGH` | whole numbers from LOW to HIGH, also as floats |
//! | `file:PATH` | as in the file's bytes |
//! | `graph:PART`, `picture:PART`, `reference:PART` | the part of a graph, a picture or a built-in kernel's reference ([`super::given`], [`super::reference`]) |
//!
//! Bounds of integers are expressions. A third number divides f32 and f64 values:
//! `whole:5000:30000:1000` gives thousandths.

use super::element::{Element, integer};
use super::expression::{Expression, Scope};
use crate::random::Random;
use std::path::PathBuf;

/// Permitted words, for messages.
const WORDS: &str = "zeros, ones, iota, random, random:LOW:HIGH or file:PATH; also a number, whole:LOW:HIGH, \
    or either with :DIVISOR after it";

/// Initial contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Elements built one by one.
    Made(Made),
    /// Bytes of a file.
    File(PathBuf),
    /// Words of a graph, a picture or a reference: the source and its part.
    Given(Giver, String),
}

/// Source of a buffer's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giver {
    /// The graph given to the kernel.
    Graph,
    /// The picture given to the kernel.
    Picture,
    /// The host reference of a built-in kernel.
    Reference,
}

/// Rule for building elements, before names have values.
#[derive(Clone, Debug, PartialEq)]
pub enum Made {
    /// Constant bits.
    Same(u64),
    /// The sequence 0, 1, 2, ..
    Iota,
    /// Random values over the default range.
    Random,
    /// Random floats within bounds, divided.
    Floats(f64, f64, Divisor),
    /// Random integers within bounds, divided.
    Wholes(Bound, Bound, Divisor),
}

/// Bound of a range of integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A constant.
    Number(i128),
    /// An expression.
    Expression(Expression),
}

impl Bound {
    fn expression(&self) -> Option<&Expression> {
        match self {
            Bound::Number(_) => None,
            Bound::Expression(expression) => Some(expression),
        }
    }
}

/// Optional divisor of random numbers.
pub(super) type Divisor = Option<Expression>;

impl Fill {
    /// Parses a filling word.
    ///
    /// # Errors
    /// The cause and the expected form.
    pub fn parse(element: Element, word: &str) -> Result<Self, String> {
        let made = match word {
            "zeros" => Made::Same(0),
            "ones" => Made::Same(element.whole(1)),
            "iota" => Made::Iota,
            "random" => Made::Random,
            _ => match word.split_once(':') {
                None => Made::Same(element.number(word).ok_or_else(|| format!("`{word}`: expected {WORDS}"))?),
                Some(("random", rest)) if matches!(element, Element::Float(_)) => floats(element, rest)?,
                Some(("random" | "whole", rest)) => wholes(element, rest)?,
                Some(("file", path)) if !path.is_empty() => return Ok(Fill::File(path.into())),
                Some(("graph", part)) => return Ok(Fill::Given(Giver::Graph, part.into())),
                Some(("picture", part)) => return Ok(Fill::Given(Giver::Picture, part.into())),
                Some(("reference", part)) => return Ok(Fill::Given(Giver::Reference, part.into())),
                Some(_) => return Err(format!("`{word}`: expected {WORDS}")),
            },
        };
        Ok(Fill::Made(made))
    }

    /// Returns the expressions in the rule.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let list = match self {
            Fill::Made(Made::Wholes(low, high, divisor)) => [low.expression(), high.expression(), divisor.as_ref()],
            Fill::Made(Made::Floats(_, _, divisor)) => [divisor.as_ref(), None, None],
            _ => [None; 3],
        };
        list.into_iter().flatten()
    }
}

/// Splits `LOW:HIGH` or `LOW:HIGH:DIVISOR` into bounds and divisor.
fn parts(element: Element, rest: &str) -> Result<([&str; 2], Divisor), String> {
    let mut parts = rest.splitn(3, ':');
    let (Some(low), Some(high)) = (parts.next(), parts.next()) else { return Err(malformed(element, rest)) };
    let divisor = parts.next().map(Expression::parse).transpose()?;
    if divisor.is_some() && element.divided(0, 1.0).is_none() {
        return Err(format!("`{rest}`: a divisor applies to f32 and f64, not to {element}"));
    }
    Ok(([low.trim(), high.trim()], divisor))
}

fn malformed(element: Element, bounds: &str) -> String {
    format!("`{bounds}`: expected LOW:HIGH of {element}, the lower first")
}

fn floats(element: Element, rest: &str) -> Result<Made, String> {
    let ([low, high], divisor) = parts(element, rest)?;
    match (low.parse::<f64>(), high.parse::<f64>()) {
        (Ok(low), Ok(high)) if low < high && (high - low).is_finite() => Ok(Made::Floats(low, high, divisor)),
        _ => Err(malformed(element, rest)),
    }
}

fn wholes(element: Element, rest: &str) -> Result<Made, String> {
    let ([low, high], divisor) = parts(element, rest)?;
    let bound = |text: &str| match integer(text) {
        Some(number) => Ok(Bound::Number(number)),
        None => Expression::parse(text).map(Bound::Expression),
    };
    let (low, high) = (bound(low)?, bound(high)?);
    if let (&Bound::Number(low), &Bound::Number(high)) = (&low, &high) {
        in_order(element, low, high).ok_or_else(|| malformed(element, rest))?;
    }
    Ok(Made::Wholes(low, high, divisor))
}

/// Checks bounds: both fit the type, the lower first, with at most 2^64 numbers between them.
fn in_order(element: Element, low: i128, high: i128) -> Option<(i128, i128)> {
    (low <= high && high - low <= i128::from(u64::MAX) && element.has(low) && element.has(high)).then_some((low, high))
}

/// Rule for building elements, with values for all names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Constant bits.
    Same(u64),
    /// The sequence 0, 1, 2, ..
    Iota,
    /// Random values over the default range.
    Random,
    /// Random floats within bounds, divided.
    Floats(f64, f64, Option<f64>),
    /// Random integers within bounds, divided.
    Wholes(i128, i128, Option<f64>),
}

impl Made {
    /// Evaluates the rule for an element type.
    ///
    /// # Errors
    /// A sentence about a bound or a divisor.
    pub fn rule(&self, element: Element, scope: &Scope) -> Result<Rule, String> {
        let divided = |divisor: &Divisor| match divisor.as_ref().map(|divisor| divisor.value(scope)).transpose()? {
            Some(0) => Err("the divisor of random numbers is zero".to_owned()),
            divisor => Ok(divisor.map(|divisor| divisor as f64)),
        };
        let bound = |bound: &Bound| match bound {
            Bound::Number(number) => Ok(*number),
            Bound::Expression(expression) => expression.value(scope).map(i128::from),
        };
        Ok(match self {
            Made::Same(bits) => Rule::Same(*bits),
            Made::Iota => Rule::Iota,
            Made::Random => Rule::Random,
            Made::Floats(low, high, divisor) => Rule::Floats(*low, *high, divided(divisor)?),
            Made::Wholes(low, high, divisor) => {
                let (low, high) = (bound(low)?, bound(high)?);
                let (low, high) = in_order(element, low, high).ok_or_else(|| malformed(element, &format!("{low}:{high}")))?;
                Rule::Wholes(low, high, divided(divisor)?)
            }
        })
    }
}

impl Rule {
    /// Returns the bits of an element; random ones are drawn in the order of calls.
    pub fn bits(&self, element: Element, index: u64, random: &mut Random) -> u64 {
        let (bits, divisor) = match *self {
            Rule::Same(bits) => (bits, None),
            Rule::Iota => (element.whole(index.into()), None),
            Rule::Random => (element.random(random), None),
            Rule::Floats(low, high, divisor) => (element.random_within(low, high, random), divisor),
            Rule::Wholes(low, high, divisor) => (element.random_whole(low, high, random), divisor),
        };
        divisor.and_then(|divisor| element.divided(bits, divisor)).unwrap_or(bits)
    }
}

#[cfg(test)]
#[path = "fill_tests.rs"]
mod tests;
