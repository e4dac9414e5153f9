//! HTML page of an evaluation's report: one file without external resources, readable on screen and
//! on paper.

use super::palette::Palette;
use crate::evaluation::Table;
use crate::evaluation::figure::{self, Figure};
use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use mias_lab::table::{DASH, are_words};

/// Style sheet of page and drawings.
const STYLE: &str = include_str!("page.css");

/// Page under construction.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Colors of the report's policies.
    pub(super) palette: Palette,
    body: Vec<Markup>,
    /// Headings of the sections.
    sections: Vec<String>,
    figures: Vec<Figure>,
    /// Notes already added by [`Page::note_once`].
    said: Vec<String>,
}

/// Returns the anchor of a section, counted from 0.
fn anchor(section: usize) -> String {
    format!("s{}", section + 1)
}

impl Page {
    /// Creates an empty page whose policies have these colors.
    pub(super) fn new(palette: Palette) -> Self {
        Page { palette, ..Page::default() }
    }

    /// Adds a section heading.
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

    /// Adds a paragraph in small print.
    pub(super) fn note(&mut self, text: &str) {
        self.body.push(html! { p.note { (text) } });
    }

    /// Adds a note, unless the page already has it.
    pub(super) fn note_once(&mut self, text: &str) {
        if !self.said.iter().any(|said| said == text) {
            self.note(text);
            self.said.push(text.to_owned());
        }
    }

    pub(super) fn figure(&mut self, figure: Figure) {
        self.body.push(figure.inline());
        self.figures.push(figure);
    }

    /// Returns all figures so far.
    pub(super) fn into_figures(self) -> Vec<Figure> {
        self.figures
    }

    /// Adds a table; columns of words are left-aligned. If `ruled`, a rule precedes rows whose
    /// first cell differs from the one before. Columns without values are left out.
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

    /// Adds a table with its headings.
    pub(super) fn lines(&mut self, (headings, rows): &Table, ruled: bool) {
        self.table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), rows, ruled);
    }

    /// Returns the whole document, which begins with `lead`.
    pub(super) fn finish(self, title: &str, lead: &Markup) -> String {
        let hatches = figure::definitions(self.figures.iter().flat_map(Figure::styles));
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    title { (title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(figure::sheet())) }
                }
                body {
                    svg.hatches width="0" height="0" aria-hidden="true" { (hatches) }
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
