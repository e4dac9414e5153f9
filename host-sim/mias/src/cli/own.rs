//! Policies that the program brings itself, on the command line: their names, and what cannot be done with them.

use super::{CliError, say};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use mias_lab::evaluate::store::Store;
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::Policy;
use mias_lab::fingerprint;
use std::path::Path;

/// Parses a policy's name.
pub(super) fn parser(policies: &Policies) -> impl TypedValueParser<Value = Policy> + use<> {
    parser_without(policies, None)
}

/// The same for a run; [`Policy::Sequential`], which is none, is known for the sake of its message, but not listed.
pub(super) fn run_parser(policies: &Policies) -> impl TypedValueParser<Value = Policy> + use<> {
    parser_without(policies, Some(Policy::Sequential))
}

fn parser_without(policies: &Policies, hidden: Option<Policy>) -> impl TypedValueParser<Value = Policy> + use<> {
    let possible = |policy: Policy| PossibleValue::new(policy.name()).help(policy.help()).hide(hidden == Some(policy));
    let known = policies.clone();
    PossibleValuesParser::new(policies.all().map(possible))
        .try_map(move |name| known.find(&name).ok_or_else(|| format!("unknown policy `{name}`")))
}

/// Refuses an image for policies that it does not hold, before anything is run.
pub(super) fn check(policies: &[Policy], image: bool) -> Result<(), CliError> {
    let own = policies.iter().find_map(|policy| if let Policy::Own(own) = policy { Some(*own) } else { None });
    match own {
        Some(own) if image => Err(CliError::User(own.not_in_an_image())),
        _ => Ok(()),
    }
}

/// Refuses to record what cannot be replayed: a recording names its policy by a strap, and the program's own have none.
pub(super) fn check_record(policy: Option<Policy>, record: Option<&Path>) -> Result<(), CliError> {
    match (policy, record) {
        (Some(Policy::Own(own)), Some(file)) => Err(CliError::User(format!(
            "--record {}: the policy `{}` is this program's own, and `mias firmware replay` knows only those of firmware/src/policy; \
             leave out --record, or add it there as docs/own-policy.md says",
            file.display(),
            own.name()
        ))),
        _ => Ok(()),
    }
}

/// The policies, whose own know the fingerprint of the program, so that results of an earlier one are not taken for theirs.
pub(super) fn with_fingerprint(policies: &Policies) -> Result<Policies, CliError> {
    if policies.own().is_empty() {
        return Ok(policies.clone());
    }
    let program = fingerprint::program().map_err(|error| CliError::User(format!("cannot read the file of this program: {error}")))?;
    Ok(policies.of_program(program))
}

/// Drops the runs of earlier builds under policies of the program's own, and says so.
pub(super) fn drop_other_builds(policies: &Policies, store: &Store) -> Result<(), CliError> {
    let Some(own) = policies.own().first() else { return Ok(()) };
    match store.drop_other_builds(own.program())? {
        0 => {}
        dropped => say::note(format_args!("{dropped} runs of another build of this program under its own policies were dropped")),
    }
    Ok(())
}

/// Refuses a folder that several programs share if it has runs of another build under policies of the program's own: they are not to be
/// dropped.
pub(super) fn check_build(policies: &Policies, store: &Store) -> Result<(), CliError> {
    match policies.own().first() {
        Some(own) => Ok(store.check_own_build(own.program())?),
        None => Ok(()),
    }
}
