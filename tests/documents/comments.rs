//! Comments are at most 100 columns wide, but for tables and code in them.

use super::tree::{File, Tree};

/// Maximum columns of a line that is a comment, indentation included.
const MOST_COLUMNS: usize = 100;

/// Returns a line for each comment that is too wide.
fn wide(file: &File) -> Vec<String> {
    let mut wide = Vec::new();
    let mut code = false;
    for (line, number) in file.text.lines().zip(1..) {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            code = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim_start();
        code ^= comment.starts_with("```");
        let columns = line.chars().count();
        if columns > MOST_COLUMNS && !code && !comment.starts_with('|') {
            wide.push(format!("{}:{number}: {columns} columns, at most {MOST_COLUMNS}", file.path));
        }
    }
    wide
}

#[test]
fn comments_are_at_most_100_columns_wide() {
    let tree = Tree::read();
    let sources = tree.files.iter().filter(|file| file.is("rs"));
    super::assert_none(&sources.flat_map(wide).collect::<Vec<String>>());
}

#[test]
fn tables_and_code_may_be_wider() {
    let of = |text: String| wide(&File { path: "a.rs".to_owned(), text }).len();
    let long = "x".repeat(100);
    assert_eq!(of(format!("// {long}")), 1);
    assert_eq!(of(format!("let a = \"{long}\";")), 0);
    assert_eq!(of(format!("/// | {long} |")), 0);
    assert_eq!(of(format!("/// ```text\n/// {long}\n/// ```\n/// {long}")), 1);
}
