//! Test of the book: every command on every page of `docs/` is run, and its output must match the
//! page, except for `...`. After a change of results, `TRYCMD=overwrite cargo test -p mias --test
//! integration slow::book` updates the pages.

use std::fs;
use std::path::{Path, PathBuf};

const GPU_OF_HALF_SIZE: [(&str, &str); 3] =
    [("name = \"rtx2060\"", "name = \"half\""), ("count = 30", "count = 15"), ("channels = 12", "channels = 6")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is in the workspace")
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("names are text")
}

/// Returns the entries of a folder, in the order of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}

/// Returns the pages in a folder itself.
fn pages(folder: &str) -> Vec<PathBuf> {
    entries(&root().join(folder)).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns the pages in a folder and below it, except for built or hidden ones.
fn pages_below(folder: &str) -> Vec<PathBuf> {
    let mut found = pages(folder);
    for entry in entries(&root().join(folder)).iter().filter(|entry| entry.is_dir() && !entry.is_symlink()) {
        if name(entry) != "target" && !name(entry).starts_with('.') {
            found.extend(pages_below(entry.to_str().expect("names are text")));
        }
    }
    found
}

/// Creates the files that a page's examples use: GPU files, and the traces and examples of the
/// project.
fn lay_out(folder: &Path) {
    fs::create_dir(folder).expect("a page's folder");
    let whole = mias_gpus::text("rtx2060").expect("a built-in GPU").to_owned();
    let half = GPU_OF_HALF_SIZE.iter().fold(whole, |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    });
    fs::write(folder.join("half.toml"), half).expect("half.toml");
    let fourfold = mias_gpus::text("rtx2060").expect("a built-in GPU").replacen("bus_bytes = 2", "bus_bytes = 8", 1);
    fs::write(folder.join("fourfold.toml"), fourfold.replacen("burst_beats = 16", "burst_beats = 4", 1)).expect("fourfold.toml");
    let shown = assert_cmd::Command::new(env!("CARGO_BIN_EXE_mias")).args(["gpu", "show"]).output().expect("mias").stdout;
    let shown = String::from_utf8(shown).expect("TOML is text");
    fs::write(folder.join("my.toml"), shown.replacen("count = 30", "count = 0", 1)).expect("my.toml");
    for linked in ["tests", "examples"] {
        std::os::unix::fs::symlink(root().join(linked), folder.join(linked)).expect("a link to the traces and examples");
    }
}

/// Placeholder of a time on a page, and trycmd's wildcard.
const SHOWN_SECONDS: &str = " in 0 s\n";
const ANY_SECONDS: &str = " in [..] s\n";

/// Converts a page for trycmd, which consumes the last line end of an output: complete outputs get
/// another one.
fn open_ended(page: &str) -> String {
    let mut text = String::new();
    let (mut in_console, mut last) = (false, "");
    for line in page.lines() {
        let ends_output = line == "```" || line.starts_with("$ ") && last != "```console";
        if in_console && ends_output && last != "..." {
            text.push('\n');
        }
        in_console = line == "```console" || in_console && line != "```";
        text.extend([line, "\n"]);
        last = line;
    }
    text
}

/// Returns the pages of the book that show commands.
fn pages_with_commands() -> Vec<PathBuf> {
    let all = pages_below("docs").into_iter();
    all.filter(|page| fs::read_to_string(page).expect("a page").contains("```console\n")).collect()
}

/// Returns a page's name with that of its folder, which no other page has.
fn copied_name(page: &Path) -> String {
    let folder = page.parent().map(name).expect("a page has a folder");
    format!("{folder}-{}", name(page))
}

/// Each page runs in a folder of its own, `PAGE.in` next to its copy. Pages share a cache, except
/// the page that shows the cache.
#[test]
fn every_command_of_the_book_prints_what_the_page_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let shared = folder.path().join("cache");
    fs::create_dir(&shared).expect("the cache");
    let pages = pages_with_commands();
    assert!(pages.len() > 10, "only {} pages show commands", pages.len());
    for page in &pages {
        let text = fs::read_to_string(page).expect("a page");
        let copy = folder.path().join(copied_name(page));
        fs::write(&copy, open_ended(&text).replace(SHOWN_SECONDS, ANY_SECONDS)).expect("the page's copy");
        lay_out(&copy.with_extension("in"));
        if !text.contains("$ mias cache") {
            std::os::unix::fs::symlink(&shared, copy.with_extension("in").join("cache")).expect("a link to the cache");
        }
    }
    let copies = folder.path().join("*.md");
    let run = std::panic::catch_unwind(|| trycmd::TestCases::new().env("MIAS_CACHE", "cache").case(copies).run());
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        for page in &pages {
            let text = fs::read_to_string(folder.path().join(copied_name(page))).expect("the page's copy");
            let text = text.replace("\n\n```\n", "\n```\n").replace("\n\n$ ", "\n$ ").replace(ANY_SECONDS, SHOWN_SECONDS);
            fs::write(page, text).expect("the page");
        }
    }
    if let Err(differences) = run {
        std::panic::resume_unwind(differences);
    }
}

/// Returns the outputs with their commands on a page.
fn consoles(page: &str) -> Vec<Vec<&str>> {
    let mut consoles = Vec::new();
    let mut lines = page.lines();
    while lines.any(|line| line == "```console") {
        consoles.push(lines.by_ref().take_while(|line| *line != "```").collect());
    }
    consoles
}

/// Returns whether the excerpt's lines are those of the whole, with `...` for omitted ones.
fn is_excerpt(excerpt: &[&str], whole: &[&str]) -> bool {
    match excerpt {
        [] => whole.is_empty(),
        ["...", rest @ ..] => (0..=whole.len()).any(|skipped| is_excerpt(rest, &whole[skipped..])),
        [line, rest @ ..] => whole.first() == Some(line) && is_excerpt(rest, &whole[1..]),
    }
}

#[test]
fn other_documents_show_excerpts_of_the_books_outputs() {
    let book: Vec<String> = pages_with_commands().iter().map(|page| fs::read_to_string(page).expect("a page")).collect();
    let shown: Vec<Vec<&str>> = book.iter().flat_map(|page| consoles(page)).collect();
    for page in pages_below(".").iter().filter(|page| !page.starts_with(root().join("docs"))) {
        let text = fs::read_to_string(page).expect("a page");
        for console in consoles(&text) {
            assert!(shown.iter().any(|whole| is_excerpt(&console, whole)), "{}: not in the book: {console:#?}", page.display());
        }
    }
}

#[test]
fn an_excerpt_leaves_out_only_where_it_says_so() {
    let whole = ["$ mias", "a", "b", "c"];
    assert!(is_excerpt(&whole, &whole));
    assert!(is_excerpt(&["$ mias", "...", "c"], &whole));
    assert!(is_excerpt(&["$ mias", "a", "b", "c", "..."], &whole));
    assert!(!is_excerpt(&["$ mias", "c"], &whole));
    assert!(!is_excerpt(&["$ mias", "...", "d"], &whole));
    assert!(!is_excerpt(&["$ mias", "a"], &whole));
}
