//! Plans: which experiments an evaluation consists of, as TOML. The built-in ones are in `plans/`; docs/user-guide.md describes
//! every key.

mod parameters;
mod reader;
#[cfg(test)]
mod tests;

pub use parameters::Setting;

use crate::experiment::policies::Policies;
use crate::experiment::policy::Policy;
use crate::gpu_file;
use crate::kernels::Request;
use crate::suggest;
use clap::ValueEnum;
use mias_hw_model::config::GpuConfig;
use reader::{Source, Table, Value};
use std::path::Path;

/// Window unless the plan gives another, in core cycles: the thesis' (algorithms.md M-W10).
const DEFAULT_CYCLES: u64 = 5_000_000;

/// Kernels that the firmware schedules at a time.
const MOST_KERNELS: usize = mias_firmware::configs::MAX_KERNELS;

/// Plans that include plans that include plans.
const DEEPEST_INCLUDE: u32 = 4;

/// The plans built in: name and file.
const BUILT_IN: &[(&str, &str)] = &[
    ("thesis", include_str!("../../../../plans/thesis.toml")),
    ("extended", include_str!("../../../../plans/extended.toml")),
    ("quick", include_str!("../../../../plans/quick.toml")),
    ("rules", include_str!("../../../../plans/rules.toml")),
    ("sensitivity", include_str!("../../../../plans/sensitivity.toml")),
];

/// What is wrong with a plan: file, line, remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

/// In which order the kernels of a group are launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Order {
    /// As listed.
    Given,
    /// The other way round.
    Reversed,
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its text, with those of the plans that it includes.
    pub text: String,
    /// In order; those of included plans first.
    pub experiments: Vec<Experiment>,
}

/// An experiment: groups of kernels under policies, in every setting.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Short name, different from all others of the plan.
    pub name: String,
    /// For headings.
    pub title: String,
    /// Kernels as typed, and what they are.
    pub kernels: Vec<(String, Request)>,
    /// Kernels that run together, by index.
    pub groups: Vec<Vec<usize>>,
    /// In the order of reports.
    pub policies: Vec<Policy>,
    /// Whether every maximal configuration runs throughout, so that there is an oracle.
    pub configurations: bool,
    /// All combinations of its parameters, on every machine.
    pub settings: Vec<Setting>,
}

/// Names of the plans built in.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// The plan `name_or_path`: one that is built in, else the TOML file at that path. It may name any of `policies`.
///
/// # Errors
/// [`PlanError`].
pub fn load(name_or_path: &str, policies: &Policies) -> Result<Plan, PlanError> {
    let (file, text) = text_of(name_or_path).map_err(PlanError)?;
    parse(&file, &text, policies)
}

/// Parses and checks the plan in `text`; `file` is its name in messages.
///
/// # Errors
/// [`PlanError`] with file, line, column and the offending text.
pub fn parse(file: &str, text: &str, policies: &Policies) -> Result<Plan, PlanError> {
    let mut plan = Plan { name: String::new(), description: String::new(), text: String::new(), experiments: Vec::new() };
    read(Source { file, text }, policies, &mut plan, 0)?;
    if plan.experiments.is_empty() {
        return Err(PlanError(format!("{file}: the plan has no [[experiment]]")));
    }
    Ok(plan)
}

fn text_of(name_or_path: &str) -> Result<(String, String), String> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == name_or_path) {
        return Ok((format!("{name}.toml"), (*text).to_owned()));
    }
    let path = Path::new(name_or_path);
    let looks_like_a_path = path.components().count() > 1 || path.extension().is_some_and(|extension| extension == "toml");
    if !looks_like_a_path && !path.is_file() {
        return Err(format!("{}, or the path of a TOML file", suggest::unknown("plan", name_or_path, &names())));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read the plan {name_or_path}: {error}"))?;
    Ok((name_or_path.to_owned(), text))
}

/// Adds what `source` says to `plan`, what it includes first.
fn read(source: Source<'_>, policies: &Policies, plan: &mut Plan, depth: u32) -> Result<(), PlanError> {
    let document = source.parse()?;
    let top = Table::new(source, &document, "a plan", &["name", "description", "include", "experiment"])?;
    let name = top.require("name")?.text()?.to_owned();
    let description = top.require("description")?.text()?.to_owned();
    for include in top.get("include").map(|list| list.list()).transpose()?.unwrap_or_default() {
        if depth >= DEEPEST_INCLUDE {
            return Err(include.fail(&format!("more than {DEEPEST_INCLUDE} plans within each other; does one include itself?")));
        }
        let (file, text) = text_of(include.text()?).map_err(|message| include.fail(&message))?;
        read(Source { file: &file, text: &text }, policies, plan, depth + 1)?;
    }
    for experiment in top.get("experiment").map(|list| list.list()).transpose()?.unwrap_or_default() {
        let known = ["name", "title", "gpu", "kernels", "together", "groups", "policies", "configurations", "parameters", "machine"];
        let table = experiment.table("[[experiment]]", &known)?;
        let name = table.require("name")?;
        let parsed = self::experiment(&table, policies)?;
        if plan.experiments.iter().any(|before| before.name == parsed.name) {
            return Err(name.fail(&format!("there is an experiment `{}` already", parsed.name)));
        }
        plan.experiments.push(parsed);
    }
    plan.text += source.text;
    (plan.name, plan.description) = (name, description);
    Ok(())
}

fn experiment(table: &Table<'_>, known: &Policies) -> Result<Experiment, PlanError> {
    let name = table.require("name")?;
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if !is_plain(name.text()?) {
        return Err(name.fail("small letters, digits and hyphens only"));
    }
    let kernels = kernels(&table.require("kernels")?)?;
    let groups = groups(table, &kernels)?;
    let policies = policies(&table.require("policies")?, known)?;
    let gpu = table.require("gpu")?;
    let parameters = table.get("parameters").map(|value| parameters::parameters(&value)).transpose()?.unwrap_or_default();
    let mut settings = Vec::new();
    for one in gpu.one_or_more()? {
        let config = gpu_file::load(one.text()?).map_err(|error| one.fail(&error.to_string()))?;
        let machine = table.get("machine").map(|value| parameters::machine(&value, &config)).transpose()?.unwrap_or_default();
        let axes = [&parameters[..], &machine[..]].concat();
        // Where most of them come from.
        let machines = parameters::combinations(&machine) > parameters::combinations(&parameters);
        let many = table.get(if machines { "machine" } else { "parameters" }).unwrap_or(one);
        parameters::check_combinations(&axes).map_err(|message| many.fail(&message))?;
        settings.extend(parameters::settings(&axes, &config).map_err(|message| table.get("machine").unwrap_or(one).fail(&message))?);
    }
    let several = gpu.one_or_more()?.len() > 1;
    for setting in &mut settings {
        if several {
            setting.labels.insert(0, ("gpu".into(), setting.gpu.name.clone()));
        }
        room_for(&policies, &groups, &setting.gpu)
            .map_err(|message| table.require("policies").map_or_else(|e| e, |at| at.fail(&message)))?;
    }
    Ok(Experiment {
        name: name.text()?.to_owned(),
        title: table.require("title")?.text()?.to_owned(),
        kernels,
        groups,
        policies,
        configurations: table.get("configurations").map(|value| value.flag()).transpose()?.unwrap_or(true),
        settings,
    })
}

/// Whether the machine has SMs enough for every policy.
fn room_for(policies: &[Policy], groups: &[Vec<usize>], gpu: &GpuConfig) -> Result<(), String> {
    let kernels = groups.iter().map(Vec::len).max().unwrap_or_default() as u32;
    match policies.iter().find(|policy| policy.least_sms(kernels) > gpu.sm.count) {
        Some(policy) => {
            let (needed, had) = (policy.least_sms(kernels), gpu.sm.count);
            Err(format!("{} needs {needed} SMs for {kernels} kernels, `{}` here has {had}", policy.name(), gpu.name))
        }
        None => Ok(()),
    }
}

fn kernels(value: &Value<'_>) -> Result<Vec<(String, Request)>, PlanError> {
    let mut kernels: Vec<(String, Request)> = Vec::new();
    for word in value.list()? {
        let text = word.text()?;
        if kernels.iter().any(|(before, _)| before == text) {
            return Err(word.fail(&format!("`{text}` is listed twice")));
        }
        kernels.push((text.to_owned(), Request::parse(text).map_err(|error| word.fail(&error.to_string()))?));
    }
    Ok(kernels)
}

/// Groups as listed, or all of the sizes asked for; all pairs by default.
fn groups(table: &Table<'_>, kernels: &[(String, Request)]) -> Result<Vec<Vec<usize>>, PlanError> {
    let words: Vec<&str> = kernels.iter().map(|(word, _)| word.as_str()).collect();
    match (table.get("groups"), table.get("together")) {
        (Some(groups), Some(_)) => Err(groups.fail("give `groups` or `together`, not both")),
        (Some(groups), None) => different(&groups.list()?, |group| listed(group, &words), |members| {
            format!("the group of {} is listed twice", members.iter().map(|&member| words[member]).collect::<Vec<_>>().join(" and "))
        }),
        (None, Some(sizes)) => {
            let most = words.len().min(MOST_KERNELS) as u64;
            let sizes = different(&sizes.one_or_more()?, |size| size.whole(1..=most), |size| format!("`{size}` is listed twice"))?;
            Ok(sizes.iter().flat_map(|&size| combinations(words.len(), size as usize)).collect())
        }
        (None, None) if words.len() < 2 => Err(table.fail("`kernels` lists one kernel; a pair needs two (or give `together = 1`)")),
        (None, None) => Ok(combinations(words.len(), 2)),
    }
}

/// The values as `read` reads them. None may be there twice: it would count twice in all means.
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

fn listed(group: &Value<'_>, words: &[&str]) -> Result<Vec<usize>, PlanError> {
    let members = group.list()?;
    if members.len() > MOST_KERNELS {
        return Err(group.fail(&format!("{} kernels, the firmware schedules at most {MOST_KERNELS} at a time", members.len())));
    }
    let place = |member: &Value<'_>| {
        let text = member.text()?;
        words
            .iter()
            .position(|word| *word == text)
            .ok_or_else(|| member.fail(&format!("{} (the experiment's `kernels`)", suggest::unknown("kernel", text, words))))
    };
    members.iter().map(place).collect()
}

fn policies(value: &Value<'_>, known: &Policies) -> Result<Vec<Policy>, PlanError> {
    let mut named = Vec::new();
    for one in value.list()? {
        let text = one.text()?;
        named.push(known.find(text).ok_or_else(|| one.fail(&suggest::unknown("policy", text, &known.names())))?);
    }
    Ok(known.sorted(&named))
}

/// All ways of taking `size` of `count` things, each ascending, in lexicographic order.
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
