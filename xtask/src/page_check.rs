//! `cargo xtask page-check DIR`: the report of a results folder and its figures in a browser. No
//! page may be wider than its window, and the page must print on A4. Texts of a drawing must not
//! overlap or exceed it, in the browser's own fonts.
//!
//! It needs Chromium on the path. Tests need no browser: they check the same with the widths of the
//! widest font (`host-sim/report/tests/figures.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::util::{self, cargo, root};

/// Script that runs in the page.
const SCRIPT: &str = include_str!("page_check.js");

/// Widths of windows in pixels: phone, tablet, desktop.
const WIDTHS: [u32; 3] = [420, 1_000, 1_400];

/// Columns of a paper, in millimeters.
const COLUMNS: [&str; 2] = ["84", "174"];

/// A4 in points, to the nearest (ISO 216: 210 x 297 mm).
const A4: (f64, f64) = (595.0, 842.0);

/// Names under which Chromium is installed.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A folder that `mias evaluate` wrote
    folder: PathBuf,
    /// Keep pages, figures and screenshots in this folder
    #[arg(long, default_value = "target/page-check")]
    out: PathBuf,
}

/// Checks the report and the figures.
pub(crate) fn run(args: &Args) -> Result<()> {
    let browser = browser().context("no Chromium on the path: install it (`apt-get install chromium`); nothing was checked")?;
    let folder = args.folder.canonicalize().with_context(|| format!("cannot read {}", args.folder.display()))?;
    let out = root().join(&args.out);
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let out = out.canonicalize()?;
    let page = out.join("report.html");
    mias(&[path(&folder)?, "--out", path(&page)?])?;
    let text = fs::read_to_string(&page)?;
    let checked = out.join("checked.html");
    fs::write(&checked, with_script(&text))?;
    let mut faults = Vec::new();
    for width in WIDTHS {
        faults.extend(check(browser, &checked, width)?.into_iter().map(|fault| format!("report at {width} pixels: {fault}")));
        screenshot(browser, &page, width, &out.join(format!("report-{width}.png")))?;
    }
    for column in COLUMNS {
        let figures = out.join(format!("figures-{column}"));
        mias(&[path(&folder)?, "--all", "--out", path(&figures)?, "--width-mm", column])?;
        let sheet = out.join(format!("figures-{column}.html"));
        fs::write(&sheet, with_script(&sheet_of(&figures)?))?;
        faults.extend(check(browser, &sheet, 1_400)?.into_iter().map(|fault| format!("figures of {column} mm: {fault}")));
        screenshot(browser, &sheet, 1_400, &out.join(format!("figures-{column}.png")))?;
    }
    let printed = out.join("report.pdf");
    browse(browser, &["--no-pdf-header-footer", &format!("--print-to-pdf={}", path(&printed)?), &url(&page)?])?;
    let sizes = page_sizes(&fs::read(&printed).context("nothing was printed")?);
    ensure!(!sizes.is_empty(), "{} has no page", printed.display());
    let is_a4 = |size: &(f64, f64)| (size.0 - A4.0).abs() < 2.0 && (size.1 - A4.1).abs() < 2.0;
    faults.extend(sizes.iter().filter(|size| !is_a4(size)).map(|size| format!("a printed page is {} by {} points", size.0, size.1)));
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    println!(
        "the report at {WIDTHS:?} pixels, its figures at {COLUMNS:?} mm and on {} sizes of printed pages: no fault; see {}",
        sizes.len(),
        out.display()
    );
    Ok(())
}

/// Returns the first installed browser.
fn browser() -> Option<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    BROWSERS.into_iter().find(there)
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

fn url(file: &Path) -> Result<String> {
    Ok(format!("file://{}", path(file)?))
}

/// Runs `mias report` with these arguments.
fn mias(arguments: &[&str]) -> Result<()> {
    util::run(&mut cargo([&["run", "--quiet", "--package", "mias", "--", "report"], arguments].concat()))
}

/// Returns the output of the browser.
fn browse(browser: &str, arguments: &[&str]) -> Result<String> {
    let quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=20000"];
    let output = Command::new(browser).args(quiet).args(arguments).output().context(browser.to_owned())?;
    ensure!(output.status.success(), "{browser}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Adds the script, which examines the page once it is loaded.
fn with_script(page: &str) -> String {
    page.replace("</body>", &format!("<script>{SCRIPT}</script></body>"))
}

/// Returns a page with all figures of a folder, each in its own size.
fn sheet_of(folder: &Path) -> Result<String> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let drawing = |path: &PathBuf| -> Result<String> {
        let text = fs::read_to_string(path)?;
        let (_, drawing) = text.split_once("?>").with_context(|| format!("{} is not an SVG file", path.display()))?;
        // Hatches of one name are the same in all figures.
        Ok(format!("<p>{}</p>{drawing}", path.display()))
    };
    let drawings = paths.iter().map(drawing).collect::<Result<String>>()?;
    Ok(format!("<!DOCTYPE html><html><body>{drawings}</body></html>"))
}

/// Returns a page that shows another in a frame of this width, and keeps the script's findings.
fn framed(page: &Path, width: u32) -> Result<String> {
    let source = url(page)?;
    Ok(format!(
        "<!DOCTYPE html><html><body style=\"margin:0\"><script>addEventListener('message', (said) => {{ const note = document.createElement('pre'); \
         note.id = 'page-check'; note.textContent = said.data; document.body.append(note); }});</script>\
         <iframe src=\"{source}\" style=\"border:0;width:{width}px;height:4000px\"></iframe></body></html>"
    ))
}

/// Returns the faults of a page in a window of this width.
fn check(browser: &str, page: &Path, width: u32) -> Result<Vec<String>> {
    let frame = page.with_extension(format!("{width}.html"));
    fs::write(&frame, framed(page, width)?)?;
    let dom = browse(browser, &["--window-size=1600,1000", "--dump-dom", &url(&frame)?])?;
    let note = dom.rsplit_once("<pre id=\"page-check\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (note, _) = note.with_context(|| format!("{} did not run its check", page.display()))?;
    let mut lines = note.lines();
    // A page without texts would have no faults either.
    let texts = lines.next().unwrap_or_default();
    ensure!(texts.ends_with(&format!(" texts at {width}")) && !texts.starts_with("0 "), "{}: {texts}, not at {width}", page.display());
    Ok(lines.map(str::to_owned).collect())
}

fn screenshot(browser: &str, page: &Path, width: u32, to: &Path) -> Result<()> {
    browse(browser, &[&format!("--window-size={width},6000"), &format!("--screenshot={}", path(to)?), &url(page)?]).map(|_| ())
}

/// Returns the sizes of a PDF file's pages in points, from its uncompressed page objects.
fn page_sizes(file: &[u8]) -> Vec<(f64, f64)> {
    let text = String::from_utf8_lossy(file);
    let of = |rest: &str| {
        let numbers: Vec<f64> =
            rest.trim_start().strip_prefix('[')?.split(']').next()?.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        if let [0.0, 0.0, width, height] = numbers[..] { Some((width, height)) } else { None }
    };
    text.split("/MediaBox").skip(1).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_sizes() {
        let file = b"<</Type /Page /MediaBox [0 0 594.96 841.92]>> <</MediaBox[0 0 100 50.5] >> /MediaBox [1 2 3]";
        assert_eq!(page_sizes(file), [(594.96, 841.92), (100.0, 50.5)]);
    }

    #[test]
    fn a_page_examines_itself_once() {
        let page = with_script("<html><body>x</body></html>");
        assert_eq!(page.matches("<script>").count(), 1);
        assert!(page.ends_with("</script></body></html>"));
    }
}
