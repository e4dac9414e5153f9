//! Published numbers: `plans/published/*.csv`, or a file beside a plan, a number or word per line with the paper, figure and page that it is from.

use super::expression::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A published number or word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The paper.
    pub paper: String,
    /// Its figure, table or section.
    pub figure: String,
    /// The page, where it is known.
    pub page: String,
    /// What it is of: a kernel, a group, a class, a policy.
    pub key: String,
    /// The series of a chart, or the quantity.
    pub series: String,
    /// The number or word.
    pub value: String,
}

/// The published numbers that a plan's report names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Published(Vec<Number>);

impl Published {
    /// Adds those of a file; says which line is none.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), String> {
        let reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        for row in reader.into_deserialize() {
            self.0.push(row.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Of a figure, or of whichever has it.
    pub fn find(&self, figure: Option<&str>, key: &str, series: &str) -> Option<Value> {
        let known = |number: &&Number| figure.is_none_or(|figure| number.figure == figure) && number.key == key && number.series == series;
        self.0.iter().find(known).map(|number| Value::read(&number.value))
    }
}
