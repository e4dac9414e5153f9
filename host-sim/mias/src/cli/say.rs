//! What is said on standard error, beside the report: how much of it, and in which colours.
//!
//! Colours are there where standard error is a terminal; `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` say otherwise
//! (<https://no-color.org>, <https://bixense.com/clicolors>). anstream, which clap prints with too, reads them.

use super::CliError;
use anstyle::{AnsiColor, Style};
use std::fmt::Display;
use std::sync::OnceLock;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Errors.
    Quiet,
    /// Warnings, notes and progress too.
    Usual,
    /// And where things come from.
    Verbose,
}

/// Set once, before anything is said.
static LEVEL: OnceLock<Level> = OnceLock::new();

/// From here on, so much is said.
pub(super) fn at(level: Level) {
    // A second call is of a program that runs the command line twice; the first holds.
    let _ = LEVEL.set(level);
}

fn level() -> Level {
    LEVEL.get().copied().unwrap_or(Level::Usual)
}

/// Whether progress is shown.
pub(super) fn is_quiet() -> bool {
    level() == Level::Quiet
}

/// Something that the user should know, and that keeps nothing from being done.
pub(super) fn warning(text: impl Display) {
    if level() > Level::Quiet {
        labelled("warning", AnsiColor::Yellow, text);
    }
}

/// How far things are.
pub(super) fn note(text: impl Display) {
    if level() > Level::Quiet {
        anstream::eprintln!("{text}");
    }
}

/// Where something comes from.
pub(super) fn detail(text: impl Display) {
    if level() == Level::Verbose {
        labelled("note", AnsiColor::Cyan, text);
    }
}

/// Why a command did not do what it was asked.
pub(super) fn error(error: &CliError) {
    let text = error.to_string();
    match text.split_once(": ") {
        Some((label, rest)) => labelled(label, AnsiColor::Red, rest),
        None => anstream::eprintln!("{text}"),
    }
}

fn labelled(label: &str, color: AnsiColor, text: impl Display) {
    let style = Style::new().fg_color(Some(color.into())).bold();
    anstream::eprintln!("{style}{label}{style:#}: {text}");
}
