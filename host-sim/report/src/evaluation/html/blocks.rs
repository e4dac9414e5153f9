//! Drawing of a plan's report blocks in order: `mias_lab`'s [`blocks`](mias_lab::evaluate::blocks)
//! determine the content, this module the form.

use super::page::Page;
use super::palette::{self, BLUE, GRAY, GREEN, ORANGE, PURPLE, SKY, VERMILLION};
use super::{conditions, decisions, factorial, studies, tables, usual};
use crate::evaluation::alternatives;
use crate::evaluation::figure::{
    Bar, Bars, Chart, Cluster, Curve, Curves, Dot, Figure, Key, Mark, Marker, Panel, Placed, Plane, RATIO, Ranked, Series, Stack, Stacks,
    Style, Surface, Swatch, Unit,
};
use mias_lab::evaluate::blocks::{self, Block, Judgment, Kind, Row};
use mias_lab::evaluate::results::{Evaluation, StudyResult};

/// Colors of series that are no policies, in order.
const COLORS: [&str; 7] = [ORANGE, PURPLE, BLUE, SKY, GREEN, VERMILLION, GRAY];

/// Draws all blocks.
pub(super) fn draw(page: &mut Page, evaluation: &Evaluation) {
    let mut experiments = 0;
    for block in &evaluation.plan.report.blocks {
        let of_block = block.studies(evaluation);
        if of_block.is_empty() && !block.experiments.is_empty() {
            continue;
        }
        match block.kind {
            Kind::Section => section(page, block, &of_block),
            Kind::Usual if block.experiments.is_empty() => super::default(page, evaluation),
            Kind::Usual => {
                usual::draw(page, experiments, &of_block);
                experiments += 1;
            }
            Kind::Groups => of_block.iter().for_each(|study| {
                page.heading(&studies::titled(&study.title, study));
                tables::groups(page, study);
            }),
            Kind::DecisionQuality => decisions::draw(page, evaluation),
            Kind::Table => table(page, evaluation, block),
            Kind::Claims => claims(page, evaluation, block),
            Kind::Alternatives => choices(page, evaluation, block),
            Kind::Factorial => factorial::draw(page, evaluation, block),
            Kind::Bars | Kind::Stacks | Kind::Lines | Kind::Scatter | Kind::Matrix | Kind::Ranked => figure(page, evaluation, block),
        }
    }
}

fn section(page: &mut Page, block: &Block, studies: &[&StudyResult]) {
    page.section(&block.title);
    if let Some(study) = studies.first() {
        page.note_once(&conditions::fully(study));
    }
    if let Some(words) = &block.caption {
        page.paragraph(words.of(&[]));
    }
}

fn table(page: &mut Page, evaluation: &Evaluation, block: &Block) {
    let rows = block.rows(evaluation);
    if rows.is_empty() {
        return;
    }
    if !block.title.is_empty() {
        page.heading(&block.title);
    }
    for (title, rows) in block.panels(&rows) {
        let cells = if block.across { block.across(&evaluation.plan.report.published, &rows) } else { block.table(&rows) };
        if !title.is_empty() {
            page.paragraph(title);
        }
        page.table(&block.headings(), &cells, !block.across);
    }
    if let Some(words) = &block.caption {
        page.note(&words.of(&rows.iter().collect::<Vec<_>>()));
    }
}

fn claims(page: &mut Page, evaluation: &Evaluation, block: &Block) {
    page.heading(&block.title);
    let cells: Vec<Vec<String>> = block.judgments(evaluation).iter().map(Judgment::cells).collect();
    page.table(&Judgment::HEADINGS, &cells, false);
    if let Some(words) = &block.caption {
        page.note(&words.of(&[]));
    }
}

fn choices(page: &mut Page, evaluation: &Evaluation, block: &Block) {
    let judged = block.alternatives(evaluation);
    page.heading(&block.title);
    page.lines(&alternatives::choosers(&judged), false);
    page.note(alternatives::WHAT);
    for one in &judged {
        page.heading(&format!("Each group by {}", one.name));
        page.lines(&alternatives::groups(one), true);
    }
}

fn figure(page: &mut Page, evaluation: &Evaluation, block: &Block) {
    let rows = block.rows(evaluation);
    let (mut panels, mut key) = (Vec::new(), Key::default());
    // Series of all panels, so that each looks the same in all of them and the key is complete.
    let known = block.series_names(&rows.iter().collect::<Vec<_>>());
    if block.kind == Kind::Ranked {
        panels = ranked(block, &rows.iter().collect::<Vec<_>>(), &mut key);
    }
    for (title, of_panel) in block.panels(&rows).into_iter().filter(|_| block.kind != Kind::Ranked) {
        let drawn = match block.kind {
            Kind::Bars => bars(page, evaluation, block, (&of_panel, &known), &mut key),
            Kind::Stacks => stacks(page, evaluation, block, (&of_panel, &known), &mut key),
            Kind::Lines => lines(block, &of_panel),
            Kind::Scatter => scatter(page, block, (&of_panel, &known), &mut key),
            _ => matrix(block, &of_panel),
        };
        panels.extend(drawn.map(|chart| Panel { title, words: String::new(), chart }));
    }
    if panels.is_empty() {
        return;
    }
    if !block.title.is_empty() {
        page.heading(&block.title);
    }
    let rows: Vec<&Row<'_>> = rows.iter().collect();
    let caption = block.caption.as_ref().map_or_else(String::new, |words| words.of(&rows));
    page.figure(Figure { id: block.figure.clone(), caption, key, panels });
}

fn unit(block: &Block) -> Unit {
    match block.unit {
        blocks::Unit::Ratio => RATIO,
        blocks::Unit::Percent => Unit::Percent,
        blocks::Unit::Change | blocks::Unit::Grouped => RATIO,
    }
}

/// Returns the text alternative of a chart.
fn label(block: &Block) -> String {
    if block.title.is_empty() { block.y_label.clone() } else { block.title.clone() }
}

/// Returns the style of a series: a policy's own if series are policies.
fn style(page: &Page, block: &Block, name: &str, at: usize) -> Style {
    match &block.series {
        Some(series) if series.text() == "policy" => page.palette.style(name),
        _ => palette::of(&COLORS, at),
    }
}

/// Returns the index of a series among those of all panels.
fn place(known: &[String], name: &str) -> usize {
    known.iter().position(|known| known == name).unwrap_or_default()
}

/// Returns the series of a panel; the first panel adds those of all to the key.
fn series(page: &Page, block: &Block, names: Vec<String>, known: &[String], key: &mut Key) -> Vec<Series> {
    let style = |name: &str| style(page, block, name, place(known, name));
    if known.len() > 1 && known.first().is_some_and(|first| !key.has(Swatch::Bar(style(first)))) {
        *key = known.iter().fold(std::mem::take(key), |key, name| key.with(Swatch::Bar(style(name)), name));
    }
    names.into_iter().map(|name| Series { style: style(&name), name }).collect()
}

fn bars(page: &Page, evaluation: &Evaluation, block: &Block, (rows, known): (&[&Row<'_>], &[String]), key: &mut Key) -> Option<Chart> {
    let (names, clusters) = block.bars(&evaluation.plan.report.published, rows);
    let cluster = |of: blocks::Cluster| Cluster {
        names: of.names,
        bars: of
            .bars
            .iter()
            .map(|bar| bar.map(|cell| Bar { value: cell.value, of: cell.of, half_width: cell.half_width, interval: cell.interval }))
            .collect(),
        marks: of.published.iter().enumerate().filter_map(|(at, said)| said.map(|said| Mark::Paper(at, said))).collect(),
        apart: of.apart,
    };
    let clusters: Vec<Cluster> = clusters.into_iter().map(cluster).collect();
    if clusters.is_empty() {
        return None;
    }
    let series = series(page, block, names, known, key);
    let quartiles = clusters.iter().flat_map(|cluster| cluster.bars.iter().flatten()).any(|bar| bar.of.is_some_and(|(n, _)| n > 1));
    let said = clusters.iter().any(|cluster| !cluster.marks.is_empty());
    for (swatch, name) in [(Swatch::Quartiles, "quartiles"), (Swatch::Thesis, "paper")] {
        let has = if swatch == Swatch::Quartiles { quartiles } else { said };
        *key = if has && !key.has(swatch) { std::mem::take(key).with(swatch, name) } else { std::mem::take(key) };
    }
    Some(Chart::Bars(Bars {
        label: label(block),
        y_label: block.y_label.clone(),
        unit: unit(block),
        series,
        clusters,
        one: block.one,
        numbers: block.numbers,
    }))
}

fn stacks(page: &Page, evaluation: &Evaluation, block: &Block, (rows, known): (&[&Row<'_>], &[String]), key: &mut Key) -> Option<Chart> {
    let (names, clusters) = block.bars(&evaluation.plan.report.published, rows);
    let share = |bar: &Option<blocks::Cell>| bar.map_or(0.0, |cell| cell.value);
    let stack = |of: blocks::Cluster| Stack { names: of.names, shares: of.bars.iter().map(share).collect() };
    let stacks: Vec<Stack> = clusters.into_iter().map(stack).collect();
    let series = series(page, block, names, known, key);
    (!stacks.is_empty()).then(|| Chart::Stacks(Stacks { label: label(block), y_label: block.y_label.clone(), series, stacks }))
}

/// Returns a panel for each of the values.
fn ranked(block: &Block, rows: &[&Row<'_>], key: &mut Key) -> Vec<Panel> {
    let (series, values) = block.ranked(rows);
    let marker = |at: usize| Marker { style: palette::of(&COLORS, at), filling: 0 };
    *key = series.iter().enumerate().fold(Key::default(), |key, (at, name)| key.with(Swatch::Dot(marker(at)), name));
    let placed =
        |of: blocks::Placed| Placed { name: of.name, marker: marker(of.series), value: of.ratio.map(|ratio| (ratio.mean, ratio.interval)) };
    let panel = |(value, of): (&blocks::Named, Vec<blocks::Placed>)| Panel {
        title: value.name.clone(),
        words: String::new(),
        chart: Chart::Ranked(Ranked {
            label: value.name.clone(),
            x_label: block.x_label.clone(),
            placed: of.into_iter().map(placed).collect(),
        }),
    };
    block.values.iter().zip(values).filter(|(_, of)| !of.is_empty()).map(panel).collect()
}

fn lines(block: &Block, rows: &[&Row<'_>]) -> Option<Chart> {
    let curve = |(at, line): (usize, blocks::Line)| {
        let (marker, dash) = palette::curve(at);
        Curve { name: line.name, dash, marker, points: line.points }
    };
    let curves: Vec<Curve> = block.lines(rows).into_iter().filter(|line| line.points.len() > 1).enumerate().map(curve).collect();
    let (x, y) = ((block.x_label.clone(), ""), (block.y_label.clone(), ""));
    (!curves.is_empty()).then(|| Chart::Curves(Curves { label: label(block), x, y, band: None, curves }))
}

fn scatter(page: &Page, block: &Block, (rows, known): (&[&Row<'_>], &[String]), key: &mut Key) -> Option<Chart> {
    let marker = |name: &str| match &block.series {
        Some(series) if series.text() == "policy" => page.palette.marker(name, 0),
        _ => palette::curve(place(known, name)).0,
    };
    *key = known.iter().fold(Key::default(), |key, name| key.with(Swatch::Dot(marker(name)), name));
    let mut dots = Vec::new();
    for (name, of_series) in block.dots(rows) {
        let marker = marker(&name);
        dots.extend(of_series.into_iter().map(|dot| Dot { at: dot.at, marker, group: dot.of, series: name.clone() }));
    }
    (!dots.is_empty()).then(|| {
        Chart::Plane(Plane {
            label: label(block),
            x_label: block.x_label.clone(),
            y_label: block.y_label.clone(),
            diagonal: block.diagonal,
            ones: block.one,
            dots,
        })
    })
}

fn matrix(block: &Block, rows: &[&Row<'_>]) -> Option<Chart> {
    let grid = block.grid(rows)?;
    Some(Chart::Surface(Surface {
        label: label(block),
        quantity: block.y_label.clone(),
        x_label: block.x_label.clone(),
        y_label: block.by_label.clone(),
        columns: grid.columns,
        rows: grid.rows,
        values: grid.values,
    }))
}
