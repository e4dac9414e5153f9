//! Published numbers: `plans/published/*.csv`, or a file next to a plan, with a number or word per
//! line and its paper, figure and page.

use super::expression::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Published number or word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// Key of the paper.
    pub paper: String,
    /// Figure, table or section of the paper.
    pub figure: String,
    /// Page, if known.
    pub page: String,
    /// Kernel, group, class or policy.
    pub key: String,
    /// Series of a chart, or quantity.
    pub series: String,
    /// The number or word.
    pub value: String,
}

/// Published numbers that a plan's report names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Published(Vec<Number>);

impl Published {
    /// Adds the numbers of a file; the error names the invalid line.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), String> {
        let reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        for row in reader.into_deserialize() {
            self.0.push(row.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    /// Returns whether there are no published numbers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether any number belongs to this series.
    pub(super) fn has_series(&self, series: &str) -> bool {
        self.0.iter().any(|number| number.series == series)
    }

    /// Finds a number in a figure, or in any figure.
    pub fn find(&self, figure: Option<&str>, key: &str, series: &str) -> Option<Value> {
        let known = |number: &&Number| figure.is_none_or(|figure| number.figure == figure) && number.key == key && number.series == series;
        self.0.iter().find(known).map(|number| Value::read(&number.value))
    }
}
