//! Tables with a heading: plain text for the terminal, Markdown for documents.

use mias_lab::table;

/// Table with its heading and a note.
#[derive(Clone, Debug)]
pub struct Section {
    /// Heading of the table.
    pub title: &'static str,
    /// Description of the content; empty if the heading suffices.
    pub note: &'static str,
    /// Names of the columns.
    pub headings: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Section {
    pub(super) fn new(title: &'static str, note: &'static str, headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Self {
        Section { title, note, headings: headings.iter().map(|&heading| heading.to_owned()).collect(), rows: rows.collect() }
    }

    /// Formats the table as plain text, after a blank line.
    pub fn text(&self) -> String {
        let note = if self.note.is_empty() { String::new() } else { format!(" ({})", self.note) };
        format!("\n{}{note}\n{}", self.title, table::text(&table::of(&self.headings, &self.rows)))
    }

    /// Formats the table as Markdown, after a blank line.
    pub fn markdown(&self) -> String {
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let columns = 0..self.headings.len();
        let rule: String = columns.map(|at| if table::are_words(&self.rows, at) { "---|" } else { "---:|" }).collect();
        let note = if self.note.is_empty() { String::new() } else { format!("\n{}.\n", upper(self.note)) };
        let rows: String = self.rows.iter().map(|cells| row(cells)).collect();
        format!("\n### {}\n{note}\n{}|{rule}\n{rows}", self.title, row(&self.headings))
    }
}

fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_text_or_markdown() {
        let section = Section::new("Title", "a note", &["kernel", "x"], [vec!["mm".to_owned(), "1".to_owned()]].into_iter());
        assert_eq!(section.text(), "\nTitle (a note)\nkernel  x\nmm      1\n");
        assert_eq!(section.markdown(), "\n### Title\n\nA note.\n\n| kernel | x |\n|---|---:|\n| mm | 1 |\n");
    }
}
