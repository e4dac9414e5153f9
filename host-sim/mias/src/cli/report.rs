//! `mias report`: the report of a finished evaluation, and its figures one by one, from the folder's results.

use super::CliError;
use clap::ValueEnum;
use mias_lab::evaluate::results::Evaluation;
use mias_lab::evaluate::store::Store;
use mias_lab::output::Output;
use mias_report::evaluation::figure::{Figure, Size};
#[cfg(feature = "parquet")]
use mias_report::evaluation::parquet;
use mias_report::evaluation::{csv, html};
use mias_workloads::input::suggest;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// A folder that `mias evaluate` wrote
    folder: PathBuf,
    /// Print number and caption of every figure, and write nothing
    #[arg(long, conflicts_with_all = ["figure", "all", "out"])]
    list: bool,
    /// Only this figure: its number, such as 4.2a or A.1
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    figure: Option<String>,
    /// Every figure, each a file in the folder that --out names
    #[arg(long, requires = "out")]
    all: bool,
    /// Only the numbers of `results.csv`, into a file: .csv, or .parquet if mias was built with its feature `parquet`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "figure", "all", "out"])]
    results: Option<PathBuf>,
    /// File of the figure, whose ending says what kind it is, or folder of all; standard output unless given
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Kind of file [default: what --out ends in, or svg]
    #[arg(long, value_enum)]
    format: Option<FigureFormat>,
    /// Width of a figure in millimetres: 84 is one of two columns, 174 is both
    #[arg(long, value_name = "MM", default_value_t = 84.0, value_parser = within::<30, 1000>)]
    width_mm: f64,
    /// Size of a figure's text in points
    #[arg(long, value_name = "PT", default_value_t = 8.0, value_parser = within::<4, 24>)]
    text_pt: f64,
}

/// What a figure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FigureFormat {
    /// Scalable Vector Graphics
    Svg,
    /// The numbers, with units in the heading
    Csv,
}

/// A number from LOW to HIGH.
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

    /// That of a file's ending.
    fn of(path: &Path) -> Result<Self, CliError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
        let known = FigureFormat::value_variants();
        known.iter().copied().find(|format| format.ending() == ending).ok_or_else(|| {
            let endings: Vec<String> = known.iter().map(|format| format!(".{}", format.ending())).collect();
            CliError::User(format!("{}: a figure's file ends in {}; or give --format", path.display(), endings.join(", ")))
        })
    }

    fn render(self, figure: &Figure, size: Size) -> Result<Vec<u8>, CliError> {
        Ok(match self {
            FigureFormat::Svg => figure.svg(size).into_bytes(),
            FigureFormat::Csv => figure.csv().map_err(CliError::internal)?.into_bytes(),
        })
    }
}

/// The table of all numbers, as a file's ending asks.
fn results(evaluation: &Evaluation, path: &Path) -> Result<Vec<u8>, CliError> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok(csv::render(evaluation).map_err(CliError::internal)?.into_bytes()),
        #[cfg(feature = "parquet")]
        Some("parquet") => parquet::render(evaluation).map_err(CliError::internal),
        #[cfg(not(feature = "parquet"))]
        Some("parquet") => {
            let remedy = "this mias was built without its feature `parquet`; name a .csv, or build it with `--features parquet`";
            Err(CliError::User(format!("{}: {remedy}", path.display())))
        }
        _ => Err(CliError::User(format!("{}: a table of results ends in .csv or .parquet", path.display()))),
    }
}

/// Whether a file's ending is that of an HTML page. One without an ending may be `/dev/stdout`.
fn is_page(path: &Path) -> bool {
    path.extension().is_none_or(|ending| ending.eq_ignore_ascii_case("html") || ending.eq_ignore_ascii_case("htm"))
}

pub(super) fn main(args: &ReportArgs) -> Result<(), CliError> {
    let (store, _) = Store::existing(&args.folder)?;
    let evaluation = store.results()?;
    let size = Size { width_mm: args.width_mm, text_pt: args.text_pt };
    if args.list {
        let lines = html::figures(&evaluation).into_iter().map(|figure| format!("{}\t{}\n", figure.id, figure.caption));
        return Ok(Output::open(None)?.write(&lines.collect::<String>())?);
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
        let fail = |error: std::io::Error| CliError::User(format!("cannot make the folder {}: {error}", folder.display()));
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
            "--format {ending} is for figures: give --figure NUMBER or --all; a whole report is an HTML page"
        )));
    }
    // A file of its own, or the folder's report anew.
    if let Some(path) = args.out.as_deref().filter(|path| !is_page(path)) {
        let what = path.display();
        return Err(CliError::User(format!(
            "--out {what}: a whole report is an HTML page, which ends in .html; a figure of it is --figure NUMBER (--list prints them)"
        )));
    }
    let path = args.out.clone().unwrap_or_else(|| args.folder.join("report.html"));
    Output::open(Some(&path))?.write(&html::render(&evaluation))?;
    Ok(Output::open(None)?.write(&format!("report: {}\n", path.display()))?)
}
