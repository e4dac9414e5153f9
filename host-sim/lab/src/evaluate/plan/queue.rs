//! `queue`: kernels that are launched repeatedly; the firmware admits as many as run together
//! (sources.md D205).

use super::keys::QUEUE;
use super::reader::{Value, once};
use super::{PlanError, Setting};
use crate::experiment::gpu_runner::End;
use crate::experiment::queue::{LONGEST_SPACING, MOST_LAUNCHES, Queue};

/// Parameters of runs that a queue sets itself, with the reason.
pub(super) const SAID_BY_QUEUE: [(&str, &str); 4] = [
    ("arrive", "which sets arrivals by `spacing-cycles`"),
    ("priority", "which sets priorities by `urgent-one-in`"),
    ("limit", "which supports no limits"),
    ("order", "which draws the launch order"),
];

/// Reads the table `queue`: a queue for each seed.
pub(super) fn queues(value: &Value<'_>) -> Result<Vec<Queue>, PlanError> {
    let table = value.table("queue", QUEUE.iter().map(|key| key.name))?;
    let number = |key: &str, most: u32| table.get(key).map(|value| value.whole(0..=most.into())).transpose().map(Option::unwrap_or_default);
    let launches = table.require("launches")?.whole(1..=MOST_LAUNCHES.into())? as u32;
    let (spacing_cycles, urgent_one_in) =
        (number("spacing-cycles", LONGEST_SPACING)? as u32, number("urgent-one-in", MOST_LAUNCHES)? as u32);
    let list = table.require("seeds")?.one_or_more()?;
    let seeds: Vec<u32> = list.iter().map(|one| Ok(one.whole(0..=u32::MAX.into())? as u32)).collect::<Result<_, PlanError>>()?;
    once(&list, seeds.iter())?;
    Ok(seeds.into_iter().map(|seed| Queue { launches, seed, spacing_cycles, urgent_one_in }).collect())
}

/// Combines every setting with every queue.
///
/// # Errors
/// A requirement of queues that the experiment violates.
pub(super) fn with_queues(queues: &[Queue], settings: &[Setting]) -> Result<Vec<Setting>, String> {
    let mut all = Vec::new();
    for setting in settings {
        if setting.options.end != End::Done {
            return Err("a queue runs to its end: use `until = \"done\"`, not `cycles`".into());
        }
        for &queue in queues {
            let mut one = setting.clone();
            one.options.queue = Some(queue);
            if queues.len() > 1 {
                one.labels.push(("seed".into(), queue.seed.to_string()));
            }
            all.push(one);
        }
    }
    Ok(all)
}
