//! Prose: documents outside of their examples, and the comments of sources and TOML files.

use super::tree::File;

/// A line of prose.
#[derive(Debug, PartialEq)]
pub(crate) struct Line<'t> {
    /// Number of the line in the file, from 1.
    pub(crate) number: usize,
    pub(crate) text: &'t str,
}

/// Returns every line of the file.
pub(crate) fn all(file: &File) -> Vec<Line<'_>> {
    file.text.lines().zip(1..).map(|(text, number)| Line { number, text }).collect()
}

/// Returns the file's prose.
pub(crate) fn lines(file: &File) -> Vec<Line<'_>> {
    if file.is("md") {
        return outside_examples(&file.text);
    }
    if file.is("svd") {
        return all(file);
    }
    let mark = if file.is("toml") { "#" } else { "//" };
    all(file).into_iter().filter_map(|line| Some(Line { text: comment(line.text, mark)?, ..line })).collect()
}

/// Returns the lines of a document outside of fenced code.
pub(crate) fn outside_examples(text: &str) -> Vec<Line<'_>> {
    let mut example = false;
    let mut prose = Vec::new();
    for (text, number) in text.lines().zip(1..) {
        if text.trim_start().starts_with("```") {
            example = !example;
        } else if !example {
            prose.push(Line { number, text });
        }
    }
    prose
}

/// Returns the text after a comment mark that starts the line or follows a space, outside of
/// quotation marks.
fn comment<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    let begins = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let quoted = |at: usize| line[..at].matches('"').count() % 2 == 1;
    let (at, _) = line.match_indices(mark).find(|&(at, _)| begins(at) && !quoted(at))?;
    Some(line[at + mark.len()..].trim_start_matches(['/', '!', '#']).trim_start())
}

#[test]
fn comments_are_found() {
    assert_eq!(comment("    /// of an item", "//"), Some("of an item"));
    assert_eq!(comment("let a = 1; // of a statement", "//"), Some("of a statement"));
    assert_eq!(comment(r#"let url = "a // b";"#, "//"), None);
    assert_eq!(comment("see https://example.org", "//"), None);
    assert_eq!(comment("count = 16   # of SMs", "#"), Some("of SMs"));
}

#[test]
fn examples_are_no_prose() {
    let prose = outside_examples("a\n```sh\nb\n```\nc");
    assert_eq!(prose, [Line { number: 1, text: "a" }, Line { number: 5, text: "c" }]);
}
