//! TOML with positions: values know their place in the file, so that every error can point to it.

use super::PlanError;
use super::keys::RANGE;
use mias_workloads::input::suggest;
use mias_workloads::input::toml_text::{parse_error, point_at};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Source text of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// Name in messages.
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl<'a> Source<'a> {
    /// Parses the file into its syntax tree.
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'a>>, PlanError> {
        DeTable::parse(self.text).map_err(|error| PlanError(parse_error(self.file, self.text, &error)))
    }

    pub(super) fn fail(&self, at: Range<usize>, message: &str) -> PlanError {
        PlanError(point_at(self.file, self.text, Some(at), message))
    }
}

/// Position of a value, for later messages.
#[derive(Clone, Debug)]
pub struct Place {
    file: String,
    text: Arc<str>,
    span: Range<usize>,
    key: String,
}

impl Place {
    /// Formats a message that points to the position.
    #[must_use]
    pub fn says(&self, message: &str) -> String {
        point_at(&self.file, &self.text, Some(self.span.clone()), &format!("{}: {message}", self.key))
    }
}

/// Table with known keys only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    source: Source<'a>,
    entries: &'a DeTable<'a>,
    span: (usize, usize),
    /// Description of the table, for messages.
    what: &'static str,
}

impl<'a> Table<'a> {
    /// Creates a table.
    ///
    /// # Errors
    /// An unknown key.
    pub(super) fn new(
        source: Source<'a>,
        entries: &'a Spanned<DeTable<'a>>,
        what: &'static str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, PlanError> {
        Table::of(source, entries.get_ref(), entries.span(), what, known)
    }

    fn of(
        source: Source<'a>,
        entries: &'a DeTable<'a>,
        span: Range<usize>,
        what: &'static str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Result<Self, PlanError> {
        let known: Vec<&str> = known.into_iter().collect();
        match entries.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            Some(key) => Err(source.fail(key.span(), &format!("{what}: {}", suggest::unknown("key", key.get_ref(), &known)))),
            None => Ok(Table { source, entries, span: (span.start, span.end), what }),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        let (key, value) = self.entries.get_key_value(key)?;
        Some(Value { source: self.source, key: key.get_ref(), value })
    }

    pub(super) fn require(&self, key: &str) -> Result<Value<'a>, PlanError> {
        self.get(key).ok_or_else(|| self.fail(&format!("{} has no `{key}`", self.what)))
    }

    /// Returns an error about the table as a whole.
    pub(super) fn fail(&self, message: &str) -> PlanError {
        self.source.fail(self.span.0..self.span.1, message)
    }
}

/// Rejects duplicates in a list, compared by parsed value.
pub(super) fn once<T: PartialEq + std::fmt::Display>(written: &[Value<'_>], values: impl Iterator<Item = T>) -> Result<(), PlanError> {
    let mut before: Vec<T> = Vec::new();
    for (place, value) in written.iter().zip(values) {
        if before.contains(&value) {
            return Err(place.fail(&format!("{value} is already listed: leave one out")));
        }
        before.push(value);
    }
    Ok(())
}

/// Value under a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'a> {
    source: Source<'a>,
    pub(super) key: &'a str,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn fail(&self, message: &str) -> PlanError {
        self.source.fail(self.value.span(), &format!("{}: {message}", self.key))
    }

    /// Returns the position of the value.
    pub(super) fn place(&self) -> Place {
        Place { file: self.source.file.into(), text: self.source.text.into(), span: self.value.span(), key: self.key.into() }
    }

    fn expected(&self, what: &str) -> PlanError {
        self.fail(&format!("expected {what}, found {}", self.value.get_ref().type_str()))
    }

    pub(super) fn text(&self) -> Result<&'a str, PlanError> {
        self.value.get_ref().as_str().ok_or_else(|| self.expected("a text"))
    }

    pub(super) fn flag(&self) -> Result<bool, PlanError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.expected("true or false"))
    }

    /// Resolves a word of the file: one of `built_in`, else a path relative to the file's own
    /// folder. Words count as paths if they look like one or such a file exists.
    pub(super) fn beside(&self, word: &str, built_in: &[&str]) -> String {
        let (folder, path) = (Path::new(self.source.file).parent().unwrap_or(Path::new("")), Path::new(word));
        let beside = folder.join(path);
        let is_path = path.components().count() > 1 || path.extension().is_some() || beside.is_file();
        if is_path && !built_in.contains(&word) { beside.display().to_string() } else { word.to_owned() }
    }

    /// Reads a short name, which may be part of a file name.
    pub(super) fn plain_name(&self) -> Result<&'a str, PlanError> {
        let text = self.text()?;
        match !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
            true => Ok(text),
            false => Err(self.fail("lowercase letters, digits and hyphens only")),
        }
    }

    /// Reads a whole number in a range.
    pub(super) fn whole(&self, range: RangeInclusive<u64>) -> Result<u64, PlanError> {
        let integer = self.value.get_ref().as_integer().ok_or_else(|| self.expected("a whole number"))?;
        let number = u64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok();
        let (low, high) = (range.start(), range.end());
        let message = if *high == u64::MAX { format!("must be at least {low}") } else { format!("must be {low} to {high}") };
        number.filter(|number| range.contains(number)).ok_or_else(|| self.fail(&format!("{} {message}", integer.as_str())))
    }

    /// Returns the elements; a single value is a list of one.
    pub(super) fn one_or_more(&self) -> Result<Vec<Value<'a>>, PlanError> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.list(),
            _ => Ok(vec![*self]),
        }
    }

    /// Returns the elements, at least one.
    pub(super) fn list(&self) -> Result<Vec<Value<'a>>, PlanError> {
        let list = self.value.get_ref().as_array().ok_or_else(|| self.expected("a list"))?;
        if list.is_empty() {
            return Err(self.fail("the list is empty; name at least one"));
        }
        Ok(list.iter().map(|value| Value { value, ..*self }).collect())
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    pub(super) fn is_empty_table(&self) -> bool {
        self.value.get_ref().as_table().is_some_and(DeTable::is_empty)
    }

    /// Returns whether the value is a range: a table with a range's keys. A field may have the name
    /// of such a key, as `from` in `[sm.memory_issue]`; then it has other keys next to it, or is no
    /// number.
    pub(super) fn is_range(&self) -> bool {
        let Some(table) = self.value.get_ref().as_table() else { return false };
        let is_key = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
            let key: &std::borrow::Cow<'_, str> = key.get_ref();
            RANGE.iter().any(|known| known.name == key.as_ref()) && value.get_ref().as_str().is_none()
        };
        !table.is_empty() && table.iter().all(is_key)
    }

    pub(super) fn table(&self, what: &'static str, known: impl IntoIterator<Item = &'static str>) -> Result<Table<'a>, PlanError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.expected("a table"))?;
        Table::of(self.source, table, self.value.span(), what, known)
    }

    /// Returns the entries of a table with free keys, in the order of the keys.
    pub(super) fn entries(&self) -> Result<Vec<Value<'a>>, PlanError> {
        let table = self.value.get_ref().as_table().ok_or_else(|| self.expected("a table"))?;
        Ok(table.iter().map(|(key, value)| Value { source: self.source, key: key.get_ref(), value }).collect())
    }

    /// Returns the plain value: a number, a text, true or false.
    pub(super) fn plain(&self) -> Result<toml::Value, PlanError> {
        match self.value.get_ref() {
            DeValue::Integer(_) => {
                let number = self.whole(0..=u64::MAX)?;
                i64::try_from(number).map(toml::Value::Integer).map_err(|_| self.fail(&format!("{number} is too large")))
            }
            DeValue::String(text) => Ok(toml::Value::String(text.to_string())),
            DeValue::Boolean(flag) => Ok(toml::Value::Boolean(*flag)),
            _ => Err(self.expected("a number, a text, true or false")),
        }
    }
}
