//! Plans: the experiments of an evaluation, as TOML. The built-in ones are those of `mias-plans`;
//! docs/start/own-plan.md describes every key.

mod kernels;
mod keys;
mod parameters;
mod queue;
mod quick_form;
mod reader;
mod report;
mod requests;
mod schema;
#[cfg(test)]
mod tests;
mod unfit;

pub use crate::experiment::parameters::Order;
pub use parameters::{Named, Setting};
pub use reader::Place;
pub use schema::schema;

use super::blocks::Report;
use crate::experiment::fits;
use crate::experiment::levels::Levels;
use crate::experiment::parameters::Assignments;
use crate::experiment::policies::Policies;
use crate::experiment::policy::Policy;
use crate::experiment::request::Request;
use crate::gpus;
use keys::{EXPERIMENT, PLAN};
use mias_hw_model::config::GpuConfig;
use mias_workloads::input::{file, suggest};
use parameters::Change;
use quick_form::Form;
use reader::{Source, Table, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// Default window in core cycles: the thesis' (sources.md D7).
const DEFAULT_CYCLES: u64 = 5_000_000;

/// Maximum depth of plans that include plans.
const DEEPEST_INCLUDE: u32 = 4;

/// Error in a plan, with file, line and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

/// Plan of an evaluation.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Short name of the plan.
    pub name: String,
    /// Purpose of the plan.
    pub description: String,
    /// Text of the plan, with those of included plans.
    pub text: String,
    /// Experiments in order; those of included plans first.
    pub experiments: Vec<Experiment>,
    /// Declared content of the report; the default content if empty.
    pub report: Report,
    /// Whether the plan is the quick form of the written plan.
    pub quick: bool,
}

/// Experiment: groups of kernels under policies, in every setting.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Short name, unique in the plan.
    pub name: String,
    /// Title for headings.
    pub title: String,
    /// Kernels as typed, with their parsed form.
    pub kernels: Vec<(String, Request)>,
    /// Position of each kernel in the file.
    pub kernel_places: Vec<Place>,
    /// Groups of kernels, by index.
    pub groups: Vec<Vec<usize>>,
    /// Policies in the order of reports.
    pub policies: Vec<Policy>,
    /// Whether every maximal configuration is run statically, so that there is an oracle.
    pub configurations: bool,
    /// Whether kernels also run alone with every number of TBs per SM.
    pub scalability: bool,
    /// Whether results include memory pipeline quantities.
    pub memory: bool,
    /// All combinations of the experiment's parameters, on every GPU.
    pub settings: Vec<Setting>,
    /// GPUs: the word of each, a name or a path, and its name.
    pub gpus: Vec<(String, String)>,
}

impl Plan {
    /// Overrides values in every setting; `words` are the source text. Settings that no longer
    /// differ are merged.
    ///
    /// # Errors
    /// An invalid setting; the message names the experiment.
    pub fn set(&mut self, assigned: &Assignments, words: &[String]) -> Result<(), PlanError> {
        for experiment in &mut self.experiments {
            let fail = |message: String| PlanError(format!("{}: {message}", experiment.name));
            for setting in &mut experiment.settings {
                setting.assign(assigned).map_err(fail)?;
                fit(&experiment.policies, &experiment.groups, setting).map_err(fail)?;
            }
            let mut seen = BTreeSet::new();
            experiment.settings.retain(|setting| seen.insert((setting.gpu_name.clone(), setting.labels.clone())));
        }
        // Changes the fingerprint of the text.
        self.text.extend(words.iter().map(|word| format!("# set {word}\n")));
        Ok(())
    }
}

/// Returns the names of the built-in plans.
pub fn names() -> Vec<&'static str> {
    mias_plans::ALL.iter().map(|(name, _)| *name).collect()
}

/// Returns the names of the built-in files of published numbers.
fn published_names() -> Vec<&'static str> {
    mias_plans::PUBLISHED.iter().map(|(name, _)| *name).collect()
}

/// Loads the plan `name_or_path`: a built-in one, else the TOML file at that path. It may name any
/// of `policies`.
///
/// # Errors
/// [`PlanError`].
pub fn load(name_or_path: &str, policies: &Policies) -> Result<Plan, PlanError> {
    let (file, text) = text_of(name_or_path).map_err(PlanError)?;
    parse(&file, &text, policies)
}

/// Loads the quick form of the plan `name_or_path`, called `NAME-quick`: smaller inputs, shorter
/// windows and a third of the GPU, unless the plan overrides it. docs/start/own-plan.md has the
/// rules.
///
/// # Errors
/// [`PlanError`].
pub fn load_quick(name_or_path: &str, policies: &Policies) -> Result<Plan, PlanError> {
    let (file, text) = text_of(name_or_path).map_err(PlanError)?;
    parse_as(&file, &text, policies, true)
}

/// Parses and checks the plan in `text`; `file` is its name in messages.
///
/// # Errors
/// [`PlanError`] with file, line, column and the offending text.
pub fn parse(file: &str, text: &str, policies: &Policies) -> Result<Plan, PlanError> {
    parse_as(file, text, policies, false)
}

fn parse_as(file: &str, text: &str, policies: &Policies, quick: bool) -> Result<Plan, PlanError> {
    let (name, description, text_of_all, report) = Default::default();
    let mut plan = Plan { name, description, text: text_of_all, experiments: Vec::new(), report, quick };
    let mut left_out = Vec::new();
    read(Source { file, text }, policies, (&mut plan, &mut left_out), 0)?;
    if plan.experiments.is_empty() {
        return Err(PlanError(format!("{file}: the plan has no [[experiment]]")));
    }
    if quick {
        plan.name += "-quick";
        plan.description += " (its quick form)";
        // Changes the fingerprint of the text.
        plan.text += "# its quick form\n";
    }
    Ok(plan)
}

fn text_of(name_or_path: &str) -> Result<(String, String), String> {
    if let Some(text) = mias_plans::text(name_or_path) {
        return Ok((format!("{name_or_path}.toml"), text.to_owned()));
    }
    let path = Path::new(name_or_path);
    let looks_like_a_path = path.components().count() > 1 || path.extension().is_some_and(|extension| extension == "toml");
    if !looks_like_a_path && !path.is_file() {
        return Err(format!("{}, or the path of a TOML file", suggest::unknown("plan", name_or_path, &names())));
    }
    let text = file::text(path).map_err(|error| format!("cannot read the plan {name_or_path}: {error}"))?;
    Ok((name_or_path.to_owned(), text))
}

/// Adds the content of `source` to `plan`, included plans first, and the names of experiments
/// without a quick form to `without`.
fn read(source: Source<'_>, policies: &Policies, (plan, without): (&mut Plan, &mut Vec<String>), depth: u32) -> Result<(), PlanError> {
    let document = source.parse()?;
    let top = Table::new(source, &document, "a plan", PLAN.iter().map(|key| key.name))?;
    let name = top.require("name")?.plain_name()?.to_owned();
    let description = top.require("description")?.text()?.to_owned();
    for include in top.get("include").map(|list| list.list()).transpose()?.unwrap_or_default() {
        if depth >= DEEPEST_INCLUDE {
            return Err(include.fail(&format!("more than {DEEPEST_INCLUDE} nested plans; remove circular includes")));
        }
        let (file, text) = text_of(&include.beside(include.text()?, &names())).map_err(|message| include.fail(&message))?;
        read(Source { file: &file, text: &text }, policies, (plan, without), depth + 1)?;
    }
    for experiment in top.get("experiment").map(|list| list.list()).transpose()?.unwrap_or_default() {
        let table = experiment.table("[[experiment]]", EXPERIMENT.iter().map(|key| key.name))?;
        let name = table.require("name")?;
        let left_out = quick_form::leaves_out(&table)?;
        if left_out && plan.quick {
            without.push(name.plain_name()?.to_owned());
            continue;
        }
        // The quick form is checked even if it is not requested.
        if !plan.quick && !left_out && table.get("quick").is_some() {
            self::experiment(&table, policies, true)?;
        }
        let parsed = self::experiment(&table, policies, plan.quick)?;
        if plan.experiments.iter().any(|before| before.name == parsed.name) {
            return Err(name.fail(&format!("duplicate experiment `{}`", parsed.name)));
        }
        if let Some(word) = kernels::other_input(plan, &parsed) {
            return Err(table.require("kernels")?.fail(&format!("`{word}` is another file in a plan that this one includes; rename one")));
        }
        plan.experiments.push(parsed);
    }
    let known: Vec<&str> = plan.experiments.iter().map(|experiment| &experiment.name).chain(without.iter()).map(String::as_str).collect();
    report::read(source, &top, &known, policies, &mut plan.report)?;
    plan.text += source.text;
    (plan.name, plan.description) = (name, description);
    Ok(())
}

fn experiment(table: &Table<'_>, known: &Policies, quick: bool) -> Result<Experiment, PlanError> {
    let name = table.require("name")?.plain_name()?;
    let form = Form::of(table, quick)?;
    let mut kernels = kernels::kernels(&table.require("kernels")?)?;
    let groups = kernels::groups(form.of_groups(), &kernels, form.get("queue").is_some())?;
    if quick {
        kernels::make_quick(&mut kernels)?;
    }
    let named = form.require("policies")?;
    let policies = policies(&named, known)?;
    let gpu = table.require("gpu")?;
    let mut parameters = form.axes("parameters", parameters::parameters)?;
    if quick {
        parameters = quick_form::parameters(parameters);
    }
    let most = groups.iter().map(Vec::len).max().unwrap_or_default();
    let (mut settings, mut words) = (Vec::new(), Vec::new());
    for one in gpu.one_or_more()? {
        let word = one.beside(one.text()?, &gpus::names());
        let config = gpus::load(&word).map_err(|error| one.fail(&error.to_string()))?;
        words.push((word, config.name.clone()));
        let mut gpu = form.axes("gpu-settings", |value| parameters::gpu_settings(value, &config, Change::Gpu))?;
        if quick {
            gpu = quick_form::gpu(gpu, &config);
        }
        gpu.extend(form.axes("sharing", |value| parameters::gpu_settings(value, &config, Change::Sharing))?);
        let keys: Vec<String> = gpu.iter().map(|axis| axis.key.clone()).collect();
        fits::check_set_once(&policies, Levels::None, &keys).map_err(|message| named.fail(&message))?;
        let axes = [&parameters[..], &gpu[..]].concat();
        // Report the table with most of the combinations.
        let gpus = parameters::combinations(&gpu) > parameters::combinations(&parameters);
        let many = form.get(if gpus { "gpu-settings" } else { "parameters" }).unwrap_or(one);
        parameters::check_combinations(&axes).map_err(|message| many.fail(&message))?;
        let fields = || form.get("sharing").or(form.get("gpu-settings")).unwrap_or(one);
        let made = parameters::settings(&axes, &config).map_err(|unfit| {
            let place = unfit.parameter.and_then(|key| form.within("parameters", key));
            place.unwrap_or_else(fields).fail(&unfit.message)
        })?;
        made.iter().try_for_each(|setting| numbers_for(&setting.sharing.gpu, most)).map_err(|message| fields().fail(&message))?;
        settings.extend(made);
    }
    for_traces(table, &kernels, &settings)?;
    if let Some(value) = form.get("requests") {
        let requests = requests::requests(&value)?;
        if let Some(group) = groups.iter().find(|group| group.len() < 2) {
            return Err(value.fail(&format!("a group of {} has no kernel before the urgent one, its last", group.len())));
        }
        for (key, why) in requests::SAID_BY_REQUESTS {
            if let Some(said) = form.within("parameters", key) {
                return Err(said.fail(&format!("conflicts with `requests`, {why}: leave it out")));
            }
        }
        settings.iter().try_for_each(|setting| requests::check(&requests, setting)).map_err(|message| value.fail(&message))?;
        settings.iter_mut().for_each(|setting: &mut Setting| setting.options.requests = Some(requests));
    }
    if let Some(value) = form.get("queue") {
        settings = queued(&value, &form, &groups, &settings)?;
    }
    let several = gpu.one_or_more()?.len() > 1;
    for setting in &mut settings {
        if several {
            setting.labels.insert(0, ("gpu".into(), setting.gpu.name.clone()));
        }
        fit(&policies, &groups, setting).map_err(|message| named.fail(&message))?;
        if let Some(shares) = setting.options.shares {
            let checked = groups.iter().try_for_each(|group| shares.check(group.len(), setting.gpu.sm.count));
            checked.map_err(|message| named.fail(&format!("shares: {message}")))?;
        }
        for composed in policies.iter().filter_map(|policy| policy.composed()) {
            composed.on(&setting.sharing.gpu).map_err(|message| named.fail(&format!("{}: {message}", composed.name)))?;
        }
    }
    let flag = |key: &str, unless_given: bool| form.get(key).map(|value| value.flag()).transpose().map(|flag| flag.unwrap_or(unless_given));
    Ok(Experiment {
        name: name.to_owned(),
        title: table.require("title")?.text()?.to_owned(),
        kernels,
        kernel_places: kernels::places(&table.require("kernels")?)?,
        groups,
        policies,
        configurations: flag("configurations", true)?,
        scalability: flag("scalability", false)?,
        memory: flag("memory", false)?,
        settings,
        gpus: words,
    })
}

/// Combines every setting with every requested queue.
fn queued(value: &Value<'_>, form: &Form<'_>, groups: &[Vec<usize>], settings: &[Setting]) -> Result<Vec<Setting>, PlanError> {
    let queues = queue::queues(value)?;
    if groups.iter().any(|group| group.len() < 2) {
        return Err(value.fail("a queue cannot draw from a group of one kernel: use groups of two or more"));
    }
    if form.get("configurations").map(|value| value.flag()).transpose()?.unwrap_or(true) {
        return Err(value.fail("a queue has no configurations of all launches: set `configurations = false`"));
    }
    if let Some(requests) = form.get("requests") {
        return Err(requests.fail("`requests` conflicts with `queue`; leave one out"));
    }
    for (key, why) in queue::SAID_BY_QUEUE {
        if let Some(said) = form.within("parameters", key) {
            return Err(said.fail(&format!("conflicts with `queue`, {why}: leave it out")));
        }
    }
    queue::with_queues(&queues, settings).map_err(|message| value.fail(&message))
}

/// Rejects parameters for traces if no kernel is a trace.
fn for_traces(table: &Table<'_>, kernels: &[(String, Request)], settings: &[Setting]) -> Result<(), PlanError> {
    let asked = [
        ("share-memory", settings.iter().any(|setting| setting.options.share_memory)),
        ("warm-l2", settings.iter().any(|setting| setting.options.warm_l2)),
    ];
    let Some((key, _)) = asked.iter().find(|(_, asked)| *asked) else { return Ok(()) };
    if kernels.iter().any(|(_, request)| request.spec().is_none()) {
        return Ok(());
    }
    let parameters = table.require("parameters")?.entries()?;
    let fail = |value: &Value<'_>| value.fail("applies to traces, and none of `kernels` is a trace; leave it out");
    Err(parameters.iter().find(|value| value.key == *key).map_or_else(|| table.fail(key), fail))
}

/// Rejects limits, quotas, ways and weights for more kernels than share the GPU.
fn numbers_for(gpu: &GpuConfig, most: usize) -> Result<(), String> {
    match gpus::numbers_by_kernel(gpu).into_iter().find(|(_, numbers)| *numbers > most) {
        Some((key, numbers)) => {
            Err(format!("{key} has {numbers} numbers for groups of at most {most} kernels: use at most one per kernel"))
        }
        None => Ok(()),
    }
}

/// Checks that the GPU supports every policy for the largest of the groups.
fn fit(policies: &[Policy], groups: &[Vec<usize>], setting: &Setting) -> Result<(), String> {
    let kernels = groups.iter().map(Vec::len).max().unwrap_or_default();
    fits::check_sms(policies, kernels, &setting.gpu).and_then(|()| fits::check_gating(policies, setting.options, &setting.gpu))
}

fn policies(value: &Value<'_>, known: &Policies) -> Result<Vec<Policy>, PlanError> {
    let mut named = Vec::new();
    for one in value.list()? {
        let text = one.text()?;
        named.push(known.parse(text).map_err(|message| one.fail(&message))?);
    }
    Ok(known.sorted(&named))
}
