//! Whole numbers that depend on a kernel's size and settings, as its file writes them: `"(size + 255) / 256"`.
//!
//! ```text
//! SUM     = PRODUCT { ("+" | "-") PRODUCT }
//! PRODUCT = FACTOR { ("*" | "/" | "%") FACTOR }
//! FACTOR  = NUMBER | NAME | "-" FACTOR | "(" SUM ")" | ("min" | "max") "(" SUM "," SUM ")"
//! ```
//!
//! Numbers are those of C's `long long`, 64 bits with a sign: `/` cuts off the fraction, `%` has the sign of its left side. What does not
//! fit is an error, and never another number.

mod parser;
mod scope;
#[cfg(test)]
mod tests;

pub use scope::{Scope, unknown};

/// An expression, in postfix order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    text: String,
    steps: Vec<Step>,
}

/// What is done next with a stack of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Number(i64),
    Name(String),
    Negate,
    Binary(Operator),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Min,
    Max,
}

impl Operator {
    /// None if the result does not fit, or there is none.
    fn of(self, left: i64, right: i64) -> Option<i64> {
        match self {
            Operator::Add => left.checked_add(right),
            Operator::Subtract => left.checked_sub(right),
            Operator::Multiply => left.checked_mul(right),
            Operator::Divide => left.checked_div(right),
            Operator::Remainder => left.checked_rem(right),
            Operator::Min => Some(left.min(right)),
            Operator::Max => Some(left.max(right)),
        }
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong with it, and what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(Expression { text: text.into(), steps: parser::steps(text)? })
    }

    /// A number.
    pub fn constant(value: i64) -> Self {
        Expression { text: value.to_string(), steps: vec![Step::Number(value)] }
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| if let Step::Name(name) = step { Some(name.as_str()) } else { None })
    }

    /// Its value.
    ///
    /// # Errors
    /// A sentence about a name without a value, a division by zero, or a number that does not fit.
    pub fn value(&self, scope: &Scope) -> Result<i64, String> {
        let mut stack: Vec<i64> = Vec::new();
        let pop = |stack: &mut Vec<i64>| stack.pop().ok_or_else(|| format!("`{}` lacks a number", self.text));
        for step in &self.steps {
            let value = match step {
                Step::Number(value) => *value,
                Step::Name(name) => scope.require(name)?,
                Step::Negate => pop(&mut stack)?.checked_neg().ok_or_else(|| self.too_large(scope))?,
                Step::Binary(operator) => {
                    let (right, left) = (pop(&mut stack)?, pop(&mut stack)?);
                    if right == 0 && matches!(operator, Operator::Divide | Operator::Remainder) {
                        return Err(format!("`{}` divides by zero{}", self.text, self.with(scope)));
                    }
                    operator.of(left, right).ok_or_else(|| self.too_large(scope))?
                }
            };
            stack.push(value);
        }
        pop(&mut stack)
    }

    fn too_large(&self, scope: &Scope) -> String {
        format!("`{}` is no number of 64 bits{}", self.text, self.with(scope))
    }

    /// `, with size = 512`: the values of its names; nothing if it has none.
    pub fn with(&self, scope: &Scope) -> String {
        let mut known: Vec<String> = Vec::new();
        for name in self.names() {
            let shown = scope.get(name).map(|value| format!("{name} = {value}"));
            known.extend(shown.filter(|shown| !known.contains(shown)));
        }
        if known.is_empty() { String::new() } else { format!(", with {}", known.join(", ")) }
    }
}
