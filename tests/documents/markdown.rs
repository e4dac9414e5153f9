//! Links of documents and the anchors that they name. An anchor is an `id`, or a heading in
//! GitHub's form: lower case, spaces as hyphens, and of other marks only `-` and `_`. The second of
//! equal ones ends in `-1`.

use super::prose::{Line, lines, outside_examples};
use super::tree::{File, Tree, joined};

/// Returns a line for each link to a missing file or to a missing anchor of a document.
pub(crate) fn dead_links(tree: &Tree) -> Vec<String> {
    let mut dead = Vec::new();
    for file in tree.files.iter().filter(|file| file.is("md")) {
        for Line { number, text } in lines(file) {
            let text = without_code(text);
            let links = links(&text).into_iter().filter(|link| !leads_somewhere(tree, file, link));
            dead.extend(links.map(|link| format!("{}:{number}: {link}", file.path)));
        }
    }
    dead
}

fn leads_somewhere(tree: &Tree, from: &File, link: &str) -> bool {
    if link.contains("://") || link.starts_with("mailto:") {
        return true;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { Some(from.path.clone()) } else { joined(from.folder(), path) };
    let Some(target) = target else { return false };
    let has = |anchor| tree.files.iter().any(|file| file.path == target && anchors(&file.text).iter().any(|known| known == anchor));
    tree.paths.contains(&target) && anchor.is_none_or(has)
}

/// Returns the line with blanks instead of code.
fn without_code(line: &str) -> String {
    line.split('`').enumerate().map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { " ".repeat(part.len()) }).collect()
}

/// Returns the targets of `[..](..)`, `[..]: ..`, `href=".."` and `src=".."`.
fn links(line: &str) -> Vec<&str> {
    let behind = |mark: &str, end: &[char]| -> Vec<&str> {
        line.match_indices(mark).filter_map(|(at, _)| line[at + mark.len()..].split(end).next()).collect()
    };
    let named = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target.trim());
    let mut links = behind("](", &[')', ' ']);
    links.extend(["href=\"", "src=\""].into_iter().flat_map(|mark| behind(mark, &['"'])));
    links.extend(named);
    links
}

/// Returns the anchors of a document.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for Line { text, .. } in outside_examples(text) {
        let ids = text.match_indices("id=\"").filter_map(|(at, mark)| text[at + mark.len()..].split('"').next());
        anchors.extend(ids.map(str::to_owned));
        if let Some(heading) = text.trim_start_matches('#').strip_prefix(' ').filter(|_| text.starts_with('#')) {
            let slug = slug(heading);
            let again = (1..).map(|n| format!("{slug}-{n}"));
            let free = std::iter::once(slug.clone()).chain(again).find(|name| !anchors.contains(name));
            anchors.extend(free);
        }
    }
    anchors
}

/// Converts a heading to an anchor. Only the text of a link counts.
fn slug(heading: &str) -> String {
    let mut text = String::new();
    let mut rest = heading.trim();
    while let Some((before, after)) = rest.split_once("](") {
        text += before;
        rest = after.split_once(')').map_or("", |(_, behind)| behind);
    }
    text += rest;
    let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn headings_become_anchors() {
    assert_eq!(slug("What a number *means*: `S_null`, IPM\\*IPC"), "what-a-number-means-s_null-ipmipc");
    assert_eq!(slug("Left-over, Spatial, MIAS"), "left-over-spatial-mias");
    assert_eq!(slug("See [the map](docs/reference/registers.md), too"), "see-the-map-too");
    assert_eq!(anchors("# A\n## A\n```\n# not\n```\ntext <a id=\"d1\"></a>\n#hashtag"), ["a", "a-1", "d1"]);
}

#[test]
fn links_are_found() {
    let line = without_code("[a](b.md#c) `[no](x)` ![d](e.svg \"f\") <img src=\"g.svg\">");
    assert_eq!(links(&line), ["b.md#c", "e.svg", "g.svg"]);
    assert_eq!(links("[name]: h.md"), ["h.md"]);
}
