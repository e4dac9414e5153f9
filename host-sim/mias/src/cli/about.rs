//! `mias completions` and `mias man`: shell completions and manual pages of the command line.

use super::CliError;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use mias_lab::output::Output;

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell to generate completions for
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Command, as in `mias man firmware replay` [default: mias]
    command: Vec<String>,
}

/// Prints the completion script of a shell; `command` is the whole command line.
pub(super) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<(), CliError> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    Ok(Output::open(None)?.write(&text)?)
}

/// Prints a manual page in roff.
pub(super) fn man(args: &ManArgs, mut command: Command) -> Result<(), CliError> {
    command.build();
    let mut found = &command;
    for name in &args.command {
        found = found.find_subcommand(name).ok_or_else(|| unknown(found, name))?;
    }
    let mut page = Vec::new();
    Man::new(found.clone()).render(&mut page).map_err(CliError::internal)?;
    Ok(Output::open(None)?.write(&page)?)
}

fn unknown(command: &Command, name: &str) -> CliError {
    let known: Vec<&str> = command.get_subcommands().map(Command::get_name).filter(|name| *name != "help").collect();
    let of = command.get_bin_name().unwrap_or_else(|| command.get_name());
    match known.as_slice() {
        [] => CliError::User(format!("`{of}` has no subcommands: unknown command `{name}`")),
        some => CliError::User(format!("`{of}` has no command `{name}`; it has {}", some.join(", "))),
    }
}
