//! Reasons why a setting of a plan is invalid, with the value to blame, so that the message points
//! to its line.

use super::{Named, Setting};
use crate::choice::Choice;
use crate::experiment::placement_latency;

/// Reason why a combination of values is invalid.
#[derive(Debug)]
pub(super) struct Unfit {
    /// Parameter to blame; `None` if the GPU's fields are.
    pub(super) parameter: Option<&'static str>,
    pub(super) message: String,
}

impl Unfit {
    pub(super) fn of(parameter: &'static str, message: String) -> Self {
        Unfit { parameter: Some(parameter), message }
    }
}

impl From<String> for Unfit {
    fn from(message: String) -> Self {
        Unfit { parameter: None, message }
    }
}

/// Rejects limits without effect, and GPUs whose SMs cannot preempt.
pub(super) fn check_room(setting: &Setting) -> Result<(), Unfit> {
    let Setting { options, arrive, limit_cycles, sharing: Named { name, gpu }, .. } = setting;
    if options.transition.preempts() {
        options
            .transition
            .on(gpu)
            .check()
            .map_err(|error| Unfit::of("transition", format!("{} on GPU `{name}`: {error}", options.transition.name())))?;
    }
    placement_latency::check_limit(*limit_cycles, *arrive, gpu, *options).map_err(|why| Unfit::of("limit", why))
}
