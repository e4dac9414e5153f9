//! `requests`: an urgent kernel that comes again and again while another runs (Shieh 2016, chapter 4).

use super::keys::REQUESTS;
use super::reader::{Value, once};
use super::{PlanError, Setting};
use crate::choice::Choice;
use crate::experiment::gpu_runner::End;
use crate::experiment::requests::{MOST_LIMITS, Requests, Scheme};
use mias_workloads::input::suggest;

/// Most requests of a run (assumption: more are a slip of the finger).
pub(super) const MOST: u64 = 100_000;

/// Longest limit in nanoseconds: about what an urgent kernel that has missed it is followed for.
pub(super) const LONGEST_LIMIT_NS: u64 = 100_000;

/// Parameters of runs that a request says itself, and how.
pub(super) const SAID_BY_REQUESTS: [(&str, &str); 7] = [
    ("transition", "whose `schemes` say who leaves and how"),
    ("priority", "whose urgent kernel is before the others"),
    ("limit", "whose `limits-ns` are the limits"),
    ("arrive", "which are spread over the window"),
    ("order", "whose urgent kernel is the last of each group"),
    ("precision", "which are simulated to their end"),
    ("counted", "which count what an urgent kernel waited, and no IPC of a first run"),
];

/// Reads the table.
pub(super) fn requests(value: &Value<'_>) -> Result<Requests, PlanError> {
    let table = value.table("requests", REQUESTS.iter().map(|key| key.name))?;
    let count = table.require("count")?.whole(1..=MOST)?;
    let mut schemes = Vec::new();
    let named = table.require("schemes")?.one_or_more()?;
    for one in &named {
        let text = one.text()?;
        schemes.push(Scheme::find(text).ok_or_else(|| one.fail(&suggest::unknown("scheme", text, &Scheme::names())))?);
    }
    once(&named, schemes.iter().map(|scheme| scheme.name()))?;
    let limits = table.require("limits-ns")?;
    let list = limits.one_or_more()?;
    if list.len() > MOST_LIMITS {
        return Err(limits.fail(&format!("{} limits, at most {MOST_LIMITS} may be", list.len())));
    }
    let limits: Vec<u32> = list.iter().map(|one| Ok(one.whole(1..=LONGEST_LIMIT_NS)? as u32)).collect::<Result<_, PlanError>>()?;
    once(&list, limits.iter())?;
    Ok(Requests::new(count as u32, &schemes, &limits))
}

/// What requests need of the experiment around them.
pub(super) fn check(requests: &Requests, setting: &Setting) -> Result<(), String> {
    let Setting { sharing, options, .. } = setting;
    if sharing.gpu.sm.preemption.is_none() {
        let name = &sharing.name;
        return Err(format!(
            "machine `{name}` takes no TB off its SMs: give `sm.preemption.switch = \"traffic\"` in [experiment.gpu-settings]"
        ));
    }
    let End::Cycles(cycles) = options.end else { return Err("they are spread over a window: give `cycles`, not `until`".into()) };
    let longest = requests.limits_ns().max().unwrap_or_default();
    let of_limit = u64::from(longest) * u64::from(sharing.gpu.clocks.core_khz) / 1_000_000;
    if of_limit >= cycles {
        return Err(format!(
            "limits-ns = {longest}: {of_limit} cycles are beyond the window of {cycles}; give a shorter limit or a longer window"
        ));
    }
    Ok(())
}
