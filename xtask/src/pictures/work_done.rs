//! `cargo xtask pictures --work-done`: the README's picture, a figure of the report of `mias
//! evaluate quick`, as an SVG file that stands by itself.
//!
//! The picture is a panel of the report's figure of throughput and fairness: STP by class of pair
//! and policy. In the report, fonts, line styles and hatches come from the page, and the key is
//! HTML. The file includes them, and a background, since a README may be shown on a dark page.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::util::write_file;

/// Label of the drawing in the report, for screen readers.
const LABEL: &str = "aria-label=\"Mean STP by class\"";

/// Words of the report, and their replacements in the README, which defines neither STP nor classes
/// of pairs.
const WORDS: [(&str, &str); 5] = [
    (">mean STP<", ">throughput (1: sequential)<"),
    (">CC<", ">both compute-intensive<"),
    (">MM<", ">both memory-intensive<"),
    (">MC<", ">one of each<"),
    (">all<", ">all pairs<"),
];

/// Space for the key above the drawing; its entries: first position, space between entries, width
/// of a letter of the widest of the fonts (DejaVu Sans) in the key's size.
const KEY_HEIGHT: f64 = 34.0;
const KEY: (f64, f64, f64) = (40.0, 20.0, 7.8);

/// Side of a swatch of the report's key (`host-sim/report/src/evaluation/figure/key.rs`).
const SWATCH: f64 = 14.0;

/// Fonts of the page; the rest of the style belongs to the drawings.
const FONTS: &str = "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}";

/// Writes `docs/pictures/work-done.svg` from the report that `mias evaluate quick` wrote.
pub(super) fn write(report: &Path) -> Result<()> {
    let text = fs::read_to_string(report).with_context(|| format!("cannot read {}", report.display()))?;
    let picture = draw(&text).with_context(|| format!("{} has no figure with {LABEL}", report.display()))?;
    write_file("docs/pictures/work-done.svg", picture)
}

/// Returns the file; `None` if the report has no such figure.
fn draw(report: &str) -> Option<String> {
    let (before, after) = report.split_once(LABEL)?;
    let (_, figure) = before.rsplit_once("<figure")?;
    let (_, seen) = before.rsplit_once("viewBox=\"0 0 ")?;
    let (width, height) = seen.split_once('"')?.0.split_once(' ')?;
    let (width, height): (f64, f64) = (width.parse().ok()?, height.parse().ok()?);
    let (_, drawing) = after.split_once('>')?;
    let (drawing, _) = drawing.split_once("</svg>")?;
    let drawing = WORDS.iter().fold(drawing.to_owned(), |drawing, (here, there)| drawing.replace(here, there));
    let lines = |drawing: String| {
        ["text", "rect", "polyline", "polygon"].iter().fold(drawing, |d, name| d.replace(&format!("</{name}><"), &format!("</{name}>\n<")))
    };
    let between = |from: &str, to: &str| report.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map_or("", |(inside, _)| inside);
    let (hatches, key, whole) = (between("<defs>", "</defs>"), key(figure), height + KEY_HEIGHT);
    let style: String = between("<style>", "</style>").lines().filter(|line| CLASSES.iter().any(|class| line.starts_with(class))).collect();
    let drawing = lines(drawing);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {whole}\" role=\"img\" {LABEL} font-size=\"12\">\n\
         <!-- Written by `cargo xtask pictures` from the report of `mias evaluate quick`; do not edit it. -->\n\
         <style>{FONTS}{style}</style>\n<defs>{hatches}</defs>\n<rect width=\"{width}\" height=\"{whole}\" rx=\"6\" fill=\"#fff\"/>\n{key}\
         <g transform=\"translate(0 {KEY_HEIGHT})\">\n{drawing}\n</g>\n</svg>\n"
    ))
}

/// Classes of the report's style that the drawing uses.
const CLASSES: [&str; 9] = [".tick", ".label", ".name", ".bar", ".axis", ".grid", ".one", ".oracle", ".spread"];

/// Returns the entries of a figure's key, side by side.
fn key(figure: &str) -> String {
    let (mut x, gap, letter) = KEY;
    let mut drawn = String::new();
    for entry in figure.split("<li>").skip(1) {
        let swatch = entry.split_once("<svg").and_then(|(_, rest)| rest.split_once('>')).and_then(|(_, rest)| rest.split_once("</svg>"));
        let Some((swatch, rest)) = swatch else { continue };
        let name = rest.split('<').next().unwrap_or_default();
        let text = x + SWATCH + 6.0;
        drawn += &format!("<g transform=\"translate({x} 12)\">{swatch}</g>");
        drawn += &format!("<text x=\"{text}\" y=\"23.5\" class=\"label\">{name}</text>\n");
        x = (text + letter * name.chars().count() as f64 + gap).round();
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_brings_its_key_along() {
        let report = "<style>p{margin:0}\n.bar{stroke:#222222}\n</style><defs><pattern id=\"h1\"></pattern></defs>\
                      <figure id=\"e\"><ul class=\"legend\"><li><svg viewBox=\"0 0 14 14\"><rect fill=\"#999999\"></rect></svg>left-over</li>\
                      <li><svg viewBox=\"0 0 14 14\"><rect fill=\"#56B4E9\"></rect></svg>spatial</li></ul>\
                      <svg viewBox=\"0 0 960 290\" role=\"img\" aria-label=\"Mean STP by class\"><text>mean STP</text></svg>\
                      <svg>another</svg></figure>";
        let picture = draw(report).unwrap();
        for part in ["#999999", ">left-over<", "#56B4E9", ">spatial<", ">throughput (1: sequential)<", "id=\"h1\"", ".bar{", "0 0 960 324"]
        {
            assert_eq!(picture.matches(part).count(), 1, "{part}");
        }
        assert!(!picture.contains("another") && !picture.contains("margin"));
        assert_eq!(draw("<figure></figure>"), None);
    }
}
