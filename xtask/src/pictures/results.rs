//! Figures of stored results, written by `mias report`.

use std::fs;

use anyhow::{Context, Result};

use crate::util::{cargo, root, run, write_file};

/// Picture, stored results in `docs/results/data/`, and number of the figure in their report.
/// `mias report FILE --list` prints the numbers.
const FIGURES: [(&str, &str, &str); 15] = [
    ("thesis-s-cc.svg", "thesis.json.xz", "4.2a"),
    ("thesis-s-mm.svg", "thesis.json.xz", "4.2b"),
    ("thesis-s-mc.svg", "thesis.json.xz", "4.2c"),
    ("dai-3.svg", "dai.json.xz", "3"),
    ("dai-12a.svg", "dai.json.xz", "12a"),
    ("dai-13a.svg", "dai.json.xz", "13a"),
    ("lin-13.svg", "lin.json.xz", "13"),
    ("lin-14.svg", "lin.json.xz", "14"),
    ("lin-15.svg", "lin.json.xz", "15"),
    ("zhao-3.svg", "zhao.json.xz", "3"),
    ("zhao-7.svg", "zhao.json.xz", "7"),
    ("zhao-10.svg", "zhao.json.xz", "10"),
    ("shieh-4.1.svg", "shieh.json.xz", "4.1"),
    ("shieh-4.3.svg", "shieh.json.xz", "4.3"),
    ("shieh-4.5a.svg", "shieh.json.xz", "4.5a"),
];

/// Width of a page of two columns.
const WIDTH_MM: &str = "174";

/// Writes the figures, each on a white background, as their colors are for light pages only.
pub(super) fn write() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (picture, data, number) in FIGURES {
        let (file, data) = (folder.path().join(picture), root().join("docs/results/data").join(data));
        let mut mias = cargo(["run", "--quiet", "-p", "mias", "--", "report"]);
        run(mias.arg(data).args(["--figure", number, "--width-mm", WIDTH_MM, "--out"]).arg(&file))?;
        let figure = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let figure = on_white(&figure).with_context(|| format!("figure {number} has no style"))?;
        write_file(format!("docs/pictures/{picture}"), figure)?;
    }
    Ok(())
}

/// Returns the figure with a background behind it.
fn on_white(figure: &str) -> Option<String> {
    let (head, drawn) = figure.split_once("</style>")?;
    Some(format!("{head}</style><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>{drawn}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_is_behind_the_figure() {
        let figure = on_white("<svg><style>a</style><text>b</text></svg>").unwrap();
        assert_eq!(figure, "<svg><style>a</style><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/><text>b</text></svg>");
        assert_eq!(on_white("<svg></svg>"), None);
    }

    #[test]
    fn stored_results_of_every_figure_exist() {
        for (picture, data, _) in FIGURES {
            assert!(root().join("docs/results/data").join(data).is_file(), "{picture}: {data}");
        }
    }
}
