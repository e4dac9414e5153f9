//! `cargo xtask picture`: the README's picture, a figure of the report of `mias evaluate quick`, as an SVG file that stands by itself.
//!
//! The figure is figure E's upper panel: STP by class of pair and policy. In the report it takes fonts and line styles from the page and
//! its legend is HTML. Here it brings both along, and a background, since a README may be shown on a dark page.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::util::root;

/// The drawing in the report, by its label for screen readers.
const LABEL: &str = "aria-label=\"Mean STP by class\"";

/// What it says in the report, and in the README, which names neither STP nor the classes of pairs before it.
const WORDS: [(&str, &str); 5] = [
    (">mean STP<", ">work done; 1: one after the other<"),
    (">CC<", ">two that compute<"),
    (">MM<", ">two that wait for memory<"),
    (">MC<", ">one of each<"),
    (">all<", ">all pairs<"),
];

/// Width of the report's drawings in user units, and their height (`host-sim/mias/src/report/evaluation/html/bars.rs`).
const SIZE: (f64, f64) = (960.0, 290.0);

/// Room for the legend above the drawing; its entries: first place, side of the square, room between entries, width of a letter of the
/// widest of the fonts (DejaVu Sans) in the legend's size.
const LEGEND_HEIGHT: f64 = 34.0;
const LEGEND: (f64, f64, f64, f64) = (60.0, 12.0, 20.0, 7.8);

/// Of the report's style what the drawing uses.
const STYLE: &str = "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1a1a1a}\
.tick{font-size:11.5px;fill:#555}.label,.legend{font-size:12.5px;fill:#333}.name{font-size:12.5px;font-weight:600}\
.axis{stroke:#333;stroke-width:1}.grid{stroke:#ddd;stroke-width:1}.one{stroke:#444;stroke-width:1.2;stroke-dasharray:5 3}";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The report that `mias evaluate quick` wrote
    #[arg(default_value = "results-quick/report.html")]
    report: PathBuf,
}

/// Writes `docs/pictures/work-done.svg`.
pub(crate) fn run(args: &Args) -> Result<()> {
    let report = fs::read_to_string(&args.report).with_context(|| format!("cannot read {}", args.report.display()))?;
    let picture = draw(&report).with_context(|| format!("{} has no figure with {LABEL}", args.report.display()))?;
    let path = root().join("docs/pictures/work-done.svg");
    fs::write(&path, picture).with_context(|| format!("cannot write {}", path.display()))
}

/// The file; none if the report has no such figure.
fn draw(report: &str) -> Option<String> {
    let (before, after) = report.split_once(LABEL)?;
    let (_, figure) = before.rsplit_once("<figure")?;
    let (_, drawing) = after.split_once('>')?;
    let (drawing, _) = drawing.split_once("</svg>")?;
    let drawing = WORDS.iter().fold(drawing.to_owned(), |drawing, (here, there)| drawing.replace(here, there));
    let drawing = drawing
        .replace("\"></line>", "\"/>")
        .replace("/><", "/>\n<")
        .replace("</text><", "</text>\n<")
        .replace("</rect><", "</rect>\n<")
        .replace("</line><", "</line>\n<");
    let (width, height) = (SIZE.0, SIZE.1 + LEGEND_HEIGHT);
    let legend = legend(figure);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" {LABEL}>\n\
         <!-- Written by `cargo xtask picture` from the report of `mias evaluate quick`; do not edit it. -->\n\
         <style>{STYLE}</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#fff\"/>\n{legend}\
         <g transform=\"translate(0 {LEGEND_HEIGHT})\">\n{drawing}\n</g>\n</svg>\n"
    ))
}

/// The entries of a figure's legend, side by side.
fn legend(figure: &str) -> String {
    let (mut x, side, gap, letter) = LEGEND;
    let mut drawn = String::new();
    for entry in figure.split("<li>").skip(1) {
        let colour = entry.split("background:").nth(1).and_then(|rest| rest.split(['"', ';']).next());
        let name = entry.split("</i>").nth(1).and_then(|rest| rest.split('<').next());
        let (Some(colour), Some(name)) = (colour, name) else { continue };
        let text = x + side + 6.0;
        drawn += &format!("<rect x=\"{x}\" y=\"14\" width=\"{side}\" height=\"{side}\" rx=\"2\" fill=\"{colour}\"/>");
        drawn += &format!("<text x=\"{text}\" y=\"24.5\" class=\"legend\">{name}</text>\n");
        x = (text + letter * name.chars().count() as f64 + gap).round();
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_brings_its_legend_along() {
        let report = "<figure id=\"e\"><ul class=\"legend\"><li><i style=\"background:#999999\"></i>left-over</li>\
                      <li><i style=\"background:#56B4E9\"></i>spatial</li></ul>\
                      <svg viewBox=\"0 0 960 290\" role=\"img\" aria-label=\"Mean STP by class\"><text>mean STP</text></svg>\
                      <svg>another</svg></figure>";
        let picture = draw(report).unwrap();
        for part in ["#999999", ">left-over<", "#56B4E9", ">spatial<", ">work done; 1: one after the other<"] {
            assert_eq!(picture.matches(part).count(), 1, "{part}");
        }
        assert!(!picture.contains("another"));
        assert_eq!(draw("<figure></figure>"), None);
    }
}
