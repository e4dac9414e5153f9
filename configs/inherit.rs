//! Inheritance of GPU files.
//!
//! `base = "rtx2060"` at the head of a file names another file. Keys that a file lacks come from
//! its base. Tables are joined key by key, in any notation. Any other value, including a list,
//! replaces that of the base. A GPU's name and description are not inherited.

use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

/// Key that names the base of a file.
pub const BASE: &str = "base";

/// Keys that are not inherited.
const OWN: [&str; 3] = [BASE, "name", "description"];

/// GPU file, with the name that messages use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Name in messages.
    pub name: String,
    /// Text of the file.
    pub text: String,
}

/// Returns the value of a file's `base`, none if it is not a string, and its position. None without
/// a base, or if the file cannot be parsed, which [`Inherited::of`] reports.
#[must_use]
pub fn base(text: &str) -> Option<(Option<String>, Range<usize>)> {
    let table = DeTable::parse(text).ok()?.into_inner();
    let base = table.get(BASE)?;
    Some((base.get_ref().as_str().map(str::to_owned), base.span()))
}

/// GPU file joined with its bases. Positions are those in the concatenation of the files' texts,
/// with one byte between two files.
pub struct Inherited<'f> {
    pub(crate) files: &'f [File],
    table: DeTable<'f>,
}

impl<'f> Inherited<'f> {
    /// Joins a GPU's file, the first, with its base, the base's base, and so on.
    ///
    /// # Errors
    /// The file that is not valid TOML, with the error.
    pub fn of(files: &'f [File]) -> Result<Inherited<'f>, (&'f File, Error)> {
        let mut joined: Option<DeTable<'f>> = None;
        let mut begin = 0;
        for file in files {
            let mut table = DeTable::parse(&file.text).map_err(|error| (file, error))?.into_inner();
            table.remove(BASE);
            joined = Some(match joined {
                None => table,
                Some(over) => {
                    for key in OWN {
                        table.remove(key);
                    }
                    join(shifted(table, begin), over)
                }
            });
            begin += file.text.len() + 1;
        }
        Ok(Inherited { files, table: joined.unwrap_or_default() })
    }

    /// Deserializes the joined values as a `T`.
    ///
    /// # Errors
    /// Missing or unknown keys of `T`; [`Inherited::place`] gives their position.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(Deserializer::from(Spanned::new(0..0, self.table.clone())))
    }

    /// Returns the position of the value of the dotted `key`, with the key; for a missing value,
    /// that of its last existing parent.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<Range<usize>> {
        let (mut table, mut found) = (&self.table, None);
        for name in key.split('.') {
            let Some((key, value)) = table.get_key_value(name) else { break };
            let value_end = if value.get_ref().is_table() && !is_inline(key, value) { key.span().end } else { value.span().end };
            found = Some(key.span().start..value_end);
            let Some(inner) = value.get_ref().as_table() else { break };
            table = inner;
        }
        found
    }

    /// Returns the joined values with their positions.
    #[must_use]
    pub fn table(&self) -> &DeTable<'f> {
        &self.table
    }

    /// Returns the file of a position, and the position in it.
    #[must_use]
    pub fn place(&self, span: Range<usize>) -> Option<(&'f File, Range<usize>)> {
        let mut begin = 0;
        self.files.iter().find_map(|file| {
            let (of_file, end) = (begin, begin + file.text.len());
            begin = end + 1;
            (span.start <= end).then(|| (file, span.start - of_file..span.end.min(end) - of_file))
        })
    }
}

/// Returns whether a table is written `key = { ... }`.
pub(crate) fn is_inline(key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().is_table() && value.span().start > key.span().end
}

/// Joins `base` with `over`, whose values have priority.
fn join<'f>(mut base: DeTable<'f>, over: DeTable<'f>) -> DeTable<'f> {
    for (key, value) in over {
        let of_base = base.remove(&key);
        let span = value.span();
        let value = match (of_base.map(Spanned::into_inner), value.into_inner()) {
            (Some(DeValue::Table(base)), DeValue::Table(over)) => DeValue::Table(join(base, over)),
            (_, value) => value,
        };
        base.insert(key, Spanned::new(span, value));
    }
    base
}

/// Moves the positions of a table by `begin` bytes.
fn shifted(table: DeTable<'_>, begin: usize) -> DeTable<'_> {
    let mut moved = DeTable::new();
    for (key, value) in table {
        let span = key.span();
        moved.insert(Spanned::new(span.start + begin..span.end + begin, key.into_inner()), shifted_element(value, begin));
    }
    moved
}

fn shifted_value(value: DeValue<'_>, begin: usize) -> DeValue<'_> {
    match value {
        DeValue::Table(table) => DeValue::Table(shifted(table, begin)),
        DeValue::Array(list) => DeValue::Array(list.into_iter().map(|value| shifted_element(value, begin)).collect()),
        value => value,
    }
}

fn shifted_element(value: Spanned<DeValue<'_>>, begin: usize) -> Spanned<DeValue<'_>> {
    let span = value.span();
    Spanned::new(span.start + begin..span.end + begin, shifted_value(value.into_inner(), begin))
}
