//! Results as rows for report blocks: each with its fields of `results.json`, its identifying
//! names, and its joined rows.

use super::expression::{Expression, Value};
use super::published::Published;
use super::{Join, Source};
use crate::evaluate::preemption_storage;
use crate::evaluate::queue::QueueResult;
use crate::evaluate::results::{Evaluation, GroupResult, PolicyResult, StudyResult};
use crate::evaluate::storage;
use crate::experiment::policies::Policies;
use crate::experiment::policy::Policy;
use crate::gpus;
use crate::gpus::fields::{Field, changed};
use crate::kernel_name;
use mias_hw_model::config::GpuConfig;
use serde::Serialize;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Row of results.
#[derive(Clone, Debug)]
pub struct Row<'e> {
    study: &'e StudyResult,
    pub(super) published: &'e Published,
    /// Fields of the row's part of `results.json`.
    fields: Arc<Json>,
    /// Index of its kernel in a group, which selects elements of lists.
    place: Option<usize>,
    /// Identifying names: `kernel`, `group`, `class` and the like.
    names: Vec<(&'static str, String)>,
    /// Abscissa and ordinate of a point in a list, and the largest ordinate of the list.
    point: Option<[f64; 3]>,
    /// Fields of the machine, loaded on demand.
    gpu: Arc<OnceLock<Json>>,
    evaluation: &'e Evaluation,
    beside: Vec<(String, Arc<Row<'e>>)>,
}

impl<'e> Row<'e> {
    /// Returns the study that the row belongs to.
    pub fn study(&self) -> &'e StudyResult {
        self.study
    }

    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<Value> {
        if let Some((_, value)) = self.names.iter().find(|(known, _)| *known == name) {
            return Some(Value::Text(value.clone()));
        }
        if let Some(defined) = self.evaluation.plan.report.define.get(name) {
            return defined.of_one(self);
        }
        match (name, self.point) {
            ("experiment", _) => return Some(Value::Text(self.study.experiment.clone())),
            ("at", Some([at, _, _])) => return Some(Value::Number(at)),
            ("value", Some([_, value, _])) => return Some(Value::Number(value)),
            ("most", Some([_, _, most])) => return Some(Value::Number(most)),
            ("place", _) => return self.place.map(|place| Value::Number(place as f64)),
            ("base", _) => return self.policy().map(|policy| Value::Text(policy.base().name().to_owned())),
            ("measures", _) => return self.policy().map(|policy| Value::Number(f64::from(u8::from(policy.base().measures())))),
            ("searched_for", _) => return self.searched_for().map(|mode| Value::Text(mode.to_owned())),
            ("promised_stp", _) => return self.promised_stp().map(Value::Number),
            _ => {}
        }
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        if let Some((_, other)) = self.beside.iter().find(|(known, _)| known == first) {
            return other.get(rest);
        }
        match first {
            "setting" => self.setting(rest),
            "study" => self.of_study(rest),
            "stored" => self.stored(rest),
            "levels" => {
                let on = self.study.levels.iter().any(|levels| levels.split('+').any(|level| level == rest));
                Some(Value::Number(f64::from(u8::from(on))))
            }
            "gpu" => self.field(self.gpu.get_or_init(|| gpu(&self.study.gpu)), rest),
            "paper" => self.names.iter().find_map(|(_, key)| self.published.find(None, key, rest)),
            _ => self.field(&self.fields, name),
        }
    }

    fn field(&self, of: &Json, path: &str) -> Option<Value> {
        let mut found = of;
        for part in path.split('.') {
            found = match (found, part.parse::<usize>()) {
                (Json::Array(list), Ok(at)) => list.get(at)?,
                (Json::Array(list), Err(_)) => list.get(self.place?)?.get(part)?,
                _ => found.get(part)?,
            };
        }
        if let (Json::Array(list), Some(place)) = (found, self.place) {
            found = list.get(place)?;
        }
        match found {
            Json::Number(number) => number.as_f64().map(Value::Number),
            Json::Bool(holds) => Some(Value::Number(f64::from(u8::from(*holds)))),
            Json::String(text) => Some(Value::Text(text.clone())),
            // A list of numbers is a configuration.
            Json::Array(list) if list.iter().all(Json::is_number) => {
                Some(Value::Text(list.iter().map(Json::to_string).collect::<Vec<_>>().join("-")))
            }
            _ => None,
        }
    }
}

impl Row<'_> {
    /// Returns a property of the experiment that all its runs share.
    fn of_study(&self, name: &str) -> Option<Value> {
        let study = self.study;
        let number = |value: u64| Some(Value::Number(value as f64));
        let text = |value: &str| Some(Value::Text(value.to_owned()));
        match name {
            "title" => text(&study.title),
            "gpu" => text(&study.gpu),
            "cycles" => number(study.cycles?),
            "arrive" => number(study.arrive),
            "profile_cycles" => number(study.profile_cycles.into()),
            "transition" => text(study.transition),
            "latency" => text(study.latency),
            "ipc_unit" => text(study.ipc_unit),
            "precision" => text(study.precision.as_deref()?),
            "levels" => text(study.levels.as_deref()?),
            _ => None,
        }
    }

    /// Returns a varied parameter: the value of a key, or one part of it, from 0: `shares.0` of
    /// `shares = "20-4"`.
    fn setting(&self, name: &str) -> Option<Value> {
        let of = |wanted: &str| self.study.setting.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str());
        let part = || {
            let (key, part) = name.rsplit_once('.')?;
            of(key)?.split('-').nth(part.parse().ok()?)
        };
        of(name).or_else(part).map(Value::read)
    }

    /// Returns the policy, if the program knows it.
    fn policy(&self) -> Option<Policy> {
        let (_, name) = self.names.iter().find(|(known, _)| *known == "policy")?;
        Policies::default().find(name)
    }

    /// Returns the bits that the policy stores in addition to the common state: in each SM, once on
    /// the chip, or in each SM for preemption.
    fn stored(&self, place: &str) -> Option<Value> {
        let bits = storage::bits(self.policy()?, &of_name(&self.study.gpu)?)?;
        let bits = match place {
            "sm" => bits.sm,
            "chip" => bits.chip,
            "preemption" if self.study.transition.starts_with("preempt") => preemption_storage::hardware_bits(),
            "preemption" => 0,
            _ => return None,
        };
        Some(Value::Number(bits as f64))
    }

    /// Returns the target of a search for SMs: performance if some kernels are memory-intensive,
    /// power if all are, nothing if none is (Zhao et al. 2018, section 4).
    fn searched_for(&self) -> Option<&'static str> {
        let told = self.fields.get("search")?.get("memory_intensive")?.as_array()?;
        let memory = told.iter().filter(|told| told.as_bool() == Some(true)).count();
        (!told.is_empty()).then_some(match memory {
            0 => "none",
            _ if memory == told.len() => "power",
            _ => "performance",
        })
    }

    /// Returns the STP that isolated scalability predicts for a policy's configuration: the sum
    /// over kernels of IPC with as many TBs per SM over IPC with all.
    fn promised_stp(&self) -> Option<f64> {
        let config = self.fields.get("config")?.as_array()?;
        let (_, names) = self.names.iter().find(|(known, _)| *known == "group")?;
        let known = || self.evaluation.studies.iter().flat_map(|study| &study.kernels);
        let promised = |(name, tbs): (&str, &Json)| {
            let kernel = known().find(|kernel| plain(&kernel.name) == name && !kernel.scalability.is_empty())?;
            let (_, ipc) = kernel.scalability.iter().find(|(count, _)| Some(u64::from(*count)) == tbs.as_u64())?;
            Some(ipc / kernel.ipc)
        };
        names.split('+').zip(config).map(promised).sum()
    }
}

/// Returns the machine of a study, as its file describes it.
fn gpu(name: &str) -> Json {
    of_name(name).and_then(|gpu| serde_json::to_value(gpu).ok()).unwrap_or_default()
}

/// Parses the machine name of a study: a file, and the fields that differ from it.
fn of_name(name: &str) -> Option<GpuConfig> {
    let mut words = name.split(' ');
    let gpu = gpus::load(words.next()?).ok()?;
    let field = |word: &str| {
        let (key, value) = word.split_once('=')?;
        let value = value.parse().map_or_else(|_| toml::Value::String(value.to_owned()), toml::Value::Integer);
        Some(Field { path: key.split('.').map(str::to_owned).collect(), value })
    };
    let fields: Vec<Field> = words.filter_map(field).collect();
    Some(changed(&gpu, &fields).unwrap_or(gpu))
}

/// Returns a kernel's name without its settings; for a trace, its folder and launch.
pub fn plain(kernel: &str) -> Cow<'_, str> {
    match kernel_name::short(kernel) {
        Cow::Borrowed(name) => Cow::Borrowed(name.split([':', '#']).next().unwrap_or_default()),
        trace => trace,
    }
}

/// Selection of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'b> {
    pub(super) rows: Source,
    pub(super) points: Option<&'b str>,
    pub(super) experiments: &'b [String],
    pub(super) condition: Option<&'b Expression>,
}

/// Returns the selected rows of an evaluation, each with its joined rows.
pub(super) fn rows<'e>(
    evaluation: &'e Evaluation,
    published: &'e Published,
    wanted: Wanted<'_>,
    joins: &BTreeMap<String, Join>,
) -> Vec<Row<'e>> {
    let of_it = |study: &&StudyResult| wanted.experiments.is_empty() || wanted.experiments.contains(&study.experiment);
    let mut rows: Vec<Row<'e>> =
        evaluation.studies.iter().filter(of_it).flat_map(|study| of_study(evaluation, study, published, wanted)).collect();
    for (at, (name, join)) in joins.iter().enumerate() {
        // A joined row may itself join rows of earlier names.
        let before = joins.iter().take(at).map(|(name, join)| (name.clone(), join.clone())).collect();
        let others = Wanted {
            rows: join.rows.unwrap_or(wanted.rows),
            points: join.points.as_deref(),
            experiments: if join.experiments.is_empty() { wanted.experiments } else { &join.experiments },
            condition: join.condition.as_ref(),
        };
        let others: Vec<Arc<Row<'e>>> = self::rows(evaluation, published, others, &before).into_iter().map(Arc::new).collect();
        let key = |on: &[Expression], row: &Row<'_>| on.iter().map(|on| on.of_one(row).map(|value| value.to_string())).collect::<Vec<_>>();
        let theirs = if join.with.is_empty() { &join.on } else { &join.with };
        let mut by_key: BTreeMap<Vec<Option<String>>, Vec<&Arc<Row<'e>>>> = BTreeMap::new();
        others.iter().for_each(|other| by_key.entry(key(theirs, other)).or_default().push(other));
        for row in &mut rows {
            let wanted = key(&join.on, row);
            let mut same = by_key.get(&wanted).into_iter().flatten().copied();
            let found = match &join.best {
                None => same.next(),
                Some(best) => {
                    let known = same.filter_map(|other| Some((best.of_one(other)?.number()?, other)));
                    known.reduce(|best, one| if one.0 > best.0 { one } else { best }).map(|(_, other)| other)
                }
            };
            row.beside.extend(found.map(|other| (name.clone(), Arc::clone(other))));
        }
    }
    rows.retain(|row| wanted.condition.is_none_or(|condition| condition.holds(row)));
    rows
}

fn json(value: &impl Serialize) -> Arc<Json> {
    Arc::new(serde_json::to_value(value).unwrap_or_default())
}

fn of_study<'e>(evaluation: &'e Evaluation, study: &'e StudyResult, published: &'e Published, wanted: Wanted<'_>) -> Vec<Row<'e>> {
    let gpu = Arc::default();
    let row = |fields: Arc<Json>, names: Vec<(&'static str, String)>| Row {
        gpu: Arc::clone(&gpu),
        evaluation,
        study,
        published,
        fields,
        place: None,
        names,
        point: None,
        beside: Vec::new(),
    };
    let joined = |kernels: &[String]| kernels.iter().map(|kernel| plain(kernel)).collect::<Vec<_>>().join("+");
    let kernel = |name: &str| vec![("kernel", plain(name).into_owned()), ("input", name.to_owned())];
    let of_group = |kernels: &[String], class: &str| vec![("group", joined(kernels)), ("class", class.to_owned())];
    let of_policy = |group: &GroupResult, result: &PolicyResult| {
        let names = of_group(&group.kernels, &group.class).into_iter().chain([("policy", result.policy.to_owned())]);
        row(json(result), names.collect())
    };
    let policies = || study.groups.iter().flat_map(|group| group.policies.iter().map(move |result| (group, result)));
    let rows: Vec<Row<'e>> = match wanted.rows {
        Source::Kernels => study.kernels.iter().map(|alone| row(json(alone), kernel(&alone.name))).collect(),
        Source::Policies => policies().map(|(group, result)| of_policy(group, result)).collect(),
        Source::Members => {
            let mut members = Vec::new();
            for (group, result) in policies() {
                let whole = of_policy(group, result);
                members.extend(group.kernels.iter().enumerate().map(|(place, name)| Row {
                    place: Some(place),
                    names: kernel(name).into_iter().chain(whole.names.clone()).collect(),
                    ..whole.clone()
                }));
            }
            members
        }
        Source::PreemptionStorage => {
            let first = evaluation.studies.first().is_some_and(|first| std::ptr::eq(first, study));
            preemption_storage::rows().iter().filter(|_| first).map(|stored| row(json(stored), Vec::new())).collect()
        }
        Source::Gpus => vec![row(json(&()), vec![("gpu", study.gpu.clone())])],
        Source::Groups => study.groups.iter().map(|group| row(json(group), of_group(&group.kernels, &group.class))).collect(),
        Source::Configurations => {
            let points = study.groups.iter().flat_map(|group| group.configurations.iter().map(move |point| (group, point)));
            points.map(|(group, point)| row(json(point), of_group(&group.kernels, &group.class))).collect()
        }
        Source::Requests => {
            let names = |kernel: &str, scheme: &str| vec![("kernel", plain(kernel).into_owned()), ("scheme", scheme.to_owned())];
            study.requests.iter().map(|one| row(json(one), names(&one.kernel, &one.scheme))).collect()
        }
        Source::Queue => {
            let names = |one: &QueueResult| vec![("group", joined(&one.kernels)), ("policy", one.policy.to_owned())];
            study.queue.iter().map(|one| row(json(one), names(one))).collect()
        }
        Source::Summary => {
            let names = |class: &str, policy: &str| vec![("class", class.to_owned()), ("policy", policy.to_owned())];
            study.summary.iter().map(|one| row(json(one), names(&one.class, &one.policy))).collect()
        }
    };
    match wanted.points {
        None => rows,
        Some(list) => rows.iter().flat_map(|row| points(row, list)).collect(),
    }
}

/// Returns a row for every point of a list: of pairs, or of counts of a kernel, numbered from 1.
fn points<'e>(row: &Row<'e>, list: &str) -> Vec<Row<'e>> {
    let mut found = list.split('.').try_fold(&*row.fields, |fields, part| fields.get(part));
    let is_pair = |point: &Json| point.as_array().is_some_and(|pair| pair.len() == 2 && list.split('.').count() == 1);
    if found.and_then(|list| list.get(0)).is_some_and(|first| first.is_array() && !is_pair(first)) {
        found = found.and_then(|list| list.get(row.place.unwrap_or(0)));
    }
    let point = |(at, value): (usize, &Json)| match value {
        Json::Array(pair) => Some((pair.first()?.as_f64()?, pair.get(1)?.as_f64()?)),
        number => Some(((at + 1) as f64, number.as_f64()?)),
    };
    let points: Vec<(f64, f64)> = found.and_then(Json::as_array).into_iter().flatten().enumerate().filter_map(point).collect();
    let most = points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    points.into_iter().map(|(at, value)| Row { point: Some([at, value, most]), ..row.clone() }).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::LazyLock;

    static EVALUATION: LazyLock<Evaluation> = LazyLock::new(|| {
        let alone = |name: &str, ipc: f64, memory: Json| {
            json!({
                "name": name, "trace_hash": "", "run": "", "max_tbs": 4, "ipc": ipc, "cycles": 100, "issue_slots": {}, "energy_joules": null,
                "curve": [[10, 1.0], [20, 2.0]], "memory": memory,
            })
        };
        let rate =
            json!({ "l1_miss_rate": 0.25, "fails_per_access": null, "lsu_stall_share": null, "alu_utilization": null, "kernels": [] });
        let study = |experiment: &str, factor: f64| {
            json!({
                "experiment": experiment, "title": "", "setting": [["sm.tbs", "8"]], "gpu": "g", "gpu_hash": "", "cycles": 100, "profile_cycles": 1,
                "transition": "drain", "latency": "off", "ipc_unit": "warp", "relaunch": false, "precision": "1 %", "levels": "warps",
                "kernels": [alone("mm:64", 2.0 * factor, rate.clone()), alone("fwt", 8.0, Json::Null)], "groups": [], "summary": [],
            })
        };
        let whole = json!({
            "schema_version": 1, "model": "", "plan": { "name": "p", "description": "", "hash": "" },
            "studies": [study("alone", 1.0), study("wide", 1.5)],
        });
        serde_json::from_value(whole).expect("results")
    });
    static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
        let mut published = Published::default();
        published.read("paper,figure,page,key,series,value\nA,3,7,mm,level,high\nA,3,7,mm,ipc,3\n").expect("numbers");
        published
    });

    fn of(experiments: &[&str], points: Option<&str>, joins: &BTreeMap<String, Join>) -> Vec<Row<'static>> {
        let experiments: Vec<String> = experiments.iter().map(|&name| name.to_owned()).collect();
        super::rows(&EVALUATION, &PUBLISHED, Wanted { rows: Source::Kernels, points, experiments: &experiments, condition: None }, joins)
    }

    pub(in crate::evaluate::blocks) fn rows() -> Vec<Row<'static>> {
        of(&["alone"], None, &BTreeMap::new())
    }

    pub(in crate::evaluate::blocks) fn published() -> &'static Published {
        &PUBLISHED
    }

    #[test]
    fn names_are_found_where_results_have_them() {
        let on = vec![Expression::try_from("kernel".to_owned()).unwrap()];
        let join = Join { experiments: vec!["alone".into()], on, ..Join::default() };
        let wide = of(&["wide"], None, &BTreeMap::from([("base".to_owned(), join)]));
        let get = |name: &str| wide[0].get(name);
        assert_eq!((get("ipc"), get("base.ipc")), (Some(Value::Number(3.0)), Some(Value::Number(2.0))));
        assert_eq!((get("setting.sm.tbs"), get("study.latency")), (Some(Value::Number(8.0)), Some(Value::Text("off".into()))));
        assert_eq!((get("paper.level"), get("memory.l1_miss_rate")), (Some(Value::Text("high".into())), Some(Value::Number(0.25))));
        assert_eq!((wide[1].get("memory.l1_miss_rate"), wide[1].get("paper.level"), get("quack")), (None, None, None));
    }

    #[test]
    fn every_name_of_a_study_has_a_value() {
        let alone = rows();
        for name in super::super::fields::OF_STUDY {
            assert!(alone[0].of_study(name).is_some(), "{name}");
        }
        assert_eq!(alone[0].of_study("quack"), None);
    }

    #[test]
    fn points_of_a_list_are_rows() {
        let points = of(&["alone"], Some("curve"), &BTreeMap::new());
        let at = |row: &Row<'_>| [row.get("at"), row.get("value")].map(|value| value.and_then(|value| value.number()));
        assert_eq!(points.iter().map(at).collect::<Vec<_>>()[..2], [[Some(10.0), Some(1.0)], [Some(20.0), Some(2.0)]]);
        assert_eq!(points.len(), 4);
    }
}
