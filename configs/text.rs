//! Text of a GPU file joined with its bases: each value with its original comments, in the order of
//! the outermost base.

use crate::inherit::{Inherited, is_inline};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// Dotted name, key and value.
type Entry<'t, 'f> = (String, &'t Spanned<Cow<'f, str>>, &'t Spanned<DeValue<'f>>);

/// Comments of keys and tables in the files, by dotted names.
#[derive(Default)]
struct Notes {
    /// Position of each name in the order.
    rank: BTreeMap<String, usize>,
    /// Comment lines above, and rest of the line.
    comments: BTreeMap<String, (String, String)>,
}

impl Inherited<'_> {
    /// Returns the text of the GPU's file as it would be without a base. A file without a base is
    /// unchanged.
    #[must_use]
    pub fn text(&self) -> String {
        if let [file] = self.files {
            return file.text.clone();
        }
        let mut notes = Notes::default();
        for file in self.files.iter().rev() {
            if let Ok(table) = DeTable::parse(&file.text) {
                notes.read(&file.text, table.get_ref(), "", false);
            }
        }
        let mut text = String::new();
        self.print(self.table(), "", &notes, &mut text);
        text
    }

    fn print(&self, table: &DeTable<'_>, path: &str, notes: &Notes, text: &mut String) {
        let (lines, tables): (Vec<_>, Vec<_>) =
            ordered(table, path, notes).into_iter().partition(|(_, key, value)| !value.get_ref().is_table() || is_whole(key, value));
        for (name, key, value) in lines {
            let (above, behind) = notes.of(&name);
            *text += &format!("{above}{} = {}{behind}\n", self.verbatim(key.span()), self.value(key, value));
        }
        for (name, _, value) in tables {
            let Some(inner) = value.get_ref().as_table() else { continue };
            if inner.is_empty() || inner.iter().any(|(key, value)| !value.get_ref().is_table() || is_whole(key, value)) {
                let (above, behind) = notes.of(&name);
                *text += &format!("\n{above}[{name}]{behind}\n");
            }
            self.print(inner, &name, notes, text);
        }
    }

    /// Returns the text of a value; a table with a header is written inline.
    fn value(&self, key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> String {
        let headers = contains(&value.span(), &key.span());
        let list = headers.then(|| toml::Value::deserialize(ValueDeserializer::from(value.clone())).ok()).flatten();
        list.map_or_else(|| self.verbatim(value.span()).to_owned(), |list| list.to_string())
    }

    fn verbatim(&self, span: Range<usize>) -> &str {
        self.place(span).and_then(|(file, span)| file.text.get(span)).unwrap_or_default()
    }
}

impl Notes {
    /// Records the comments of a file, which replace those of its bases.
    fn read(&mut self, text: &str, table: &DeTable<'_>, path: &str, in_line: bool) {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let name = dotted(path, &text[key.span()]);
            let rank = self.rank.len();
            self.rank.entry(name.clone()).or_insert(rank);
            let implied = value.get_ref().is_table() && value.span() == key.span();
            if !in_line && !implied {
                let comments = comments(text, key.span().start, value.span().end);
                if !value.get_ref().is_table() || comments != Default::default() {
                    self.comments.insert(name.clone(), comments);
                }
            } else if in_line {
                self.comments.remove(&name);
            }
            if let Some(inner) = value.get_ref().as_table() {
                self.read(text, inner, &name, in_line || is_inline(key, value));
            }
        }
    }

    fn of(&self, name: &str) -> (&str, &str) {
        self.comments.get(name).map_or(("", ""), |(above, behind)| (above, behind))
    }
}

/// Returns the comment lines above the line of `begin`, and the rest of the line after `end`.
fn comments(text: &str, begin: usize, end: usize) -> (String, String) {
    let line = text[..begin].rfind('\n').map_or(0, |at| at + 1);
    let mut above: Vec<&str> = text[..line].lines().rev().take_while(|line| line.trim_start().starts_with('#')).collect();
    above.reverse();
    let behind = text[end..].lines().next().unwrap_or_default();
    let above = above.into_iter().map(|line| format!("{line}\n")).collect();
    (above, behind.trim_end().to_owned())
}

/// Returns the entries of a table with their dotted names, in the order of the notes.
fn ordered<'t, 'f>(table: &'t DeTable<'f>, path: &str, notes: &Notes) -> Vec<Entry<'t, 'f>> {
    let mut entries: Vec<_> = table.iter().map(|(key, value)| (dotted(path, key.get_ref()), key, value)).collect();
    entries.sort_by_key(|(name, ..)| notes.rank.get(name));
    entries
}

/// Returns whether the whole table is written inline.
fn is_whole(key: &Spanned<Cow<'_, str>>, value: &Spanned<DeValue<'_>>) -> bool {
    fn within(table: &DeTable<'_>, span: &Range<usize>) -> bool {
        table.iter().all(|(key, value)| contains(span, &key.span()) && value.get_ref().as_table().is_none_or(|inner| within(inner, span)))
    }
    is_inline(key, value) && value.get_ref().as_table().is_some_and(|table| within(table, &value.span()))
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn dotted(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
