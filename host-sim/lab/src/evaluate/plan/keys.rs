//! Keys of a plan's tables, with meaning and values. The reader accepts only these keys, and the
//! schema is generated from them, so the two agree.

use super::kernels::{MOST_KERNELS, MOST_QUEUED_KERNELS};
use super::requests;
use super::schema;
use crate::choice::Choice;
use crate::evaluate::blocks::Join;
use crate::experiment::policies::Policies;
use crate::experiment::queue::{LONGEST_SPACING, MOST_LAUNCHES};
use crate::experiment::requests::Scheme;
use mias_workloads::input::schema::{list, one_or_more};
use serde_json::{Value, json};

/// Key of a table.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Whether the key is required.
    pub(super) required: bool,
    /// Meaning, for editors.
    pub(super) about: &'static str,
    /// Schema of the key's value, for a program that knows these policies.
    pub(super) value: fn(&Policies) -> Value,
}

const fn required(name: &'static str, about: &'static str, value: fn(&Policies) -> Value) -> Key {
    Key { name, required: true, about, value }
}

const fn optional(name: &'static str, about: &'static str, value: fn(&Policies) -> Value) -> Key {
    Key { name, required: false, about, value }
}

/// Keys of a plan.
pub(super) const PLAN: [Key; 9] = [
    required("name", "Short name: lowercase letters, digits and hyphens.", |_| schema::plain_name()),
    required("description", "Purpose of the plan.", |_| schema::text()),
    optional("include", "Plans with experiments that precede those of this plan: built in, or files relative to its folder.", |_| {
        list(&schema::known_or_file(&super::names()))
    }),
    optional("experiment", "Experiments: groups of kernels under policies, in every setting.", |policies| {
        list(&schema::experiment(policies))
    }),
    optional("report", "Blocks of the report, in order; the usual figures and tables if left out.", |_| list(&schema::block())),
    optional("define", "Named values for the report's blocks.", |_| schema::map_of(&schema::text())),
    optional("join", "Rows that the rows of every block are compared with.", |_| schema::map_of(&schema::of_type::<Join>("Other rows"))),
    optional("report-as", "A plan with blocks to append to this report, as far as its experiments exist here.", |_| {
        schema::known_or_file(&super::names())
    }),
    optional("published", "Files of published numbers, built in or relative to the plan's folder.", |_| {
        list(&schema::known_or_file(&super::published_names()))
    }),
];

/// Keys of `[[experiment]]`.
pub(super) const EXPERIMENT: [Key; 16] = [
    required("name", "Short name, unique in the plan: lowercase letters, digits and hyphens.", |_| schema::plain_name()),
    required("title", "Heading in the report.", |_| schema::text()),
    required("gpu", "GPU or list of GPUs: built in, or files relative to the plan's folder.", |_| {
        one_or_more(&schema::known_or_file(&crate::gpus::names()))
    }),
    required("kernels", "Kernels as on the command line, in launch order; files are relative to the plan's folder.", |_| {
        list(&schema::text())
    }),
    optional(
        "together",
        "Number of kernels per group, or a list of such numbers: every combination of `kernels` runs. 2 if left out.",
        |_| one_or_more(&schema::whole(1, MOST_KERNELS as u64)),
    ),
    optional("groups", "Groups of kernels, each a list of names from `kernels`; replaces `together`.", |_| {
        let mut group = list(&schema::text());
        group["maxItems"] = MOST_QUEUED_KERNELS.into();
        list(&group)
    }),
    required("policies", "Policies as on the command line.", |policies| list(&schema::policy(policies))),
    optional(
        "configurations",
        "Whether every maximal configuration runs throughout, for oracles and regrets; true if left out.",
        |_| json!({ "type": "boolean", "default": true }),
    ),
    optional("parameters", "Parameters of all runs of the experiment: a value, or a list or range to vary.", |_| schema::parameters()),
    optional("gpu-settings", "Fields of the GPU's file, by name: a value, a list, or a range.", |_| schema::gpu_settings()),
    optional(
        "sharing",
        "Fields of the GPU's file, as in `gpu-settings`, for runs of several kernels; isolated kernels run on the unmodified GPU.",
        |_| schema::as_in_experiment("gpu-settings"),
    ),
    optional(
        "scalability",
        "Whether each kernel also runs alone with every number of TBs per SM; false if left out.",
        |_| json!({ "type": "boolean", "default": false }),
    ),
    optional(
        "memory",
        "Whether results include memory-pipeline counters: misses and reservation fails of the L1, stalls of the load/store unit; false if left out.",
        |_| json!({ "type": "boolean", "default": false }),
    ),
    optional(
        "requests",
        "Requests: the last kernel of each group is urgent and arrives repeatedly, each time on a copy of the run.",
        schema::requests,
    ),
    optional(
        "queue",
        "Queue: the kernels of each group are launched repeatedly until the queue is empty; a group may then have more kernels than run together.",
        schema::queue,
    ),
    optional(
        "quick",
        "Keys that the quick form replaces; false: the quick form omits the experiment.",
        |policies| json!({ "anyOf": [{ "type": "boolean" }, schema::quick(policies)] }),
    ),
];

/// Keys of `[experiment.quick]`, whose values override those of `[[experiment]]`; in tables, field
/// by field.
pub(super) const QUICK: [Key; 8] = [
    optional("together", "As in the experiment.", |_| schema::as_in_experiment("together")),
    optional("groups", "As in the experiment.", |_| schema::as_in_experiment("groups")),
    optional("policies", "As in the experiment.", |_| schema::as_in_experiment("policies")),
    optional("parameters", "As in the experiment.", |_| schema::as_in_experiment("parameters")),
    optional("gpu-settings", "As in the experiment.", |_| schema::as_in_experiment("gpu-settings")),
    optional("sharing", "As in the experiment.", |_| schema::as_in_experiment("sharing")),
    optional("requests", "As in the experiment.", |_| schema::as_in_experiment("requests")),
    optional("queue", "As in the experiment.", |_| schema::as_in_experiment("queue")),
];

/// Keys of `requests`.
pub(super) const REQUESTS: [Key; 3] = [
    required("count", "Number of requests, spread over the window.", |_| schema::whole(1, requests::MOST)),
    required("schemes", "Preemption schemes, each simulated on copies of the same run.", |_| {
        one_or_more(&json!({ "enum": Scheme::names() }))
    }),
    required("limits-ns", "Limits from the end of the launch latency until the urgent kernel has its room, in nanoseconds.", |_| {
        one_or_more(&schema::whole(1, requests::LONGEST_LIMIT_NS))
    }),
];

/// Keys of `queue`.
pub(super) const QUEUE: [Key; 4] = [
    required("launches", "Number of launches, drawn from the kernels of the group; counts per kernel differ by at most one.", |_| {
        schema::whole(1, MOST_LAUNCHES.into())
    }),
    required("seeds", "Seeds of order, arrivals and priorities; one queue per seed.", |_| one_or_more(&schema::whole(0, u32::MAX.into()))),
    optional("spacing-cycles", "Mean core cycles between arrivals; 0 if left out: all arrive at once.", |_| {
        schema::whole(0, LONGEST_SPACING.into())
    }),
    optional("urgent-one-in", "One launch in this many has priority 1; 0 if left out: none.", |_| schema::whole(0, MOST_LAUNCHES.into())),
];

/// Keys of a range of numbers.
pub(super) const RANGE: [Key; 3] = [
    required("from", "First value.", |_| schema::whole(0, u64::MAX)),
    required("to", "Upper bound, inclusive.", |_| schema::whole(0, u64::MAX)),
    required("step", "Difference between consecutive values.", |_| schema::whole(1, u64::MAX)),
];
