use super::*;
use proptest::prelude::*;

fn scope() -> Scope {
    let mut scope = Scope::default();
    for (name, value) in [("size", 512), ("bodies", 768), ("least", i64::MIN), ("most", i64::MAX)] {
        scope.set(name, value);
    }
    scope
}

fn value(text: &str) -> Result<i64, String> {
    Expression::parse(text)?.value(&scope())
}

#[test]
fn arithmetic_is_that_of_c() {
    for (text, expected) in [
        ("size", 512),
        ("0x10 + 1_000", 1016),
        ("1 + 2 * 3 - 4", 3),
        ("(1 + 2) * 3", 9),
        ("100 / 7 / 2", 7),
        ("10 - 3 - 2", 5),
        ("-7 / 2", -3),
        ("-7 % 4", -3),
        ("7 % -4", 3),
        ("- -3", 3),
        ("2*-3", -6),
        ("(size+255)/256*256", 512),
        ("max(61440 / bodies, 1) * bodies", 61_440),
        ("min(size, bodies) + max ( 1, min(2,3) )", 514),
        ("most", i64::MAX),
        ("9223372036854775807 + least", -1),
        ("-9223372036854775807 - 1", i64::MIN),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
}

#[test]
fn mistakes_are_explained() {
    for (text, message) in [
        ("", "``: expected a number, a name or `(`, found its end"),
        ("size /", "`size /`: expected a number, a name or `(`, found its end"),
        ("size 2", "`size 2`: expected an operator, + - * / or %, found `2`"),
        ("(size", "`(size`: expected `)`, found its end"),
        ("size)", "`size)`: expected an operator, + - * / or %, found `)`"),
        ("2.5", "`2.5`: expected an operator, + - * / or %, found `.5`"),
        ("max(1)", "`max(1)`: expected `,`, found `)`"),
        ("12ab", "`12ab`: `12ab` is not a number of 64 bits"),
        ("9223372036854775808", "`9223372036854775808`: `9223372036854775808` is not a number of 64 bits"),
        ("sise", "unknown name `sise`; did you mean `size`? known: size, bodies, least, most"),
        ("größe", "`größe`: expected an operator, + - * / or %, found `öße`"),
        ("size / (bodies - 768)", "`size / (bodies - 768)` divides by zero, with size = 512, bodies = 768"),
        ("1 % 0", "`1 % 0` divides by zero"),
        ("most + 1", "`most + 1` is not a number of 64 bits, with most = 9223372036854775807"),
        ("-least", "`-least` is not a number of 64 bits, with least = -9223372036854775808"),
        ("least / -1", "`least / -1` is not a number of 64 bits, with least = -9223372036854775808"),
    ] {
        assert_eq!(value(text), Err(message.into()), "{text}");
    }
    let deep = "(".repeat(100) + "1" + &")".repeat(100);
    assert!(value(&deep).unwrap_err().ends_with("more than 32 nested parentheses or signs"));
}

/// An expression as a tree, evaluated in 128 bits by other code.
#[derive(Clone, Debug)]
enum Tree {
    Number(i64),
    Name(&'static str),
    Negate(Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
}

impl Tree {
    /// Formats the expression with all parentheses, and with `gap` as space.
    fn text(&self, gap: &str) -> String {
        match self {
            Tree::Number(number) => number.to_string(),
            Tree::Name(name) => (*name).to_owned(),
            Tree::Negate(of) => format!("-{gap}({})", of.text(gap)),
            Tree::Binary(function @ ("min" | "max"), left, right) => format!("{function}({},{gap}{})", left.text(gap), right.text(gap)),
            Tree::Binary(operator, left, right) => format!("({}){gap}{operator}{gap}({})", left.text(gap), right.text(gap)),
        }
    }

    /// Computes the value; none if any part of it has no value in 64 bits.
    fn value(&self) -> Option<i128> {
        let exact = match self {
            Tree::Number(number) => i128::from(*number),
            Tree::Name(name) => i128::from(scope().get(name)?),
            Tree::Negate(of) => -of.value()?,
            Tree::Binary(operator, left, right) => {
                let (left, right) = (left.value()?, right.value()?);
                match *operator {
                    "+" => left + right,
                    "-" => left - right,
                    "*" => left * right,
                    "/" | "%" if right == 0 => return None,
                    "/" => left / right,
                    // The least number over -1 overflows in 64 bits, its remainder too.
                    "%" if right == -1 && left == i128::from(i64::MIN) => return None,
                    "%" => left % right,
                    "min" => left.min(right),
                    _ => left.max(right),
                }
            }
        };
        i64::try_from(exact).ok().map(i128::from)
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let number = prop_oneof![0..20i64, any::<i64>().prop_map(|number| number.checked_abs().unwrap_or(0))];
    let leaf =
        prop_oneof![number.prop_map(Tree::Number), prop::sample::select(vec!["size", "bodies", "least", "most"]).prop_map(Tree::Name)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let operator = prop::sample::select(vec!["+", "-", "*", "/", "%", "min", "max"]);
        prop_oneof![
            1 => inner.clone().prop_map(|of| Tree::Negate(Box::new(of))),
            6 => (operator, inner.clone(), inner).prop_map(|(operator, left, right)| Tree::Binary(operator, Box::new(left), Box::new(right))),
        ]
    })
}

proptest! {
    #[test]
    fn values_are_those_of_128_bits(tree in trees(), gap in " {0,2}") {
        let found = value(&tree.text(&gap));
        match tree.value() {
            Some(expected) => prop_assert_eq!(found.map(i128::from), Ok(expected)),
            None => {
                let message = found.unwrap_err();
                prop_assert!(message.contains("divides by zero") || message.contains("is not a number of 64 bits"), "{}", message);
            }
        }
    }

    /// Without parentheses: products before sums, from the left, held against a sum of products.
    #[test]
    fn products_go_before_sums(terms in prop::collection::vec((any::<bool>(), prop::collection::vec(1i64..50, 1..4)), 1..6)) {
        let (mut text, mut expected) = ("0".to_owned(), 0i128);
        for (minus, factors) in terms {
            let product: i128 = factors.iter().map(|&factor| i128::from(factor)).product();
            let factors: Vec<String> = factors.iter().map(i64::to_string).collect();
            text += &format!(" {} {}", if minus { '-' } else { '+' }, factors.join("*"));
            expected += if minus { -product } else { product };
        }
        prop_assert_eq!(value(&text).map(i128::from), Ok(expected));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[ -~ä]{0,40}") {
        if let Ok(expression) = Expression::parse(&text) {
            let _ = expression.value(&scope());
        }
    }
}
