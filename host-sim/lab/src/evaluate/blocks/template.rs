//! Sentences with computed numbers: `{count(stp < 1)} of {count(1)} groups`, `{mean(ipc):.2}`,
//! `{best / other - 1:%}`.

use super::expression::{Expression, Value};
use super::rows::Row;
use crate::table::{number, percent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sentence with embedded expressions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Words(String),
    Of(Expression, Form),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Plain,
    Percent,
    Digits(usize),
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((words, after)) = rest.split_once('{') {
            let (inside, after) = after.split_once('}').ok_or_else(|| format!("unclosed `{{` in `{text}`"))?;
            let (expression, form) = match inside.rsplit_once(':') {
                None => (inside, Form::Plain),
                Some((expression, "%")) => (expression, Form::Percent),
                Some((expression, form)) => {
                    let digits = form.strip_prefix('.').and_then(|digits| digits.parse().ok());
                    (
                        expression,
                        Form::Digits(digits.ok_or_else(|| format!("unknown format `:{form}`; expected `:%` or, for example, `:.2`"))?),
                    )
                }
            };
            parts.push(Part::Words(words.to_owned()));
            parts.push(Part::Of(Expression::try_from(expression.to_owned())?, form));
            rest = after;
        }
        parts.push(Part::Words(rest.to_owned()));
        Ok(Template { text, parts })
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.text
    }
}

impl Template {
    /// Returns the expressions of the sentence.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| if let Part::Of(expression, _) = part { Some(expression) } else { None })
    }

    /// Returns the sentence with the numbers of these rows.
    pub fn of(&self, rows: &[&Row<'_>]) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Of(expression, form) => match (expression.of(rows, rows), form) {
                (Some(Value::Number(value)), Form::Percent) => percent(Some(value)),
                (Some(Value::Number(value)), Form::Digits(digits)) => number(Some(value), *digits),
                (Some(value), _) => value.to_string(),
                (None, _) => crate::table::DASH.to_owned(),
            },
        };
        self.parts.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::blocks::rows::tests::rows;

    #[test]
    fn numbers_stand_in_sentences() {
        let rows = rows();
        let rows: Vec<&Row<'_>> = rows.iter().collect();
        let says = |text: &str| Template::try_from(text.to_owned()).unwrap().of(&rows);
        assert_eq!(says("{count(ipc > 5)} of {count(1)}, {mean(ipc):.2}, {1 / 4:%}, {quack}"), "1 of 2, 5.00, 25.0 %, -");
        for wrong in ["{ipc", "{ipc:3}", "{1 +}"] {
            assert!(Template::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
