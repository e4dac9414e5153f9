//! The keys of a plan's tables: which there are, what each means and what it takes. The reader knows no others, and the schema is made from
//! them, so that the two cannot disagree about what may be written.

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

/// A key of a table.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Whether the table must have it.
    pub(super) required: bool,
    /// What it means, for editors.
    pub(super) about: &'static str,
    /// The schema of its value, for a program that knows these policies.
    pub(super) value: fn(&Policies) -> Value,
}

const fn required(name: &'static str, about: &'static str, value: fn(&Policies) -> Value) -> Key {
    Key { name, required: true, about, value }
}

const fn optional(name: &'static str, about: &'static str, value: fn(&Policies) -> Value) -> Key {
    Key { name, required: false, about, value }
}

/// Of a plan.
pub(super) const PLAN: [Key; 9] = [
    required("name", "Short name: small letters, digits and hyphens.", |_| schema::plain_name()),
    required("description", "What the plan is for.", |_| schema::text()),
    optional("include", "Plans, built in or files from this one's folder, whose experiments come first.", |_| {
        list(&schema::known_or_file(&super::names()))
    }),
    optional("experiment", "Groups of kernels under policies, in every setting.", |policies| list(&schema::experiment(policies))),
    optional("report", "What the report shows, in this order; the usual figures and tables if left out.", |_| list(&schema::block())),
    optional("define", "Values that the report's blocks call by a name.", |_| schema::map_of(&schema::text())),
    optional("join", "What the rows of every block are compared with.", |_| schema::map_of(&schema::of_type::<Join>("Other rows"))),
    optional("report-as", "A plan whose report this one's has, too, as far as it has its experiments.", |_| {
        schema::known_or_file(&super::names())
    }),
    optional("published", "Files of published numbers, built in or from this one's folder.", |_| {
        list(&schema::known_or_file(&super::published_names()))
    }),
];

/// Of `[[experiment]]`.
pub(super) const EXPERIMENT: [Key; 16] = [
    required("name", "Short name, different from all others of the plan: small letters, digits and hyphens.", |_| schema::plain_name()),
    required("title", "Heading in reports.", |_| schema::text()),
    required("gpu", "Machine, built in or a file from the plan's folder, or a list of machines.", |_| {
        one_or_more(&schema::known_or_file(&crate::gpus::names()))
    }),
    required("kernels", "Kernels as on the command line, in launch order; files are named from the plan's folder.", |_| {
        list(&schema::text())
    }),
    optional("together", "How many kernels run together, or a list of such numbers: every combination of them. 2 if left out.", |_| {
        one_or_more(&schema::whole(1, MOST_KERNELS as u64))
    }),
    optional("groups", "Instead of `together`: the groups that run together, each a list of names from `kernels`.", |_| {
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
    optional("parameters", "What stays the same in all runs of the experiment, or is varied over a list or a range.", |_| {
        schema::parameters()
    }),
    optional("gpu-settings", "Fields of the GPU's file, by their names there: a value, a list, or a range.", |_| schema::gpu_settings()),
    optional(
        "sharing",
        "Fields of the machine's file as under `gpu-settings`, but only where several kernels share the machine: kernels alone run on it as it is.",
        |_| schema::as_in_experiment("gpu-settings"),
    ),
    optional(
        "scalability",
        "Whether each kernel also runs alone with every number of TBs per SM; false if left out.",
        |_| json!({ "type": "boolean", "default": false }),
    ),
    optional(
        "memory",
        "Whether results say what runs met in the memory pipeline: misses and reservation fails of the L1, stalls of the load/store unit; false if left out.",
        |_| json!({ "type": "boolean", "default": false }),
    ),
    optional(
        "requests",
        "The last kernel of each group is urgent and comes again and again, each time on a copy of the run.",
        schema::requests,
    ),
    optional(
        "queue",
        "The kernels of each group are launched again and again, in a queue that runs to its end; then a group may have more kernels than run together.",
        schema::queue,
    ),
    optional(
        "quick",
        "What the quick form has instead; false: the quick form leaves the experiment out.",
        |policies| json!({ "anyOf": [{ "type": "boolean" }, schema::quick(policies)] }),
    ),
];

/// Of `[experiment.quick]`: keys of `[[experiment]]`, whose values come before those there. Of tables, only the fields that they have.
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

/// Of `requests`.
pub(super) const REQUESTS: [Key; 3] = [
    required("count", "How many requests, spread over the window.", |_| schema::whole(1, requests::MOST)),
    required("schemes", "Whom the firmware preempts and how, each on copies of the same run.", |_| {
        one_or_more(&json!({ "enum": Scheme::names() }))
    }),
    required("limits-ns", "How long after its launch latency the urgent kernel is to have its room, in nanoseconds.", |_| {
        one_or_more(&schema::whole(1, requests::LONGEST_LIMIT_NS))
    }),
];

/// Of `queue`.
pub(super) const QUEUE: [Key; 4] = [
    required("launches", "How many launches, drawn from the kernels of the group: each as often as any other, or once more.", |_| {
        schema::whole(1, MOST_LAUNCHES.into())
    }),
    required("seeds", "Of the numbers that order, arrivals and priorities are drawn by: a queue for each.", |_| {
        one_or_more(&schema::whole(0, u32::MAX.into()))
    }),
    optional("spacing-cycles", "Mean core cycles from one arrival to the next; 0 if left out: all arrive at once.", |_| {
        schema::whole(0, LONGEST_SPACING.into())
    }),
    optional("urgent-one-in", "One launch in so many has priority 1; 0 if left out: none has.", |_| schema::whole(0, MOST_LAUNCHES.into())),
];

/// Of a range of numbers.
pub(super) const RANGE: [Key; 3] = [
    required("from", "The first value.", |_| schema::whole(0, u64::MAX)),
    required("to", "No value is greater.", |_| schema::whole(0, u64::MAX)),
    required("step", "From one value to the next.", |_| schema::whole(1, u64::MAX)),
];
