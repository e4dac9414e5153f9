//! `docs/reference/command-line.md`, from the definition of the command line.

use super::super::args::Arguments;
use super::markdown::{self, cell, code, table};
use clap::{Arg, Command};
use mias_lab::experiment::policies::Policies;

/// Beginning of a default that stands in an option's help.
const DEFAULT: &str = " [default: ";

const ABOUT: &str = "This page lists every command of `mias` with its options. `mias COMMAND --help` prints the same.";

pub(super) fn page() -> String {
    let mut root = Arguments::command_with(&Policies::default());
    root.build();
    let mut commands = Vec::new();
    collect(&root, &mut commands);
    let link = |command: &Command| {
        let name = name(command);
        vec![format!("[`{name}`](#{})", markdown::anchor(name)), cell(&about(command))]
    };
    let mut text = table(&["command", "purpose"], &commands.iter().copied().map(link).collect::<Vec<_>>());
    let global: Vec<&Arg> = root.get_arguments().collect();
    text += &format!("\n## Options of every command\n\n{}", options(&global));
    for command in commands {
        text += &format!("\n## `{}`\n\n{}.\n\n```text\n{}\n```\n{}", name(command), about(command), usage(command), arguments(command));
    }
    markdown::page("Command line", ABOUT, &text)
}

/// Collects the commands that have no commands of their own.
fn collect<'a>(command: &'a Command, found: &mut Vec<&'a Command>) {
    let shown = || command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    if shown().next().is_none() {
        found.push(command);
    }
    shown().for_each(|command| collect(command, found));
}

/// Returns the whole name of a command, as in `mias gpu list`.
fn name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or_else(|| command.get_about());
    about.map(|about| about.to_string().trim_end_matches('.').to_owned()).unwrap_or_default()
}

fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Returns a table for each heading of the command's help.
fn arguments(command: &Command) -> String {
    let heading = |arg: &Arg| if arg.is_positional() { "Arguments" } else { arg.get_help_heading().unwrap_or("Options") }.to_owned();
    let mut groups: Vec<(String, Vec<&Arg>)> = Vec::new();
    let is_own = |arg: &&Arg| !arg.is_hide_set() && !arg.is_global_set() && !["help", "version"].contains(&arg.get_id().as_str());
    for arg in command.get_arguments().filter(is_own) {
        match groups.iter_mut().find(|(known, _)| *known == heading(arg)) {
            Some((_, args)) => args.push(arg),
            None => groups.push((heading(arg), vec![arg])),
        }
    }
    groups.iter().map(|(heading, args)| format!("\n### {heading}\n\n{}", options(args))).collect()
}

fn options(args: &[&Arg]) -> String {
    table(&["name", "value", "default", "description"], &args.iter().map(|arg| row(arg)).collect::<Vec<_>>())
}

fn row(arg: &Arg) -> Vec<String> {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).map(|name| code(&name)).collect();
    let name = if names.is_empty() { code(&values(arg)) } else { names.join(", ") };
    let possible = if arg.is_hide_possible_values_set() { Vec::new() } else { arg.get_possible_values() };
    let possible: Vec<_> = possible.iter().filter(|_| arg.get_action().takes_values()).collect();
    let value = match possible[..] {
        [] if arg.is_positional() => String::new(),
        [] => code(&values(arg)),
        _ => possible.iter().map(|value| code(value.get_name())).collect::<Vec<_>>().join(", "),
    };
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    // A paragraph of the long help ends without a mark.
    let help = help.split("\n\n").map(|part| part.trim_end_matches('.')).collect::<Vec<_>>().join(". ");
    let (help, default) = apart(&help);
    let given: Vec<String> = arg.get_default_values().iter().map(|value| code(&value.to_string_lossy())).collect();
    let default = if arg.get_action().takes_values() && !given.is_empty() { given.join(" ") } else { cell(&default) };
    let helps: Vec<(&str, String)> =
        possible.iter().map(|value| (value.get_name(), value.get_help().map(ToString::to_string).unwrap_or_default())).collect();
    let help = markdown::with_choices(&help, helps.iter().map(|(name, help)| (*name, help.as_str())));
    vec![name, value, default, cell(&help)]
}

/// Returns the names of an argument's values, as in `X,Y,Z`; empty for a flag.
fn values(arg: &Arg) -> String {
    if !arg.get_action().takes_values() {
        return String::new();
    }
    let names = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    names.unwrap_or_else(|| arg.get_id().as_str().to_uppercase())
}

/// Splits a help text from the default that stands in it.
fn apart(help: &str) -> (String, String) {
    let found = help.split_once(DEFAULT).and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    found.map_or_else(|| (help.to_owned(), String::new()), |(before, (default, after))| (before.to_owned() + after, default.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_in_help_texts_are_found() {
        assert_eq!(apart("Threads [default: one per core]"), ("Threads".into(), "one per core".into()));
        assert_eq!(apart("as in [experiment]"), ("as in [experiment]".into(), String::new()));
    }

    #[test]
    fn every_command_and_option_is_on_the_page() {
        let page = page();
        for part in ["## `mias gpu list`", "| `--policy` | `POLICY` |", "| `--cycles` | `N` | 300000 |", "| `-q`, `--quiet` |"] {
            assert!(page.contains(part), "{part}");
        }
    }
}
