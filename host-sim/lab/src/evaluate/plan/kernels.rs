//! Kernels of an experiment, and its groups.

use super::reader::{Place, Table, Value};
use super::{Experiment, Plan, PlanError, quick_form};
use crate::experiment::recorded::TraceName;
use crate::experiment::request::Request;
use mias_workloads::input::suggest;
use mias_workloads::kernels::Spec;

/// Maximum number of kernels that the firmware schedules at a time.
pub(super) const MOST_KERNELS: usize = mias_firmware::configs::MAX_KERNELS;

/// Maximum number of kernels that a queue is drawn from (assumption: as many as its window shows).
pub(super) const MOST_QUEUED_KERNELS: usize = mias_registers::queue::ENTRIES;

/// Reads `kernels`: words as typed, with their parsed form.
pub(super) fn kernels(value: &Value<'_>) -> Result<Vec<(String, Request)>, PlanError> {
    let mut kernels: Vec<(String, Request)> = Vec::new();
    for word in value.list()? {
        let text = kernel_word(&word)?;
        if kernels.iter().any(|(before, _)| *before == text) {
            return Err(word.fail(&format!("`{text}` is listed twice")));
        }
        kernels.push((text.clone(), request(&word, &text)?));
    }
    Ok(kernels)
}

/// Parses a word, with its path relative to the working directory in `text`.
fn request(word: &Value<'_>, text: &str) -> Result<Request, PlanError> {
    let fail = |message: String| word.fail(&message);
    if let Some(trace) = TraceName::parse(word.text()?).map_err(|error| fail(error.to_string()))?
        && let Some((path, _)) = TraceName::split(text)
    {
        return Ok(Request::Trace(trace.at(path.into())));
    }
    let mut spec = Spec::parse(text).map_err(|error| fail(error.to_string()))?;
    for setting in spec.kernel.settings().iter().filter(|setting| setting.names_a_file()) {
        if let Some(file) = spec.input.get(&setting.key).map(|file| word.beside(file, &[])) {
            spec.input = spec.input.with(&setting.key, &file);
        }
    }
    Ok(Request::Kernel(spec))
}

/// Gives kernels without an input that of the quick form, except those already listed with it.
pub(super) fn make_quick(kernels: &mut [(String, Request)]) -> Result<(), PlanError> {
    for at in 0..kernels.len() {
        let Some(word) = quick_form::kernel(&kernels[at].0) else { continue };
        if kernels.iter().all(|(before, _)| *before != word) {
            let spec = Spec::parse(&word).map_err(|error| PlanError(error.to_string()))?;
            kernels[at] = (word, Request::Kernel(spec));
        }
    }
    Ok(())
}

/// Returns the position of each of `kernels` in the file.
pub(super) fn places(value: &Value<'_>) -> Result<Vec<Place>, PlanError> {
    Ok(value.list()?.iter().map(Value::place).collect())
}

/// Returns a kernel's word. Paths of kernel files and traces become relative to the working
/// directory, so that each file has one word.
fn kernel_word(value: &Value<'_>) -> Result<String, PlanError> {
    let word = value.text()?;
    if let Some((path, launch)) = TraceName::split(word) {
        let launch = launch.map_or_else(String::new, |launch| format!("#{launch}"));
        return Ok(value.beside(path, &[]) + &launch);
    }
    Ok(match Spec::file(word) {
        None => word.to_owned(),
        Some((path, None)) => value.beside(path, &[]),
        Some((path, Some(settings))) => format!("{}:{settings}", value.beside(path, &[])),
    })
}

/// Returns a word of `experiment` that names a kernel with another input in `plan`: a file of the
/// same name in another folder.
pub(super) fn other_input<'e>(plan: &Plan, experiment: &'e Experiment) -> Option<&'e str> {
    let known = || plan.experiments.iter().flat_map(|before| &before.kernels);
    let input = |request: &Request| request.spec().map(|spec| spec.input.clone());
    let differs = |(word, request): &&(String, Request)| known().any(|(other, before)| other == word && input(before) != input(request));
    experiment.kernels.iter().find(differs).map(|(word, _)| word.as_str())
}

/// Reads the groups: as listed, or all of the requested sizes; all pairs by default.
pub(super) fn groups(table: &Table<'_>, kernels: &[(String, Request)], queued: bool) -> Result<Vec<Vec<usize>>, PlanError> {
    let words: Vec<&str> = kernels.iter().map(|(word, _)| word.as_str()).collect();
    match (table.get("groups"), table.get("together")) {
        (Some(groups), Some(_)) => Err(groups.fail("`groups` conflicts with `together`; leave one out")),
        (Some(groups), None) => different(
            &groups.list()?,
            |group| listed(group, &words, queued),
            |members| {
                format!("the group of {} is listed twice", members.iter().map(|&member| words[member]).collect::<Vec<_>>().join(" and "))
            },
        ),
        (None, Some(sizes)) => {
            let most = words.len().min(MOST_KERNELS) as u64;
            let sizes = different(&sizes.one_or_more()?, |size| size.whole(1..=most), |size| format!("`{size}` is listed twice"))?;
            Ok(sizes.iter().flat_map(|&size| combinations(words.len(), size as usize)).collect())
        }
        (None, None) if words.len() < 2 => Err(table.fail("`kernels` lists one kernel; a pair needs two (or set `together = 1`)")),
        (None, None) => Ok(combinations(words.len(), 2)),
    }
}

/// Reads distinct values with `read`. A duplicate is an error, since it would count twice in all
/// means.
fn different<T: PartialEq>(
    values: &[Value<'_>],
    read: impl Fn(&Value<'_>) -> Result<T, PlanError>,
    twice: impl Fn(&T) -> String,
) -> Result<Vec<T>, PlanError> {
    let mut all = Vec::new();
    for value in values {
        let one = read(value)?;
        if all.contains(&one) {
            return Err(value.fail(&twice(&one)));
        }
        all.push(one);
    }
    Ok(all)
}

fn listed(group: &Value<'_>, words: &[&str], queued: bool) -> Result<Vec<usize>, PlanError> {
    let members = group.list()?;
    if members.len() > MOST_KERNELS && !queued {
        return Err(group.fail(&format!("{} kernels; the firmware schedules at most {MOST_KERNELS} at a time", members.len())));
    }
    if members.len() > MOST_QUEUED_KERNELS {
        return Err(group.fail(&format!("{} kernels; a queue draws from at most {MOST_QUEUED_KERNELS}", members.len())));
    }
    let place = |member: &Value<'_>| {
        let text = kernel_word(member)?;
        words
            .iter()
            .position(|word| *word == text)
            .ok_or_else(|| member.fail(&format!("{} (the experiment's `kernels`)", suggest::unknown("kernel", &text, words))))
    };
    members.iter().map(place).collect()
}

/// Returns all ways of taking `size` of `count` items, each ascending, in lexicographic order.
fn combinations(count: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = |before: &Vec<usize>| {
            let first = before.last().map_or(0, |last| last + 1);
            (first..count).map(|next| [&before[..], &[next]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
