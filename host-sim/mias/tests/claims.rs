//! Tables on the pages of results are those of the results stored with them: each stands between a
//! comment with its command, `<!-- generated: mias report ... -->`, and `<!-- end generated -->`.
//! `MIAS_PAGES=overwrite cargo test -p mias --test integration claims` writes them anew.

use crate::support::printed;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- generated: mias ";
const END: &str = "<!-- end generated -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the words of a command line, of which some stand in double quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("one at least").push(c),
        }
    }
    words
}

/// Returns the arguments of `mias`, with paths below `docs/` from the root.
fn arguments(command: &str) -> Vec<String> {
    let from_root = |word: String| if word.starts_with("docs/") { root().join(&word).display().to_string() } else { word };
    words(command).into_iter().map(from_root).collect()
}

/// Returns a page with its tables as the stored results give them.
fn current(page: &str) -> (String, usize) {
    let (mut text, mut rest, mut tables) = (String::new(), page, 0);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (command, after) = after.split_once(" -->").expect("the end of a command");
        let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("{command}: the table has no end"));
        let arguments = arguments(command);
        let table = printed(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        text += &format!("{before}{BEGIN}{command} -->\n\n{}\n\n{END}", table.trim_end());
        rest = after;
        tables += 1;
    }
    (text + rest, tables)
}

#[test]
fn tables_of_results_are_those_of_the_stored_results() {
    let overwrite = std::env::var_os("MIAS_PAGES").is_some_and(|mode| mode == "overwrite");
    let (mut tables, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(root().join("docs/results")).expect("the pages") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let page = fs::read_to_string(&path).expect("a page");
        let (current, of_page) = current(&page);
        tables += of_page;
        if current != page && overwrite {
            fs::write(&path, &current).expect("the page");
        } else if current != page {
            wrong.push(path.display().to_string());
        }
    }
    let command = "MIAS_PAGES=overwrite cargo test -p mias --test integration claims";
    assert!(wrong.is_empty(), "not the stored results; write them with `{command}`: {wrong:#?}");
    assert!(tables > 0, "no page has a table of results");
}

#[test]
fn quotes_join_words() {
    assert_eq!(words("report a --markdown=\"In short\""), ["report", "a", "--markdown=In short"]);
}
