//! Integer expressions over a kernel's size and settings, as in kernel files: `"(size + 255) /
//! 256"`.
//!
//! ```text
//! SUM     = PRODUCT { ("+" | "-") PRODUCT }
//! PRODUCT = FACTOR { ("*" | "/" | "%") FACTOR }
//! FACTOR  = NUMBER | NAME | "-" FACTOR | "(" SUM ")" | ("min" | "max") "(" SUM "," SUM ")"
//! ```
//!
//! Numbers are those of C's `long long`, 64 bits with a sign. `/` truncates, and `%` has the sign
//! of its left operand. An overflow is an error.

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

/// Step of a stack GPU.
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
    /// Returns the result of the operator; `None` on overflow or if it is undefined.
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
    /// Parses an expression.
    ///
    /// # Errors
    /// The cause and the expected form.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(Expression { text: text.into(), steps: parser::steps(text)? })
    }

    /// Creates an expression with a constant value.
    pub fn constant(value: i64) -> Self {
        Expression { text: value.to_string(), steps: vec![Step::Number(value)] }
    }

    /// Returns the text as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the names in the expression.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().filter_map(|step| if let Step::Name(name) = step { Some(name.as_str()) } else { None })
    }

    /// Evaluates the expression.
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
        format!("`{}` is not a number of 64 bits{}", self.text, self.with(scope))
    }

    /// Returns the values of the names as text, as in `, with size = 512`; empty without names.
    pub fn with(&self, scope: &Scope) -> String {
        let mut known: Vec<String> = Vec::new();
        for name in self.names() {
            let shown = scope.get(name).map(|value| format!("{name} = {value}"));
            known.extend(shown.filter(|shown| !known.contains(shown)));
        }
        if known.is_empty() { String::new() } else { format!(", with {}", known.join(", ")) }
    }
}
