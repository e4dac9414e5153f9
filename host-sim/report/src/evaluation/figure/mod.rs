//! Figures as data, from which a page, a file for a paper and a table are generated.
//!
//! ```text
//! results -> Figure (caption, key, panels of charts) -> Drawing (elements with geometry) -> SVG in the page, SVG of its own
//!                                                    -> Table -> CSV
//! ```
//!
//! A chart lays itself out for a given width, in units in which text has one size. A narrow column
//! has fewer bars to a row and more rows, with text as large as on a wide page.

mod bars;
mod curves;
mod drawing;
mod fill;
mod key;
mod look;
mod measure;
mod plane;
mod ranked;
mod rows;
mod scale;
mod stacks;
mod strips;
mod surface;
mod table;

pub(crate) use bars::{Bar, Bars, Cluster, Mark, Series};
pub(crate) use curves::{Curve, Curves};
pub use drawing::{Drawing, Point};
pub(crate) use fill::{Marker, Style, definitions};
pub(crate) use key::{Key, Swatch};
pub(crate) use look::sheet;
pub(crate) use plane::{Dot, Plane};
pub(crate) use ranked::{Placed, Ranked};
pub(crate) use scale::{RATIO, Unit};
pub(crate) use stacks::{Stack, Stacks};
pub(crate) use strips::{Strip, Strips};
pub(crate) use surface::Surface;

use drawing::Anchor;
use maud::{Markup, html};
use measure::{LINE, TEXT, wrapped};
use table::Table;

/// Figure with its panels.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Number, such as `4.2a` or `A.1`.
    pub id: String,
    /// Caption: content, sample size, method.
    pub caption: String,
    pub(crate) key: Key,
    pub(crate) panels: Vec<Panel>,
}

/// Panel of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Title; empty if the chart states it.
    pub(crate) title: String,
    /// Text under the title on the page.
    pub(crate) words: String,
    pub(crate) chart: Chart,
}

impl Panel {
    pub(crate) fn untitled(chart: Chart) -> Self {
        Panel { title: String::new(), words: String::new(), chart }
    }
}

/// Chart of one kind.
#[derive(Clone, Debug)]
pub(crate) enum Chart {
    Bars(Bars),
    Stacks(Stacks),
    Curves(Curves),
    Plane(Plane),
    Strips(Strips),
    Surface(Surface),
    Ranked(Ranked),
}

/// Size of a standalone figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Width of the column, in millimeters: 84 is one of two columns of a page, 174 is both.
    pub width_mm: f64,
    /// Size of all text, in points.
    pub text_pt: f64,
}

/// Points per millimeter: 72 to an inch of 25.4 mm.
const PT_PER_MM: f64 = 72.0 / 25.4;

/// Width of the page's drawings in user units, alone and side by side.
const PAGE: f64 = 960.0;
const HALF_PAGE: f64 = 520.0;

/// Width in user units from which panels of a file stand side by side: two columns of a page.
const SIDE_BY_SIDE: f64 = 640.0;

/// Space between panels in user units.
const BETWEEN: f64 = 24.0;

impl Size {
    fn width_pt(self) -> f64 {
        self.width_mm * PT_PER_MM
    }

    /// Returns the width of the figure in user units.
    fn units(self) -> f64 {
        self.width_pt() * TEXT / self.text_pt
    }
}

impl Chart {
    fn draw(&self, width: f64) -> Drawing {
        match self {
            Chart::Bars(chart) => chart.draw(width),
            Chart::Stacks(chart) => chart.draw(width),
            Chart::Curves(chart) => chart.draw(width),
            Chart::Plane(chart) => chart.draw(width),
            Chart::Strips(chart) => chart.draw(width),
            Chart::Surface(chart) => chart.draw(width),
            Chart::Ranked(chart) => chart.draw(width),
        }
    }

    fn label(&self) -> &str {
        match self {
            Chart::Bars(chart) => &chart.label,
            Chart::Stacks(chart) => &chart.label,
            Chart::Curves(chart) => &chart.label,
            Chart::Plane(chart) => &chart.label,
            Chart::Strips(chart) => &chart.label,
            Chart::Surface(chart) => &chart.label,
            Chart::Ranked(chart) => &chart.label,
        }
    }

    fn table(&self, table: &mut Table, panel: &str) {
        match self {
            Chart::Bars(chart) => chart.table(table, panel),
            Chart::Stacks(chart) => chart.table(table, panel),
            Chart::Curves(chart) => chart.table(table, panel),
            Chart::Plane(chart) => chart.table(table, panel),
            Chart::Strips(chart) => chart.table(table, panel),
            Chart::Surface(chart) => chart.table(table, panel),
            Chart::Ranked(chart) => chart.table(table, panel),
        }
    }
}

impl Figure {
    /// Returns the figure's anchor on the page.
    pub(crate) fn anchor(&self) -> String {
        format!("figure-{}", self.id.to_lowercase().replace(['.', ' '], "-"))
    }

    /// Returns whether panels stand side by side if they fit: those with a title.
    fn beside(&self) -> bool {
        self.panels.len() > 1 && self.panels.iter().all(|panel| !panel.title.is_empty())
    }

    /// Formats the figure for the page, which has the styles, and the hatches of
    /// [`Figure::styles`].
    pub(crate) fn inline(&self) -> Markup {
        let beside = self.beside();
        let drawn = |panel: &Panel| panel.chart.draw(if beside { HALF_PAGE } else { PAGE }).inline(panel.chart.label());
        html! {
            figure id=(self.anchor()) {
                (self.key.list())
                div.panels.rows[!beside] {
                    @for panel in &self.panels {
                        div {
                            @if !panel.title.is_empty() { h4 { (panel.title) } }
                            @if !panel.words.is_empty() { p { (panel.words) } }
                            div.drawing { (drawn(panel)) }
                        }
                    }
                }
                figcaption { b { "Figure " (self.id) "." } " " (self.caption) }
            }
        }
    }

    /// Returns the styles of the figure's areas, with repetitions.
    pub(crate) fn styles(&self) -> Vec<Style> {
        let drawn = self.panels.iter().flat_map(|panel| panel.chart.draw(PAGE).styles().collect::<Vec<_>>());
        self.key.styles().chain(drawn).collect()
    }

    /// Draws the whole figure in one drawing of this width in user units: the key, then the panels.
    fn whole(&self, width: f64) -> Drawing {
        const EDGE: f64 = 2.0;
        let inner = width - 2.0 * EDGE;
        let key = self.key.draw(inner);
        let mut y = EDGE + key.height;
        let mut whole = Drawing::new(width, 0.0);
        whole.place((EDGE, EDGE), key);
        let columns = if self.beside() && inner >= SIDE_BY_SIDE { 2 } else { 1 };
        let column = (inner - BETWEEN * (columns - 1) as f64) / columns as f64;
        for (row, panels) in self.panels.chunks(columns).enumerate() {
            y += if row > 0 { 10.0 } else { 0.0 };
            let mut lowest = y;
            for (at, panel) in panels.iter().enumerate() {
                let x = EDGE + (column + BETWEEN) * at as f64;
                let mut top = y;
                for line in wrapped(&panel.title, column) {
                    whole.text((x, top + LINE - 3.0), Anchor::Start, "title", &line);
                    top += LINE;
                }
                let drawn = panel.chart.draw(column);
                lowest = lowest.max(top + drawn.height);
                whole.place((x, top), drawn);
            }
            y = lowest;
        }
        whole.height = y + EDGE;
        whole
    }

    /// Returns the drawings of a file of this size, and those of each panel on the page.
    pub fn drawings(&self, size: Size) -> Vec<Drawing> {
        let of_page = self.panels.iter().flat_map(|panel| [PAGE, HALF_PAGE].map(|width| panel.chart.draw(width)));
        of_page.chain([self.whole(size.units())]).collect()
    }

    /// Formats the figure as an SVG file.
    pub fn svg(&self, size: Size) -> String {
        self.whole(size.units()).document(size.width_pt(), &format!("Figure {}", self.id), &self.caption)
    }

    /// Formats the figure's numbers as CSV, with units in the heading.
    ///
    /// # Errors
    /// None in practice: memory takes every row.
    pub fn csv(&self) -> csv::Result<String> {
        let mut table = Table::default();
        for panel in &self.panels {
            panel.chart.table(&mut table, &panel.title);
        }
        table.csv()
    }
}
