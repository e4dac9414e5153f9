//! Expressions over results in the report blocks of plans: `ipc / base.ipc`, `count(used.bound_by
//! == paper.bound_by)`.
//!
//! A name is a dotted field of `results.json` in a row: `memory.l1_miss_rate`. A function
//! aggregates over rows.

mod parse;

use super::rows::Row;
use crate::evaluate::paired::Ratio;
use crate::evaluate::statistics::{arithmetic, geometric, spearman, threshold};
use crate::table::{change, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Number; true is 1, false is 0.
    Number(f64),
    /// Name or configuration.
    Text(String),
}

impl Value {
    /// Returns the number, if it is one.
    pub fn number(&self) -> Option<f64> {
        if let Value::Number(number) = self { Some(*number) } else { None }
    }

    /// Parses a number, or keeps the text.
    pub fn read(text: &str) -> Self {
        text.parse().map_or_else(|_| Value::Text(text.to_owned()), Value::Number)
    }

    pub(super) fn holds(&self) -> bool {
        *self != Value::Number(0.0)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// Parsed expression with its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Expression {
    text: String,
    node: Node,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Text(String),
    Name(String),
    Call(Function, Vec<Node>),
    Both(Operation, Box<(Node, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Or,
    And,
    Equal,
    Unequal,
    AtMost,
    AtLeast,
    Below,
    Above,
    Plus,
    Minus,
    Times,
    Over,
}

/// Functions, most of them aggregates over rows; a last argument filters the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Count,
    Sum,
    Mean,
    Geomean,
    Min,
    Max,
    First,
    /// Argument over all rows of the panel, instead of those of a bar, point or line of a table.
    All,
    /// Published number: `paper(figure, key, series)`.
    Paper,
    /// Spearman's rank correlation of both arguments over the rows.
    Spearman,
    /// Argument over all rows of the panel except this one.
    Others,
    /// Number of distinct values of the argument.
    Distinct,
    /// First argument in the row where the second is largest.
    Best,
    /// Threshold on the first argument that best separates rows for which the second holds from the
    /// others.
    Threshold,
    /// Absolute value of a number.
    Abs,
    /// Lower end of the 95 % interval of the geometric mean of ratios (Student's t of their
    /// logarithms).
    Low,
    /// Upper end of the 95 % interval of the geometric mean of ratios.
    High,
    /// Geometric mean of ratios as a change, with a question mark if its interval contains 1 or
    /// does not exist.
    Effect,
    /// Ratio as a change: `+3.2 %`.
    Change,
    /// Number in groups of three digits, without decimals.
    Grouped,
}

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let node = parse::whole(&text)?;
        Ok(Expression { node, text })
    }
}

impl From<Expression> for String {
    fn from(expression: Expression) -> String {
        expression.text
    }
}

impl Expression {
    /// Returns the text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the names that the expression uses.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.node.names(&mut names);
        names
    }

    /// Evaluates over some rows among all rows of a panel; a plain name refers to the first row.
    pub fn of(&self, rows: &[&Row<'_>], all: &[&Row<'_>]) -> Option<Value> {
        self.node.of(rows, all)
    }

    /// Evaluates for one row.
    pub fn of_one(&self, row: &Row<'_>) -> Option<Value> {
        self.node.of(&[row], &[row])
    }

    /// Returns whether the expression holds for a row; a missing value does not.
    pub fn holds(&self, row: &Row<'_>) -> bool {
        self.of_one(row).is_some_and(|value| value.holds())
    }
}

impl Node {
    /// Collects the names that the node uses.
    fn names<'n>(&'n self, names: &mut Vec<&'n str>) {
        match self {
            Node::Name(name) => names.push(name),
            Node::Call(_, arguments) => arguments.iter().for_each(|argument| argument.names(names)),
            Node::Both(_, both) => [&both.0, &both.1].into_iter().for_each(|node| node.names(names)),
            Node::Number(_) | Node::Text(_) => {}
        }
    }

    fn of(&self, rows: &[&Row<'_>], all: &[&Row<'_>]) -> Option<Value> {
        match self {
            Node::Number(number) => Some(Value::Number(*number)),
            Node::Text(text) => Some(Value::Text(text.clone())),
            Node::Name(name) => rows.first()?.get(name),
            Node::Call(Function::All, arguments) => arguments.first()?.of(all, all),
            Node::Call(Function::Paper, arguments) => {
                let words: Option<Vec<String>> = arguments.iter().map(|argument| Some(argument.of(rows, all)?.to_string())).collect();
                let [figure, key, series] = &words?[..] else { return None };
                rows.first()?.published.find(Some(figure), key, series)
            }
            Node::Call(Function::Others, arguments) => {
                let this = *rows.first()?;
                let others: Vec<&Row<'_>> = all.iter().copied().filter(|row| !std::ptr::eq(*row, this)).collect();
                arguments.first()?.of(&others, all)
            }
            Node::Call(function @ (Function::Abs | Function::Change | Function::Grouped), arguments) => {
                let number = arguments.first()?.of(rows, all)?.number()?;
                Some(match function {
                    Function::Abs => Value::Number(number.abs()),
                    Function::Change => Value::Text(change(number)),
                    _ => Value::Text(grouped(number.round() as u64)),
                })
            }
            Node::Call(function @ (Function::Spearman | Function::Threshold | Function::Best), arguments) => {
                let number = |at: usize, row: &Row<'_>| arguments.get(at)?.of(&[row], all)?.number();
                if *function == Function::Best {
                    let wanted =
                        |row: &&&Row<'_>| arguments.get(2).is_none_or(|node| node.of(&[row], all).is_some_and(|value| value.holds()));
                    let known = rows.iter().filter(wanted).filter_map(|row| Some((number(1, row)?, *row)));
                    let (_, best) = known.reduce(|best, one| if one.0 > best.0 { one } else { best })?;
                    return arguments.first()?.of(&[best], all);
                }
                let both: Vec<(f64, f64)> = rows.iter().filter_map(|row| Some((number(0, row)?, number(1, row)?))).collect();
                match function {
                    Function::Threshold => threshold(&both.iter().map(|&(value, holds)| (value, holds != 0.0)).collect::<Vec<_>>()),
                    _ => {
                        let (first, second): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
                        spearman(&first, &second)
                    }
                }
                .map(Value::Number)
            }
            Node::Call(function, arguments) => {
                let (of, of_which) = (arguments.first()?, arguments.get(1));
                let one = |node: &Node, row: &Row<'_>| node.of(&[row], all);
                let wanted = rows.iter().filter(|row| of_which.is_none_or(|node| one(node, row).is_some_and(|value| value.holds())));
                let values = wanted.filter_map(|row| one(of, row));
                if *function == Function::First {
                    return { values }.next();
                }
                if *function == Function::Distinct {
                    let different: BTreeSet<String> = values.map(|value| value.to_string()).collect();
                    return Some(Value::Number(different.len() as f64));
                }
                let values: Vec<f64> = values.filter_map(|value| value.number()).collect();
                if let Function::Low | Function::High | Function::Effect = function {
                    let ratio = Ratio::of(&values.iter().map(|value| (*value, 1.0)).collect::<Vec<_>>())?;
                    return Some(match function {
                        Function::Effect => Value::Text(ratio.told()),
                        Function::Low => Value::Number(ratio.interval?.0),
                        _ => Value::Number(ratio.interval?.1),
                    });
                }
                match function {
                    Function::Count => Some(values.iter().filter(|value| **value != 0.0).count() as f64),
                    Function::Sum => (!values.is_empty()).then(|| values.iter().sum()),
                    Function::Mean => arithmetic(&values),
                    Function::Geomean => geometric(&values),
                    Function::Min => values.into_iter().reduce(f64::min),
                    _ => values.into_iter().reduce(f64::max),
                }
                .map(Value::Number)
            }
            Node::Both(operation, both) => {
                let (a, b) = (|| both.0.of(rows, all), || both.1.of(rows, all));
                let number = |of: fn(f64, f64) -> f64| {
                    let value = of(a()?.number()?, b()?.number()?);
                    value.is_finite().then_some(Value::Number(value))
                };
                let truth = |holds: bool| Some(Value::Number(f64::from(u8::from(holds))));
                match operation {
                    Operation::Or => match a() {
                        Some(value) if value.holds() => Some(value),
                        other => b().or(other),
                    },
                    Operation::And => match a() {
                        Some(value) if value.holds() => b(),
                        _ => truth(false),
                    },
                    Operation::Equal => truth(a()? == b()?),
                    Operation::Unequal => truth(a()? != b()?),
                    Operation::AtMost => number(|a, b| f64::from(u8::from(a <= b))),
                    Operation::AtLeast => number(|a, b| f64::from(u8::from(a >= b))),
                    Operation::Below => number(|a, b| f64::from(u8::from(a < b))),
                    Operation::Above => number(|a, b| f64::from(u8::from(a > b))),
                    Operation::Plus => match (a()?, b()?) {
                        (Value::Number(_), Value::Number(_)) => number(|a, b| a + b),
                        (a, b) => Some(Value::Text(format!("{a}{b}"))),
                    },
                    Operation::Minus => number(|a, b| a - b),
                    Operation::Times => number(|a, b| a * b),
                    Operation::Over => number(|a, b| a / b),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::blocks::rows::tests::rows;

    fn value(text: &str) -> Option<Value> {
        let rows = rows();
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        Expression::try_from(text.to_owned()).unwrap().of(&rows, &rows)
    }

    /// Rows: kernels `mm` and `fwt` alone with IPCs of 2 and 8; memory shares of a quarter and
    /// unknown.
    #[test]
    fn arithmetic_is_that_of_school() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("8 / 2 / 2", 2.0),
            ("2 - -1", 3.0),
            ("1 < 2 and 2 < 1", 0.0),
            ("ipc", 2.0),
            ("mean(ipc)", 5.0),
            ("geomean(ipc)", 4.0),
            ("max(ipc) / min(ipc)", 4.0),
            ("count(ipc > 1)", 2.0),
            ("sum(ipc, kernel == 'fwt')", 8.0),
            ("memory.l1_miss_rate or 1", 0.25),
            ("max(memory.l1_miss_rate or 1)", 1.0),
            ("count(memory.l1_miss_rate)", 1.0),
        ] {
            assert_eq!(value(text), Some(Value::Number(expected)), "{text}");
        }
        assert_eq!(value("first(kernel, ipc > 5)"), Some(Value::Text("fwt".to_owned())));
        assert_eq!((value("nothing.of-the-kind"), value("ipc / 0"), value("kernel - 1")), (None, None, None));
        assert_eq!((value("distinct(kernel)"), value("distinct(max_tbs, ipc > 1)")), (Some(Value::Number(2.0)), Some(Value::Number(1.0))));
        assert_eq!((value("best(kernel, ipc)"), value("others(max(ipc))")), (Some(Value::Text("fwt".into())), Some(Value::Number(8.0))));
        assert_eq!((value("threshold(ipc, kernel == 'fwt')"), value("abs(2 - 5)")), (Some(Value::Number(5.0)), Some(Value::Number(3.0))));
        assert_eq!((value("best(kernel, ipc, ipc < 5)"), value("low(ipc, ipc > 5)")), (Some(Value::Text("mm".into())), None));
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        assert_eq!((value("change(ipc / 4)"), value("grouped(1234567.4)")), (text("\u{2212}50.0 %"), text("1,234,567")));
        // Ratios of 2 and 8: the interval of the mean logarithm extends 12.706 times half their
        // difference on either side.
        assert_eq!((value("effect(ipc)"), value("effect(ipc / ipc)")), (text("+300.0 % ?"), text("+0.0 % ?")));
        let high = 4.0 * (12.706 * 4_f64.ln() / 2.0).exp();
        assert!(value("high(ipc)").and_then(|value| value.number()).is_some_and(|value| (value / high - 1.0).abs() < 1e-9));
        assert_eq!((value("kernel + ': ' + ipc"), value("ipc > 9 and 'fast' or 'slow'")), (text("mm: 2"), text("slow")));
        assert_eq!(
            (value("kernel == 'fwt' or kernel == 'mm'"), value("spearman(ipc, 10 - ipc)")),
            (Some(Value::Number(1.0)), Some(Value::Number(-1.0)))
        );
    }

    #[test]
    fn what_is_no_expression_is_refused_with_the_place() {
        for (text, says) in [
            ("1 +", "expected a number, a name or a text at ``"),
            ("(1", "expected `)`"),
            ("1 2", "expected the end at `2`"),
            ("'open", "unterminated text"),
            ("meen(ipc)", "did you mean `mean`"),
            ("1.2.3", "not a number"),
        ] {
            let error = Expression::try_from(text.to_owned()).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(Expression::try_from("(".repeat(1_000)).unwrap_err().contains("nested operations"));
    }
}
