//! `docs/sources/works.md`, from the bibliography `docs/sources/works.bib`.

mod bibliography;

use anyhow::{Context, Result};

use self::bibliography::{Entry, entries};
use crate::util::{generated, root};

/// The bibliography, relative to the root.
const SOURCE: &str = "docs/sources/works.bib";

const ABOUT: &str = "The works that comments, plans and pages cite, by group. \"Full text not at hand\": the project follows what
other works say of it. The data is `docs/sources/works.bib`.";

/// Returns the whole page.
pub(super) fn page() -> Result<String> {
    let text = std::fs::read_to_string(root().join(SOURCE)).with_context(|| format!("cannot read {SOURCE}"))?;
    let entries = entries(&text).with_context(|| SOURCE.to_owned())?;
    Ok(generated("Works", "docs", ABOUT, &tables(&entries)))
}

/// Returns a table for each group, in the order of their first entries.
fn tables(entries: &[Entry]) -> String {
    let mut groups: Vec<&str> = Vec::new();
    for entry in entries {
        if !groups.contains(&entry.get("keywords")) {
            groups.push(entry.get("keywords"));
        }
    }
    let mut text = String::new();
    for group in groups {
        text += &format!("\n## {group}\n\n| cited as | work |\n|---|---|\n");
        for entry in entries.iter().filter(|entry| entry.get("keywords") == group) {
            text += &format!("| {} | {} |\n", entry.get("shorthand"), work(entry));
        }
    }
    text
}

/// Returns a work in sentences: authors and title, publication, links, note.
fn work(entry: &Entry) -> String {
    let first = joined(", ", &[people(entry), title(entry)]);
    let publication = publication(entry);
    // A sentence begins with a capital.
    let second = if publication.starts_with("version") { capital(&publication) } else { publication };
    let sentences = [first, second, links(entry), escaped(&capital(entry.get("note")))];
    let ended =
        sentences.into_iter().filter(|sentence| !sentence.is_empty()).map(|sentence| sentence.trim_end_matches('.').to_owned() + ".");
    ended.collect::<Vec<_>>().join(" ")
}

fn people(entry: &Entry) -> String {
    match (entry.get("author"), entry.get("editor")) {
        ("", "") => String::new(),
        ("", editors) => names(editors) + " (eds.)",
        (authors, _) => names(authors),
    }
}

/// Formats the names `A and B and others` as `A, B et al.`
fn names(people: &str) -> String {
    match people.strip_suffix(" and others") {
        Some(known) => known.replace(" and ", ", ") + " et al.",
        None => people.replace(" and ", ", "),
    }
}

fn title(entry: &Entry) -> String {
    let addition = match entry.get("titleaddon") {
        "" => String::new(),
        addition => format!(" ({})", escaped(addition)),
    };
    format!("*{}*{addition}", escaped(entry.get("title")))
}

fn publication(entry: &Entry) -> String {
    let mut number = entry.get("number");
    let mut date = joined(" ", &[entry.get("month"), entry.get("year")]);
    let mut container = String::new();
    // The number of a journal's issue follows its volume; elsewhere it is that of a report or
    // standard.
    if !entry.get("journal").is_empty() {
        container = joined(" ", &[entry.get("journal"), entry.get("volume")]);
        if !number.is_empty() {
            container += &format!("({})", std::mem::take(&mut number));
        }
    } else if !entry.get("booktitle").is_empty() {
        container = joined(" ", &[entry.get("booktitle"), &std::mem::take(&mut date)]);
    }
    let around = |before: &str, field: &str, after: &str| match entry.get(field) {
        "" => String::new(),
        value => format!("{before}{value}{after}"),
    };
    let pages = around(if entry.get("pages").contains('-') { "pp. " } else { "p. " }, "pages", "");
    let [kind, institution, publisher] = ["type", "institution", "publisher"].map(|field| entry.get(field).to_owned());
    let [edition, version] = [around("", "edition", " edition"), around("version ", "version", "")];
    joined(", ", &[kind, institution, publisher, container, number.to_owned(), edition, version, date, pages])
}

fn links(entry: &Entry) -> String {
    let link = |field: &str, name: &str, address: &str| match entry.get(field) {
        "" => String::new(),
        value => format!("[{name}{value}]({address}{value})"),
    };
    let url = match entry.get("url") {
        "" => String::new(),
        url => format!("[{}]({url})", url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/')),
    };
    joined(", ", &[link("doi", "doi:", "https://doi.org/"), link("eprint", "arXiv:", "https://arxiv.org/abs/"), url])
}

/// Joins the parts that are not empty.
fn joined<T: AsRef<str>>(separator: &str, parts: &[T]) -> String {
    parts.iter().map(AsRef::as_ref).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(separator)
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// Escapes marks of Markdown in a text: a star is no emphasis in xorshift64*.
fn escaped(text: &str) -> String {
    text.replace('*', "\\*").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(text: &str) -> Vec<String> {
        entries(text).unwrap().iter().map(work).collect()
    }

    #[test]
    fn a_work_is_in_sentences() {
        let text = "@article{a,\n author = {A. One and B. Two and others},\n title = {{On it}},\n titleaddon = {draft},\n journal = {TACO},\n \
            volume = {15},\n number = {1},\n year = {2018},\n pages = {1-9},\n doi = {10.1/2},\n note = {article 15},\n}\n\
            @misc{b,\n editor = {C. Three},\n title = {{xorshift64*}},\n version = {2},\n url = {https://example.org/},\n}\n";
        assert_eq!(
            works(text),
            [
                "A. One, B. Two et al., *On it* (draft). TACO 15(1), 2018, pp. 1-9. [doi:10.1/2](https://doi.org/10.1/2). Article 15.",
                "C. Three (eds.), *xorshift64\\**. Version 2. [example.org](https://example.org/).",
            ]
        );
    }

    #[test]
    fn a_conference_has_its_year() {
        let text = "@inproceedings{a,\n author = {A. One},\n title = {{T}},\n booktitle = {HPCA},\n year = {2018},\n pages = {7},\n}\n";
        assert_eq!(works(text), ["A. One, *T*. HPCA 2018, p. 7."]);
    }
}
