//! Expressions over results, as plans have them in their report's blocks: `ipc / base.ipc`, `count(used.bound_by == paper.bound_by)`.
//!
//! ```text
//! or       = and { "or" and }          the first if it holds, else the second: `paper.name or kernel`
//! and      = compare { "and" compare } the second if the first holds, else 0: `ipc > 1 and 'fast' or 'slow'`
//! compare  = sum [ ("==" | "!=" | "<=" | ">=" | "<" | ">") sum ]
//! sum      = product { ("+" | "-") product }        blanks around the signs: a name may have a hyphen
//! product  = unary { ("*" | "/") unary }
//! unary    = "-" unary | number | 'text' | name | function "(" or { "," or } ")" | "(" or ")"
//! ```
//!
//! A name is a field of `results.json` in a row, with dots between: `memory.l1_miss_rate`. A function takes a number of every row.

use super::rows::Row;
use crate::evaluate::paired::Ratio;
use crate::evaluate::statistics::{arithmetic, geometric, spearman, threshold};
use crate::table::{change, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// What an expression comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number; of what holds 1, of what does not 0.
    Number(f64),
    /// A name, a configuration.
    Text(String),
}

impl Value {
    /// The number that it is.
    pub fn number(&self) -> Option<f64> {
        if let Value::Number(number) = self { Some(*number) } else { None }
    }

    /// A number where the text is one.
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

/// An expression: its text, and what that says.
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

/// What takes a number of every row; a last argument says of which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Count,
    Sum,
    Mean,
    Geomean,
    Min,
    Max,
    First,
    /// The argument over all rows of the panel, and not only those of a bar, point or line of a table.
    All,
    /// `paper(figure, key, series)`: a published number.
    Paper,
    /// Rank correlation of both arguments over the rows: Spearman's rho.
    Spearman,
    /// The argument over all rows of the panel but this one.
    Others,
    /// How many values the argument has.
    Distinct,
    /// The first argument where the second is largest.
    Best,
    /// The value of the first argument above which the second holds as often as can be, and below which it does not.
    Threshold,
    /// The size of a number.
    Abs,
    /// The lower end of the 95 % interval of the geometric mean of ratios (Student's t of their logarithms).
    Low,
    /// The upper end.
    High,
    /// The geometric mean of ratios as a change, with a question mark where its interval holds 1, or there is none.
    Effect,
    /// A ratio as a change: `+3.2 %`.
    Change,
    /// A number in groups of three digits, without decimals.
    Grouped,
}

const FUNCTIONS: [(&str, Function); 20] = [
    ("count", Function::Count),
    ("sum", Function::Sum),
    ("mean", Function::Mean),
    ("geomean", Function::Geomean),
    ("min", Function::Min),
    ("max", Function::Max),
    ("first", Function::First),
    ("all", Function::All),
    ("paper", Function::Paper),
    ("spearman", Function::Spearman),
    ("others", Function::Others),
    ("distinct", Function::Distinct),
    ("best", Function::Best),
    ("threshold", Function::Threshold),
    ("abs", Function::Abs),
    ("low", Function::Low),
    ("high", Function::High),
    ("effect", Function::Effect),
    ("change", Function::Change),
    ("grouped", Function::Grouped),
];

/// Binary operations, those that bind least first; words before blanks only.
const LEVELS: [&[(&str, Operation)]; 5] = [
    &[("or ", Operation::Or)],
    &[("and ", Operation::And)],
    &[
        ("==", Operation::Equal),
        ("!=", Operation::Unequal),
        ("<=", Operation::AtMost),
        (">=", Operation::AtLeast),
        ("<", Operation::Below),
        (">", Operation::Above),
    ],
    &[("+", Operation::Plus), ("-", Operation::Minus)],
    &[("*", Operation::Times), ("/", Operation::Over)],
];

/// Most operations and parentheses within each other.
const DEEPEST: usize = 64;

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parser = Parser { rest: text.trim(), depth: 0 };
        let node = parser.level(0)?;
        match parser.rest {
            "" => Ok(Expression { node, text }),
            rest => Err(format!("`{text}`: nothing is expected at `{rest}`")),
        }
    }
}

impl From<Expression> for String {
    fn from(expression: Expression) -> String {
        expression.text
    }
}

impl Expression {
    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that it takes.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.node.names(&mut names);
        names
    }

    /// Of some rows, of which a name means the first, among all those of a panel.
    pub fn of(&self, rows: &[&Row<'_>], all: &[&Row<'_>]) -> Option<Value> {
        self.node.of(rows, all)
    }

    /// Of one row.
    pub fn of_one(&self, row: &Row<'_>) -> Option<Value> {
        self.node.of(&[row], &[row])
    }

    /// Whether it holds of a row: what has no value does not.
    pub fn holds(&self, row: &Row<'_>) -> bool {
        self.of_one(row).is_some_and(|value| value.holds())
    }
}

impl Node {
    /// The names that it takes.
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

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl Parser<'_> {
    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.map_or(self.rest, str::trim_start);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("`{token}` is expected at `{}`", self.rest)) }
    }

    fn level(&mut self, level: usize) -> Result<Node, String> {
        let Some(operations) = LEVELS.get(level) else { return self.unary() };
        let mut node = self.level(level + 1)?;
        while let Some((_, operation)) = operations.iter().find(|(sign, _)| self.take(sign)) {
            node = Node::Both(*operation, Box::new((node, self.level(level + 1)?)));
        }
        Ok(node)
    }

    /// What is before the first character that is none of these.
    fn while_any(&mut self, of: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        taken.to_owned()
    }

    fn unary(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} operations within each other"));
        }
        let node = self.operand();
        self.depth -= 1;
        node
    }

    fn operand(&mut self) -> Result<Node, String> {
        if self.take("-") {
            return Ok(Node::Both(Operation::Times, Box::new((Node::Number(-1.0), self.unary()?))));
        }
        if self.take("(") {
            let node = self.level(0)?;
            self.expect(")")?;
            return Ok(node);
        }
        if let Some(rest) = self.rest.strip_prefix('\'') {
            let (text, rest) = rest.split_once('\'').ok_or("a text has no end")?;
            self.rest = rest.trim_start();
            return Ok(Node::Text(text.to_owned()));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = self.while_any(|c| c.is_ascii_digit() || c == '.' || c == '_');
            return digits.replace('_', "").parse().map(Node::Number).map_err(|_| format!("`{digits}` is no number"));
        }
        let name = self.while_any(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if name.is_empty() {
            return Err(format!("a number, a name or a text is expected at `{}`", self.rest));
        }
        if !self.take("(") {
            return Ok(Node::Name(name));
        }
        let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
        let (_, function) = known.ok_or_else(|| {
            let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
            mias_workloads::input::suggest::unknown("function", &name, &names)
        })?;
        let mut arguments = vec![self.level(0)?];
        while self.take(",") {
            arguments.push(self.level(0)?);
        }
        self.expect(")")?;
        Ok(Node::Call(*function, arguments))
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

    /// The rows: kernels `mm` and `fwt` alone with IPCs of 2 and 8, memory shares of a quarter and none known.
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
        // Ratios of 2 and 8: an interval of the mean of their logarithms reaches 12.706 times their difference's half beyond it.
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
            ("1 +", "expected at ``"),
            ("(1", "`)` is expected"),
            ("1 2", "nothing is expected at `2`"),
            ("'open", "no end"),
            ("meen(ipc)", "did you mean `mean`"),
            ("1.2.3", "no number"),
        ] {
            let error = Expression::try_from(text.to_owned()).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert!(Expression::try_from("(".repeat(1_000)).unwrap_err().contains("within each other"));
    }
}
