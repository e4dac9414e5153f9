//! Names in the expressions of a kernel file (docs/reference/kernel-file.md).

use crate::input::suggest;

/// Names and their values, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(Vec<(String, i64)>);

impl Scope {
    /// Sets the value of `name`.
    pub fn set(&mut self, name: &str, value: i64) {
        self.0.push((name.into(), value));
    }

    /// Returns the value of a name, if it has one.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Returns the value of a name, or an error.
    ///
    /// # Errors
    /// A sentence with all names that have a value.
    pub fn require(&self, name: &str) -> Result<i64, String> {
        let known = || self.0.iter().map(|(known, _)| known.as_str()).collect::<Vec<_>>();
        self.get(name).ok_or_else(|| unknown(name, &known()))
    }
}

/// Formats the message that `name` is none of `known`.
pub fn unknown(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        format!("unknown name `{name}`; named numbers are not available here")
    } else {
        suggest::unknown("name", name, known)
    }
}
