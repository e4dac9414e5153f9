//! Entries of `docs/sources.md`, and their citations: "sources.md D12", "sources.md D12, D13 and
//! D15", "sources.md D12 to D15", and in documents `[D12](sources.md#d12)`. A number outside of
//! these forms cites nothing and is an error, so that no citation is missed.

use super::prose::lines;
use super::tree::{File, Tree};

/// Returns whether a page holds entries.
pub(crate) fn is_of_definitions(path: &str) -> bool {
    path.starts_with("docs/sources/definitions-")
}

/// Texts that may stand between two numbers of one citation.
const BETWEEN: [&str; 4] = [", ", " and ", ", and ", " to "];

/// Returns the number in the anchor and in the label of each entry, in order.
pub(crate) fn entries(page: &str) -> Vec<(usize, usize)> {
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let label = |rest: &str| rest.split_once("\"></a>**D").map_or(0, |(_, label)| number(label));
    page.split("<a id=\"d").skip(1).map(|rest| (number(rest), label(rest))).collect()
}

/// Returns a line for each entry whose anchor or label is not the next number.
pub(crate) fn misnumbered(page: &str) -> Vec<String> {
    let next = (1..).zip(entries(page));
    next.filter(|&(expected, found)| found != (expected, expected))
        .map(|(n, found)| format!("entry {n}: anchor, label {found:?}"))
        .collect()
}

/// Returns the number of citations, and a line for each number that is no entry or stands alone.
pub(crate) fn check(tree: &Tree, entries: usize) -> (usize, Vec<String>) {
    let (mut cited, mut wrong) = (0, Vec::new());
    for file in &tree.files {
        let complain = |what: String| format!("{}: {what}", file.path);
        let prose: Vec<&str> = lines(file).iter().map(|line| line.text).collect();
        for (number, known) in numbers(&prose.join(" "), is_of_definitions(&file.path)) {
            cited += 1;
            if !known {
                wrong.push(complain(format!("D{number} stands alone: cite it as `sources.md D{number}`, or with a link")));
            } else if !(1..=entries).contains(&number) {
                wrong.push(complain(format!("sources.md has no D{number}")));
            }
        }
        wrong.extend(
            in_messages(file).filter(|number| !(1..=entries).contains(number)).map(|n| complain(format!("sources.md has no D{n}"))),
        );
    }
    (cited, wrong)
}

/// Returns the numbers cited in the program's messages.
fn in_messages(file: &File) -> impl Iterator<Item = usize> {
    let lines = file.text.lines().filter(|line| file.is("rs") && !line.trim_start().starts_with("//") && line.contains("sources.md D"));
    lines.flat_map(|line| numbers(line, false)).filter(|(_, cited)| *cited).map(|(number, _)| number)
}

/// Returns every word `D12`, and whether it is part of a citation. `own` is for the page itself,
/// where labels and internal links count.
fn numbers(text: &str, own: bool) -> Vec<(usize, bool)> {
    let mut found = Vec::new();
    let mut last_cited = None;
    for (at, _) in text.match_indices('D') {
        let (before, rest) = (&text[..at], &text[at + 1..]);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (end, after) = (at + 1 + digits, &rest[digits..]);
        let starts = before.chars().next_back().is_none_or(|c| c.is_whitespace() || "([*\"".contains(c));
        let ends = after.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let Ok(number) = rest[..digits].parse::<usize>() else { continue };
        if !starts || !ends {
            continue;
        }
        let goes_on = last_cited.is_some_and(|last: usize| BETWEEN.contains(&&text[last..at]));
        let linked = before.ends_with('[') && after.split(')').next().is_some_and(|link| link.ends_with(&format!("#d{number}")));
        let cited = goes_on || linked || before.ends_with("sources.md ") || own && before.ends_with("**");
        last_cited = cited.then_some(end).or(last_cited);
        found.push((number, cited));
    }
    found
}

#[test]
fn citations_are_told_from_other_words() {
    let of = |text| numbers(text, false);
    assert_eq!(of("(sources.md D2, D3, and D15) of sources.md D4 to D6."), [2, 3, 15, 4, 6].map(|n| (n, true)));
    assert_eq!(of("[D7](sources.md#d7), [D8](sources.md#d9)"), [(7, true), (8, false)]);
    assert_eq!(of("sources.md D1; then D2"), [(1, true), (2, false)]);
    assert_eq!(of("JESD232, --D1=49152, D3D, LEDs, D"), []);
}

#[test]
fn entries_are_counted() {
    let page = "<a id=\"d1\"></a>**D1. One.** x\n\n<a id=\"d3\"></a>**D2. Two.**";
    assert_eq!(entries(page), [(1, 1), (3, 2)]);
    assert_eq!(misnumbered(page), ["entry 2: anchor, label (3, 2)"]);
}
