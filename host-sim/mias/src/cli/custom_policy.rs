//! Custom policies on the command line: their names, and the operations that they do not support.

use super::{CliError, say};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use mias_lab::evaluate::store::Store;
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::Policy;
use mias_lab::fingerprint;
use std::ffi::OsStr;
use std::path::Path;

/// Parses a policy's name.
#[derive(Clone, Debug)]
pub(super) struct PolicyParser {
    known: Policies,
    /// Policy that is parsed for its error message but not listed.
    hidden: Option<Policy>,
}

/// Returns the parser for the policies of a comparison.
pub(super) fn parser(policies: &Policies) -> PolicyParser {
    PolicyParser { known: policies.clone(), hidden: None }
}

/// Returns the parser for the policy of a run, without [`Policy::Sequential`].
pub(super) fn run_parser(policies: &Policies) -> PolicyParser {
    PolicyParser { known: policies.clone(), hidden: Some(Policy::Sequential) }
}

impl TypedValueParser for PolicyParser {
    type Value = Policy;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Policy, clap::Error> {
        let known = self.known.clone();
        StringValueParser::new().try_map(move |name: String| known.parse(&name)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let listed = |policy: Policy| PossibleValue::new(policy.name()).help(policy.help()).hide(self.hidden == Some(policy));
        Some(Box::new(self.known.all().map(listed)))
    }
}

/// Refuses an image for policies that it does not contain, before anything runs.
pub(super) fn check(policies: &[Policy], image: bool) -> Result<(), CliError> {
    let own = policies.iter().find_map(|policy| if let Policy::Custom(own) = policy { Some(*own) } else { None });
    match own {
        Some(own) if image => Err(CliError::User(own.not_in_an_image())),
        _ => Ok(()),
    }
}

/// Refuses a recording that cannot be replayed. A recording names its policy by a strap, and custom
/// policies have none.
pub(super) fn check_record(policy: Option<Policy>, record: Option<&Path>) -> Result<(), CliError> {
    match (policy, record) {
        (Some(Policy::Custom(own)), Some(file)) => Err(CliError::User(format!(
            "--record {}: policy `{}` belongs to this program, and `mias firmware replay` supports only those of firmware/src/policy; \
             leave out --record, or add it there as in docs/start/own-policy.md",
            file.display(),
            own.name()
        ))),
        _ => Ok(()),
    }
}

/// Returns the policies with the fingerprint of the program in the custom ones. Results of an
/// earlier build are then not reused.
pub(super) fn with_fingerprint(policies: &Policies) -> Result<Policies, CliError> {
    if policies.own().is_empty() {
        return Ok(policies.clone());
    }
    let program = fingerprint::program().map_err(|error| CliError::User(format!("cannot read the file of this program: {error}")))?;
    Ok(policies.of_program(program))
}

/// Drops and reports the runs of earlier builds under custom policies.
pub(super) fn drop_other_builds(policies: &Policies, store: &Store) -> Result<(), CliError> {
    let Some(own) = policies.own().first() else { return Ok(()) };
    match store.drop_other_builds(own.program())? {
        0 => {}
        dropped => say::note(format_args!("dropped {dropped} runs of another build of this program under its own policies")),
    }
    Ok(())
}

/// Refuses a folder shared by several programs if it has runs of another build under custom
/// policies. Those runs must not be dropped.
pub(super) fn check_build(policies: &Policies, store: &Store) -> Result<(), CliError> {
    match policies.own().first() {
        Some(own) => Ok(store.check_own_build(own.program())?),
        None => Ok(()),
    }
}
