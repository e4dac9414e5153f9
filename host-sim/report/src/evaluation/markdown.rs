//! Tables of a report as Markdown: blocks of the kinds `table` and `claims`.

use mias_lab::evaluate::blocks::{Block, Judgment, Kind, Row};
use mias_lab::evaluate::results::Evaluation;

/// Returns the titles of the blocks that [`render`] can write, in the order of the report.
pub fn titles(evaluation: &Evaluation) -> Vec<&str> {
    blocks(evaluation).map(|block| block.title.as_str()).collect()
}

/// Formats the tables of an evaluation, each under its title; with `title` only that one, without
/// it.
pub fn render(evaluation: &Evaluation, title: Option<&str>) -> String {
    let mut text = String::new();
    for block in blocks(evaluation).filter(|block| title.is_none_or(|title| block.title == title)) {
        if title.is_none() {
            text += &format!("## {}\n\n", block.title);
        }
        match block.kind {
            Kind::Claims => text += &table(&Judgment::HEADINGS, block.judgments(evaluation).iter().map(Judgment::cells)),
            _ => text += &panels(evaluation, block),
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn blocks(evaluation: &Evaluation) -> impl Iterator<Item = &Block> {
    let blocks = evaluation.plan.report.blocks.iter();
    blocks.filter(|block| matches!(block.kind, Kind::Table | Kind::Claims) && !block.title.is_empty())
}

fn panels(evaluation: &Evaluation, block: &Block) -> String {
    let mut text = String::new();
    let rows = block.rows(evaluation);
    for (title, rows) in block.panels(&rows) {
        let cells = if block.across { block.across(&evaluation.plan.report.published, &rows) } else { block.table(&rows) };
        if !title.is_empty() {
            text += &format!("{title}:\n\n");
        }
        text += &table(&block.headings(), cells.into_iter());
        text.push('\n');
    }
    if let Some(words) = &block.caption {
        text += &format!("{}\n", words.of(&rows.iter().collect::<Vec<&Row<'_>>>()));
    }
    text
}

/// Returns a table with its headings.
fn table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let escaped = |cell: &str| cell.replace('|', "\\|").replace('\n', " ");
    let head: Vec<String> = headings.iter().map(|heading| escaped(heading)).collect();
    let rule = format!("|{}\n", "---|".repeat(headings.len()));
    let body = rows.map(|row| line(&row.iter().map(|cell| escaped(cell)).collect::<Vec<String>>()));
    line(&head) + &rule + &body.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cannot_end_a_column_or_a_row() {
        let rows = vec![vec!["a|b".to_owned(), "c\nd".to_owned()]];
        assert_eq!(table(&["x", "y"], rows.into_iter()), "| x | y |\n|---|---|\n| a\\|b | c d |\n");
    }
}
