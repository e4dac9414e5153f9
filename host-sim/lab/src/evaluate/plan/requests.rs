//! `requests`: an urgent kernel that arrives repeatedly while another runs (Shieh 2016, chapter 4).

use super::keys::REQUESTS;
use super::reader::{Value, once};
use super::{PlanError, Setting};
use crate::choice::Choice;
use crate::experiment::gpu_runner::End;
use crate::experiment::requests::{MOST_LIMITS, Requests, Scheme};
use mias_workloads::input::suggest;

/// Maximum number of requests of a run (assumption: more are a typing error).
pub(super) const MOST: u64 = 100_000;

/// Longest limit in nanoseconds: about as long as an urgent kernel that misses it is followed.
pub(super) const LONGEST_LIMIT_NS: u64 = 100_000;

/// Parameters of runs that a request sets itself, with the reason.
pub(super) const SAID_BY_REQUESTS: [(&str, &str); 7] = [
    ("transition", "which sets transitions by `schemes`"),
    ("priority", "which gives the urgent kernel the highest priority"),
    ("limit", "which sets limits by `limits-ns`"),
    ("arrive", "which spreads arrivals over the window"),
    ("order", "which needs the urgent kernel last in each group"),
    ("precision", "which simulates every run to its end"),
    ("counted", "which measures the latency of urgent kernels, not the IPC of first runs"),
];

/// Reads the table `requests`.
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
        return Err(limits.fail(&format!("{} limits; at most {MOST_LIMITS} are allowed", list.len())));
    }
    let limits: Vec<u32> = list.iter().map(|one| Ok(one.whole(1..=LONGEST_LIMIT_NS)? as u32)).collect::<Result<_, PlanError>>()?;
    once(&list, limits.iter())?;
    Ok(Requests::new(count as u32, &schemes, &limits))
}

/// Checks the requirements of requests on the experiment.
pub(super) fn check(requests: &Requests, setting: &Setting) -> Result<(), String> {
    let Setting { sharing, options, .. } = setting;
    if sharing.gpu.sm.preemption.is_none() {
        let name = &sharing.name;
        return Err(format!(
            "GPU `{name}` does not support preemption: set `sm.preemption.switch = \"traffic\"` in [experiment.gpu-settings]"
        ));
    }
    let End::Cycles(cycles) = options.end else { return Err("requests are spread over a window: use `cycles`, not `until`".into()) };
    let longest = requests.limits_ns().max().unwrap_or_default();
    let of_limit = u64::from(longest) * u64::from(sharing.gpu.clocks.core_khz) / 1_000_000;
    if of_limit >= cycles {
        return Err(format!(
            "limits-ns = {longest}: {of_limit} cycles exceed the window of {cycles}; use a shorter limit or a longer window"
        ));
    }
    Ok(())
}
