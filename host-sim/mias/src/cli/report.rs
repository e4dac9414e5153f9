//! `mias report`: report of a finished evaluation, and its individual figures, from the results in
//! the folder.

use super::CliError;
use clap::ValueEnum;
use mias_lab::evaluate::plan;
use mias_lab::evaluate::results::Evaluation;
use mias_lab::evaluate::store::{Store, results_in};
use mias_lab::experiment::policies::Policies;
use mias_lab::output::Output;
use mias_report::evaluation::figure::{Figure, Size};
#[cfg(feature = "parquet")]
use mias_report::evaluation::parquet;
use mias_report::evaluation::{csv, html, markdown};
use mias_workloads::input::suggest;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// Folder that `mias evaluate` wrote, or its results.json, also as .json.xz
    folder: PathBuf,
    /// Plan whose report blocks to use [default: the evaluated plan]
    #[arg(long, value_name = "PLAN")]
    plan: Option<String>,
    /// Print tables and claims as Markdown, all or those with one title
    #[arg(long, value_name = "TITLE", num_args = 0..=1, require_equals = true, conflicts_with_all = ["list", "figure", "all", "results"])]
    markdown: Option<Option<String>>,
    /// Print number and caption of each figure, and exit
    #[arg(long, conflicts_with_all = ["figure", "all", "out"])]
    list: bool,
    /// Export one figure by its number, as in 4.2a or A.1
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    figure: Option<String>,
    /// Export every figure into the folder of --out
    #[arg(long, requires = "out")]
    all: bool,
    /// Export all results as .csv, or as .parquet if built with the feature `parquet`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "figure", "all", "out"])]
    results: Option<PathBuf>,
    /// Output file, or folder for --all [default: standard output]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// File type [default: the extension of --out, or svg]
    #[arg(long, value_enum)]
    format: Option<FigureFormat>,
    /// Figure width in millimeters: 84 for one column, 174 for two
    #[arg(long, value_name = "MM", default_value_t = 84.0, value_parser = within::<30, 1000>)]
    width_mm: f64,
    /// Text size in points
    #[arg(long, value_name = "PT", default_value_t = 8.0, value_parser = within::<4, 24>)]
    text_pt: f64,
}

/// File format of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FigureFormat {
    /// Scalable Vector Graphics
    Svg,
    /// Comma-separated values, with units in the heading
    Csv,
}

/// Parses a number from LOW to HIGH.
fn within<const LOW: u32, const HIGH: u32>(text: &str) -> Result<f64, String> {
    let range = f64::from(LOW)..=f64::from(HIGH);
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| format!("expected a number from {LOW} to {HIGH}"))
}

impl FigureFormat {
    fn ending(self) -> &'static str {
        match self {
            FigureFormat::Svg => "svg",
            FigureFormat::Csv => "csv",
        }
    }

    /// Returns the format for a file name extension.
    fn of(path: &Path) -> Result<Self, CliError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
        let known = FigureFormat::value_variants();
        known.iter().copied().find(|format| format.ending() == ending).ok_or_else(|| {
            let endings: Vec<String> = known.iter().map(|format| format!(".{}", format.ending())).collect();
            CliError::User(format!("{}: a figure's file ends in {}; or set --format", path.display(), endings.join(", ")))
        })
    }

    fn render(self, figure: &Figure, size: Size) -> Result<Vec<u8>, CliError> {
        Ok(match self {
            FigureFormat::Svg => figure.svg(size).into_bytes(),
            FigureFormat::Csv => figure.csv().map_err(CliError::internal)?.into_bytes(),
        })
    }
}

/// Formats the table of all numbers, by the file name extension.
fn results(evaluation: &Evaluation, path: &Path) -> Result<Vec<u8>, CliError> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(csv::render(evaluation).map_err(CliError::internal)?.into_bytes()),
        #[cfg(feature = "parquet")]
        Some("parquet") => parquet::render(evaluation).map_err(CliError::internal),
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => {
            let remedy = "this mias was built without feature `parquet`; use a .csv, or rebuild with `--features parquet`";
            Err(CliError::User(format!("{}: {remedy}", path.display())))
        }
        _ => Err(CliError::User(format!("{}: a table of results ends in .csv or .parquet", path.display()))),
    }
}

/// Returns whether the extension is that of an HTML page. A path without an extension may be
/// `/dev/stdout`.
fn is_page(path: &Path) -> bool {
    path.extension().is_none_or(|ending| ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm"))
}

/// Reads results from a folder or from a results file.
fn evaluation(path: &Path) -> Result<Evaluation, CliError> {
    if path.is_file() {
        return Ok(results_in(path)?);
    }
    let (store, _) = Store::existing(path)?;
    Ok(store.results()?)
}

/// Formats tables as Markdown: all of them, or those under one title.
fn markdown(evaluation: &Evaluation, title: Option<&str>) -> Result<String, CliError> {
    let known = markdown::titles(evaluation);
    match title {
        Some(title) if !known.contains(&title) => Err(CliError::User(suggest::unknown("table", title, &known))),
        _ => Ok(markdown::render(evaluation, title)),
    }
}

pub(super) fn main(args: &ReportArgs, policies: &Policies) -> Result<(), CliError> {
    let mut evaluation = evaluation(&args.folder)?;
    if let Some(plan) = &args.plan {
        evaluation.plan.report = plan::load(plan, policies)?.report;
    }
    let evaluation = evaluation;
    let size = Size { width_mm: args.width_mm, text_pt: args.text_pt };
    if args.list {
        let lines = html::figures(&evaluation).into_iter().map(|figure| format!("{}\t{}\n", figure.id, figure.caption));
        return Ok(Output::open(None)?.write(&lines.collect::<String>())?);
    }
    if let Some(title) = &args.markdown {
        let text = markdown(&evaluation, title.as_deref())?;
        return Ok(Output::open(args.out.as_deref())?.write(&text)?);
    }
    if let Some(path) = &args.results {
        let bytes = results(&evaluation, path)?;
        return Ok(Output::open(Some(path))?.write(&bytes)?);
    }
    if let Some(wanted) = &args.figure {
        let format = match (args.format, &args.out) {
            (Some(format), _) => format,
            (None, Some(path)) => FigureFormat::of(path)?,
            (None, None) => FigureFormat::Svg,
        };
        let figures = html::figures(&evaluation);
        let ids: Vec<&str> = figures.iter().map(|figure| figure.id.as_str()).collect();
        let found = figures.iter().find(|figure| figure.id.eq_ignore_ascii_case(wanted));
        let figure = found.ok_or_else(|| CliError::User(suggest::unknown("figure", wanted, &ids)))?;
        return Ok(Output::open(args.out.as_deref())?.write(&format.render(figure, size)?)?);
    }
    if let (true, Some(folder)) = (args.all, &args.out) {
        let fail = |error: std::io::Error| CliError::User(format!("cannot create the folder {}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(fail)?;
        let format = args.format.unwrap_or(FigureFormat::Svg);
        for figure in html::figures(&evaluation) {
            let path = folder.join(format!("{}.{}", figure.id, format.ending()));
            Output::open(Some(&path))?.write(&format.render(&figure, size)?)?;
        }
        return Ok(());
    }
    if let Some(format) = args.format {
        let ending = format.ending();
        return Err(CliError::User(format!(
            "--format {ending} applies to figures: add --figure NUMBER or --all; a whole report is an HTML page"
        )));
    }
    // Write a separate file, or rewrite the report in the folder.
    if let Some(path) = args.out.as_deref().filter(|path| !is_page(path)) {
        let what = path.display();
        return Err(CliError::User(format!(
            "--out {what}: a whole report is an HTML page: use a name ending in .html, or --figure NUMBER for one figure (--list prints them)"
        )));
    }
    if args.out.is_none() && args.folder.is_file() {
        let file = args.folder.display();
        return Err(CliError::User(format!("{file} is not a folder for a report; set --out FILE.html")));
    }
    let path = args.out.clone().unwrap_or_else(|| args.folder.join("report.html"));
    Output::open(Some(&path))?.write(&html::render(&evaluation))?;
    Ok(Output::open(None)?.write(&format!("report: {}\n", path.display()))?)
}
