//! What the names in the expressions of a kernel's file stand for (docs/guide/kernel-file.md).

use crate::input::suggest;

/// Names and their values, in the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(Vec<(String, i64)>);

impl Scope {
    /// Gives `name` a value.
    pub fn set(&mut self, name: &str, value: i64) {
        self.0.push((name.into(), value));
    }

    /// The value of a name, if it has one.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The value of a name.
    ///
    /// # Errors
    /// A sentence with all names that have one.
    pub fn require(&self, name: &str) -> Result<i64, String> {
        let known = || self.0.iter().map(|(known, _)| known.as_str()).collect::<Vec<_>>();
        self.get(name).ok_or_else(|| unknown(name, &known()))
    }
}

/// That `name` is none of `known`.
pub fn unknown(name: &str, known: &[&str]) -> String {
    if known.is_empty() { format!("unknown name `{name}`; numbers have no names here") } else { suggest::unknown("name", name, known) }
}
