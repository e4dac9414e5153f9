//! `queue`: kernels that are launched again and again, of which the firmware lets in as many as run together (sources.md D205).

use super::keys::QUEUE;
use super::reader::{Value, once};
use super::{PlanError, Setting};
use crate::experiment::gpu_runner::End;
use crate::experiment::queue::{LONGEST_SPACING, MOST_LAUNCHES, Queue};

/// Parameters of runs that a queue says itself, and how.
pub(super) const SAID_BY_QUEUE: [(&str, &str); 4] = [
    ("arrive", "whose launches arrive one after the other"),
    ("priority", "whose launches have priorities by `urgent-one-in`"),
    ("limit", "whose launches have no limits"),
    ("order", "whose launches come in an order that is drawn"),
];

/// Reads the table: a queue for each seed.
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

/// Every setting with every queue.
///
/// # Errors
/// What a queue needs of the experiment around it.
pub(super) fn with_queues(queues: &[Queue], settings: &[Setting]) -> Result<Vec<Setting>, String> {
    let mut all = Vec::new();
    for setting in settings {
        if setting.options.end != End::Done {
            return Err("a queue runs to its end: give `until = \"done\"`, not `cycles`".into());
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
