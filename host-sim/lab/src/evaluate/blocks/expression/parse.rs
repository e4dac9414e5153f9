//! The grammar of expressions.
//!
//! ```text
//! or       = and { "or" and }          the first if it holds, else the second: `paper.name or kernel`
//! and      = compare { "and" compare } the second if the first holds, else 0: `ipc > 1 and 'fast' or 'slow'`
//! compare  = sum [ ("==" | "!=" | "<=" | ">=" | "<" | ">") sum ]
//! sum      = product { ("+" | "-") product }        blanks around the signs: a name may have a hyphen
//! product  = unary { ("*" | "/") unary }
//! unary    = "-" unary | number | 'text' | name | function "(" or { "," or } ")" | "(" or ")"
//! ```

use super::{Function, Node, Operation};
use mias_workloads::input::suggest;

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

/// Binary operators, lowest precedence first; operators that are words need a following blank.
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

/// Maximum nesting of operations and parentheses.
const DEEPEST: usize = 64;

/// Parses a complete text as an expression.
pub(super) fn whole(text: &str) -> Result<Node, String> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let node = parser.level(0)?;
    match parser.rest {
        "" => Ok(node),
        rest => Err(format!("`{text}`: expected the end at `{rest}`")),
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
        if self.take(token) { Ok(()) } else { Err(format!("expected `{token}` at `{}`", self.rest)) }
    }

    fn level(&mut self, level: usize) -> Result<Node, String> {
        let Some(operations) = LEVELS.get(level) else { return self.unary() };
        let mut node = self.level(level + 1)?;
        while let Some((_, operation)) = operations.iter().find(|(sign, _)| self.take(sign)) {
            node = Node::Both(*operation, Box::new((node, self.level(level + 1)?)));
        }
        Ok(node)
    }

    /// Consumes characters that satisfy the predicate.
    fn while_any(&mut self, of: impl Fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        taken.to_owned()
    }

    fn unary(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} nested operations"));
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
            let (text, rest) = rest.split_once('\'').ok_or("unterminated text")?;
            self.rest = rest.trim_start();
            return Ok(Node::Text(text.to_owned()));
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = self.while_any(|c| c.is_ascii_digit() || c == '.' || c == '_');
            return digits.replace('_', "").parse().map(Node::Number).map_err(|_| format!("`{digits}` is not a number"));
        }
        let name = self.while_any(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if name.is_empty() {
            return Err(format!("expected a number, a name or a text at `{}`", self.rest));
        }
        if !self.take("(") {
            return Ok(Node::Name(name));
        }
        let known = FUNCTIONS.iter().find(|(known, _)| *known == name);
        let (_, function) = known.ok_or_else(|| {
            let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
            suggest::unknown("function", &name, &names)
        })?;
        let mut arguments = vec![self.level(0)?];
        while self.take(",") {
            arguments.push(self.level(0)?);
        }
        self.expect(")")?;
        Ok(Node::Call(*function, arguments))
    }
}
