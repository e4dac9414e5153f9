//! Messages on standard error, separate from the report: verbosity and colors.
//!
//! Colors appear if standard error is a terminal, unless `NO_COLOR`, `CLICOLOR` or `CLICOLOR_FORCE`
//! override this (<https://no-color.org>, <https://bixense.com/clicolors>). anstream, which clap
//! prints with too, reads these variables.

use super::CliError;
use anstyle::{AnsiColor, Style};
use std::fmt::Display;
use std::sync::OnceLock;

/// Verbosity of standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Errors only.
    Quiet,
    /// Also warnings, notes and progress.
    Usual,
    /// Also the source of each input.
    Verbose,
}

/// Verbosity, set once before the first message.
static LEVEL: OnceLock<Level> = OnceLock::new();

/// Sets the verbosity.
pub(super) fn at(level: Level) {
    // A second call comes from a program that runs the command line twice; the first value stays.
    let _ = LEVEL.set(level);
}

fn level() -> Level {
    LEVEL.get().copied().unwrap_or(Level::Usual)
}

/// Returns whether progress is hidden.
pub(super) fn is_quiet() -> bool {
    level() == Level::Quiet
}

/// Prints a warning that does not stop the command.
pub(super) fn warning(text: impl Display) {
    if level() > Level::Quiet {
        labeled("warning", AnsiColor::Yellow, text);
    }
}

/// Prints a note about progress.
pub(super) fn note(text: impl Display) {
    if level() > Level::Quiet {
        anstream::eprintln!("{text}");
    }
}

/// Prints the source of an input.
pub(super) fn detail(text: impl Display) {
    if level() == Level::Verbose {
        labeled("note", AnsiColor::Cyan, text);
    }
}

/// Prints the error of a command.
pub(super) fn error(error: &CliError) {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((label, rest)) => labeled(label, AnsiColor::Red, rest),
        None => anstream::eprintln!("{text}"),
    }
}

fn labeled(label: &str, color: AnsiColor, text: impl Display) {
    let style = Style::new().fg_color(Some(color.into())).bold();
    anstream::eprintln!("{style}{label}{style:#}: {text}");
}
