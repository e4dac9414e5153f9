//! A GPU's file with what it inherits. `base = "rtx2060"` at its head names another file: keys that
//! a file does not have are those of its base, tables are joined key by key, however they are
//! written, and any other value, a list among them, takes the place of the base's. A GPU's name and
//! description are its own.

use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

/// The key that names the file a GPU inherits from.
pub const BASE: &str = "base";

/// What no GPU inherits.
const OWN: [&str; 3] = [BASE, "name", "description"];

/// A file, under the name that messages have of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What a file's `base` says, none where it is no text, and where. None: it has none, or cannot be read, which [`Inherited::of`] tells.
#[must_use]
pub fn base(text: &str) -> Option<(Option<String>, Range<usize>)> {
    let table = DeTable::parse(text).ok()?.into_inner();
    let base = table.get(BASE)?;
    Some((base.get_ref().as_str().map(str::to_owned), base.span()))
}

/// A GPU's file and its bases, joined. Places are those in the files' texts, one behind the other with a byte between.
pub struct Inherited<'f> {
    pub(crate) files: &'f [File],
    table: DeTable<'f>,
}

impl<'f> Inherited<'f> {
    /// Joins a GPU's file, the first, with its base, the base's base, and so on.
    ///
    /// # Errors
    /// The file that is not TOML, and why.
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

    /// What the files say, as a `T`.
    ///
    /// # Errors
    /// What `T` lacks, or has no place for; [`Inherited::place`] says where that is.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(Deserializer::from(Spanned::new(0..0, self.table.clone())))
    }

    /// Where the value of the dotted `key` is, with the key: that of the last of its names that is there.
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

    /// The values, and where they are.
    #[must_use]
    pub fn table(&self) -> &DeTable<'f> {
        &self.table
    }

    /// The file that a place is in, and where there.
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

/// Whether a table is written `key = { ... }`.
pub(crate) fn is_inline(key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().is_table() && value.span().start > key.span().end
}

/// `base` with what `over` says in place of its own.
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

/// The same table behind `begin` more bytes of text.
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
