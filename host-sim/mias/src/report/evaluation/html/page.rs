//! The report of an evaluation as one HTML page: one file, nothing fetched, readable on screen and on paper.

use super::palette::Palette;
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use mias_lab::table::{DASH, are_words};

/// Style of page and drawings.
const STYLE: &str = include_str!("page.css");

/// A page under way.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Colours of the report's policies.
    pub(super) palette: Palette,
    body: Vec<Markup>,
    /// Heading of every section.
    sections: Vec<String>,
}

/// The anchor of a section, counted from 0.
fn anchor(section: usize) -> String {
    format!("s{}", section + 1)
}

impl Page {
    /// An empty page whose policies have these colours.
    pub(super) fn new(palette: Palette) -> Self {
        Page { palette, ..Page::default() }
    }

    /// A section's heading.
    pub(super) fn section(&mut self, heading: &str) {
        self.body.push(html! { h2 id=(anchor(self.sections.len())) { (heading) } });
        self.sections.push(heading.to_owned());
    }

    pub(super) fn heading(&mut self, heading: &str) {
        self.body.push(html! { h3 { (heading) } });
    }

    pub(super) fn paragraph(&mut self, text: impl Render) {
        self.body.push(html! { p { (text) } });
    }

    /// A paragraph in small print.
    pub(super) fn note(&mut self, text: &str) {
        self.body.push(html! { p.note { (text) } });
    }

    /// A figure: its number and what it shows, legend, drawing.
    pub(super) fn figure(&mut self, number: &str, caption: &str, legend: &Legend, drawing: &Markup) {
        let id = number.to_lowercase().replace([' ', '.'], "-");
        self.body.push(html! { figure id=(id) { (legend) (drawing) figcaption { b { (number) "." } " " (caption) } } });
    }

    /// A table; columns of words to the left, a rule above rows whose first cell differs from the one before if `ruled`. Columns in
    /// which no row has anything are left out.
    pub(super) fn table(&mut self, headings: &[&str], rows: &[Vec<String>], ruled: bool) {
        if rows.is_empty() {
            return;
        }
        let told = |at: &usize| rows.iter().any(|row| row.get(*at).is_some_and(|cell| cell != DASH));
        let class = |at: usize| are_words(rows, at).then_some("w");
        let columns: Vec<(usize, Option<&str>)> = (0..headings.len()).filter(told).map(|at| (at, class(at))).collect();
        let first = |row: usize| rows[row].get(columns.first()?.0);
        let rule = |row: usize| (ruled && row > 0 && first(row) != first(row - 1)).then_some("rule");
        self.body.push(html! {
            div.scroll {
                table class=[(columns.len() > 12).then_some("wide")] {
                    thead { tr { @for &(at, class) in &columns { th class=[class] { (headings[at]) } } } }
                    tbody {
                        @for (number, row) in rows.iter().enumerate() {
                            tr class=[rule(number)] {
                                @for &(at, class) in &columns { td class=[class] { (row.get(at).map_or("", String::as_str)) } }
                            }
                        }
                    }
                }
            }
        });
    }

    /// The whole document, which begins with `lead`.
    pub(super) fn finish(self, title: &str, lead: &Markup) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    h1 { (title) }
                    p.lead { (lead) }
                    nav { @for (number, heading) in self.sections.iter().enumerate() { a href={ "#" (anchor(number)) } { (heading) } } }
                    @for part in &self.body { "\n" (part) }
                }
            }
        };
        page.into_string()
    }
}

/// A legend: swatches with names.
#[derive(Debug, Default)]
pub(super) struct Legend(Vec<Markup>);

impl Legend {
    pub(super) fn colour(mut self, colour: &str, name: &str) -> Self {
        self.0.push(html! { i style={ "background:" (colour) } {} (name) });
        self
    }

    /// A mark of the charts: `null`, `oracle`, `thesis`, `late`.
    pub(super) fn mark(mut self, mark: &str, name: &str) -> Self {
        self.0.push(html! { i class={ "k-" (mark) } {} (name) });
        self
    }

    /// A small drawing and its name.
    pub(super) fn drawing(mut self, drawing: &Markup, name: &str) -> Self {
        self.0.push(html! { (drawing) (name) });
        self
    }
}

impl Render for Legend {
    fn render(&self) -> Markup {
        html! { @if !self.0.is_empty() { ul.legend { @for item in &self.0 { li { (item) } } } } }
    }
}

/// Drawings side by side where the page has room, or one under the other: title, words, drawing.
pub(super) fn panels(side_by_side: bool, panels: &[(String, String, Markup)]) -> Markup {
    html! {
        div.panels.rows[!side_by_side] {
            @for (title, words, drawing) in panels {
                div { h4 { (title) } @if !words.is_empty() { p { (words) } } (drawing) }
            }
        }
    }
}
