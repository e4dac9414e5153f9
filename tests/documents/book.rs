//! The book in `docs/` stays readable: every page is in its contents, pages and the whole stay
//! within their budgets of words, and sentences are short. `docs/style.md` has the rules.

use super::prose::{Line, outside_examples};
use super::tree::{File, Tree, joined};

/// Maximum number of hand-written words of the book.
const MOST_WORDS: usize = 60_000;
/// Maximum number of hand-written words of a page.
const MOST_WORDS_OF_A_PAGE: usize = 2_500;
/// Maximum number of hand-written words of a page of results, without those that mark what is
/// generated.
const MOST_WORDS_OF_A_RESULT: usize = 1_200;
/// Maximum number of words of a sentence.
const MOST_WORDS_OF_A_SENTENCE: usize = 40;
/// Documents outside of the book, with their maximum number of lines and words.
const OTHERS: [(&str, usize, usize); 3] =
    [("README.md", 90, usize::MAX), ("CHANGELOG.md", 80, usize::MAX), ("CONTRIBUTING.md", usize::MAX, 1_200)];

/// Beginning of a region that a command writes.
const GENERATED: &str = "<!-- generated";
/// End of a region that a command writes.
const END: &str = "<!-- end generated -->";

/// Returns the pages of the book, without its contents and the folder of files for other programs.
fn pages(tree: &Tree) -> impl Iterator<Item = &File> {
    let no_page = ["docs/SUMMARY.md", "docs/generated/README.md"];
    tree.files.iter().filter(move |file| file.path.starts_with("docs/") && file.is("md") && !no_page.contains(&file.path.as_str()))
}

/// Returns the hand-written lines of a page: those outside of examples and of generated regions.
fn written(text: &str) -> Vec<Line<'_>> {
    let mut generated = false;
    let mut lines = Vec::new();
    for line in outside_examples(text) {
        generated |= line.text.contains(GENERATED);
        if !generated {
            lines.push(Line { number: line.number, text: line.text });
        }
        generated &= !line.text.contains(END);
    }
    lines
}

/// Counts the words with a letter or a digit; marks of tables and lists are none.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

fn words_of(file: &File) -> usize {
    written(&file.text).iter().map(|line| words(line.text)).sum()
}

/// Returns the paragraphs, items of lists and cells of tables, each with the line where it begins.
fn units(lines: &[Line<'_>]) -> Vec<(usize, String)> {
    let mut units: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        let text = line.text.trim();
        if text.starts_with('|') {
            units.extend(text.split('|').map(|cell| (line.number, cell.to_owned())));
            goes_on = false;
            continue;
        }
        let begins =
            text.starts_with("* ") || text.starts_with("- ") || text.starts_with('#') || text.split_once(". ").is_some_and(is_item);
        match units.last_mut().filter(|_| goes_on && !begins && !text.is_empty()) {
            Some((_, unit)) => *unit = format!("{unit} {text}"),
            None => units.push((line.number, text.to_owned())),
        }
        goes_on = !text.is_empty() && !text.starts_with('#');
    }
    units
}

fn is_item((number, _): (&str, &str)) -> bool {
    number.chars().all(|c| c.is_ascii_digit())
}

/// Returns a line for each sentence that is too long. A link counts as its text.
pub(crate) fn long_sentences(path: &str, lines: &[Line<'_>]) -> Vec<String> {
    let mut long = Vec::new();
    for (number, unit) in units(lines) {
        for sentence in sentences(&unit) {
            let count = words(&sentence);
            if count > MOST_WORDS_OF_A_SENTENCE {
                long.push(format!("{path}:{number}: {count} words, at most {MOST_WORDS_OF_A_SENTENCE}: {sentence}"));
            }
        }
    }
    long
}

/// Splits a unit into sentences, which end in a mark before a space.
fn sentences(unit: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in unit.split_whitespace() {
        let last = sentences.last_mut().expect("one at least");
        *last = format!("{last} {word}");
        if word.trim_end_matches([')', '*', '`', '"']).ends_with(['.', ':', ';', '?', '!']) {
            sentences.push(String::new());
        }
    }
    sentences
}

#[test]
fn the_contents_list_every_page_once() {
    let tree = Tree::read();
    let contents = tree.files.iter().find(|file| file.path == "docs/SUMMARY.md").expect("the book's contents");
    let listed: Vec<String> = contents.text.split("](").skip(1).filter_map(|rest| joined("docs", rest.split(')').next()?)).collect();
    let mut wrong: Vec<String> = Vec::new();
    for page in pages(&tree) {
        let times = listed.iter().filter(|path| **path == page.path).count();
        if times != 1 {
            wrong.push(format!("{} is listed {times} times", page.path));
        }
    }
    super::assert_none(&wrong);
    assert!(listed.len() > 50, "{} pages are listed", listed.len());
}

#[test]
fn the_book_and_its_pages_are_within_their_budgets() {
    let tree = Tree::read();
    let mut wrong = Vec::new();
    let mut total = 0;
    for page in pages(&tree) {
        let (count, result) = (words_of(page), page.path.starts_with("docs/results/"));
        let most = if result { MOST_WORDS_OF_A_RESULT } else { MOST_WORDS_OF_A_PAGE };
        if count > most {
            wrong.push(format!("{}: {count} words, at most {most}", page.path));
        }
        total += count;
    }
    if total > MOST_WORDS {
        wrong.push(format!("the book: {total} words, at most {MOST_WORDS}"));
    }
    for (path, most_lines, most_words) in OTHERS {
        let file = tree.files.iter().find(|file| file.path == path).expect(path);
        let (lines, count) = (file.text.lines().count(), words_of(file));
        if lines > most_lines || count > most_words {
            wrong.push(format!("{path}: {lines} lines, {count} words"));
        }
    }
    super::assert_none(&wrong);
    assert!(total > 20_000, "{total} words were found");
}

#[test]
fn sentences_of_documents_are_short() {
    let tree = Tree::read();
    let documents = tree.files.iter().filter(|file| file.is("md"));
    let long: Vec<String> = documents.flat_map(|file| long_sentences(&file.path, &written(&file.text))).collect();
    super::assert_none(&long);
}

#[test]
fn generated_regions_do_not_count() {
    let text = "one two\n<!-- generated: x -->\nthree\n<!-- end generated -->\nfour\n```\nfive\n```\n| six | - |";
    let lines = written(text);
    assert_eq!(lines.iter().map(|line| words(line.text)).sum::<usize>(), 4);
}

#[test]
fn sentences_are_counted_by_paragraph_item_and_cell() {
    let long = "word ".repeat(41);
    let of = |text: &str| long_sentences("p", &outside_examples(text)).len();
    assert_eq!(of(&long), 1);
    assert_eq!(of(&format!("{}\n{}", "word ".repeat(21), "word ".repeat(21))), 1);
    assert_eq!(of(&format!("{}\n\n{}", "word ".repeat(21), "word ".repeat(21))), 0);
    assert_eq!(of(&format!("* {}\n* {}", "word ".repeat(21), "word ".repeat(21))), 0);
    assert_eq!(of(&format!("| {} | {} |", "word ".repeat(21), "word ".repeat(21))), 0);
    assert_eq!(of(&format!("{}. {}", "word ".repeat(21), "word ".repeat(21))), 0);
}
