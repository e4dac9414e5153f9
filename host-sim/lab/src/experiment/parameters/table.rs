//! Table of parameters: name, meaning, default, values and setter. A new parameter is one new
//! entry.

use super::{Kind, LONGEST_WINDOW, OFF, Order, Parameter, Parameters};
use crate::choice::Choice;
use crate::experiment::levels::Levels;
use crate::experiment::options::End;
use crate::experiment::policy::{Counted, IpcUnit, Latency, Transition};
use crate::experiment::precision::Precision;
use crate::experiment::queue::{LONGEST_SPACING, MOST_LAUNCHES};
use crate::experiment::shares::Shares;
use crate::experiment::time::Time;
use crate::experiment::workload::LATEST_ARRIVAL;
use mias_registers::{MAX_SMS, MAX_WINDOW};

const fn whole(
    name: &'static str,
    (default, about): (&'static str, &'static str),
    (least, most): (u64, u64),
    set: fn(&mut Parameters, u64),
) -> Parameter {
    Parameter { name, about, default, kind: Kind::Whole { least, most, set } }
}

const fn flag(name: &'static str, (default, about): (&'static str, &'static str), set: fn(&mut Parameters, bool)) -> Parameter {
    Parameter { name, about, default, kind: Kind::Flag { set } }
}

const fn text(
    name: &'static str,
    (default, about): (&'static str, &'static str),
    (pattern, examples): (&'static str, [&'static str; 2]),
    set: fn(&mut Parameters, &str) -> Result<String, String>,
) -> Parameter {
    Parameter { name, about, default, kind: Kind::Text { pattern, examples, set } }
}

fn choices<T: Choice>() -> Vec<super::Choice> {
    T::ALL.iter().map(|choice| (choice.name(), choice.help())).collect()
}

fn aliases<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().filter_map(|choice| choice.alias()).collect()
}

/// A parameter that takes the names of a [`Choice`].
macro_rules! named {
    ($name:literal, $about:expr, $Choice:ty, $set:expr) => {
        Parameter {
            name: $name,
            default: $about.0,
            about: $about.1,
            kind: Kind::Named {
                choices: choices::<$Choice>,
                aliases: aliases::<$Choice>,
                set: |parameters, name| {
                    let choice = <$Choice>::find(name)?;
                    let set: fn(&mut Parameters, $Choice) = $set;
                    set(parameters, choice);
                    Some(choice.name())
                },
            },
        }
    };
}

/// Parameters of plans and of `--set`.
pub static PARAMETERS: [Parameter; 21] = [
    whole(
        "cycles",
        ("5,000,000, on the command line 300,000", "Simulated window in core cycles, including launch latency."),
        (1, LONGEST_WINDOW),
        |parameters, cycles| parameters.options.end = End::Cycles(cycles),
    ),
    Parameter {
        name: "until",
        about: "Run every kernel once to its end instead of a window.",
        default: "a window",
        kind: Kind::Named {
            choices: || vec![("done", "Every kernel has completed once")],
            aliases: Vec::new,
            set: |parameters, name| {
                (name == "done").then(|| {
                    parameters.options.end = End::Done;
                    "done"
                })
            },
        },
    },
    flag("relaunch", ("true", "Restart a kernel that ends within the window."), |parameters, flag| {
        parameters.options.relaunch = flag;
    }),
    whole("profile-cycles", ("45,000", "Profiling window in core cycles."), (1, MAX_WINDOW as u64), |parameters, cycles| {
        parameters.options.profile_cycles = cycles as u32;
    }),
    whole(
        "search-cycles",
        ("20,000", "Core cycles of each of the two windows of a search step."),
        (1, MAX_WINDOW as u64),
        |parameters, cycles| parameters.options.search_cycles = cycles as u32,
    ),
    text(
        "shares",
        ("as many of each", "SMs of each kernel under `spatial`, as in `6-18`."),
        ("^[0-9]+(-[0-9]+)*$", ["6-18", "8-8-14"]),
        |parameters, text| {
            let shares: Shares = text.parse()?;
            parameters.options.shares = Some(shares);
            Ok(shares.to_string())
        },
    ),
    whole("sms", ("all", "Number of SMs that receive TBs; hidden from the policy."), (1, MAX_SMS as u64), |parameters, sms| {
        parameters.options.open_sms = Some(sms as u32);
    }),
    whole(
        "tbs-per-sm",
        ("as many as fit", "Maximum number of TBs of a kernel per SM; hidden from the policy."),
        (1, u32::MAX as u64),
        |parameters, tbs| parameters.options.tbs_per_sm = Some(tbs as u32),
    ),
    named!("transition", ("drain", "Transition of SMs between configurations."), Transition, |parameters, transition| parameters
        .options
        .transition =
        transition),
    named!("latency", ("worst", "Decision time charged in simulated time."), Latency, |parameters, latency| parameters.options.latency =
        latency),
    named!("ipc", ("thread", "Instruction counted by IPC."), IpcUnit, |parameters, unit| parameters.options.ipc = unit),
    named!("counted", ("window", "Interval over which IPC counts if kernels restart."), Counted, |parameters, counted| parameters
        .options
        .counted =
        counted),
    named!("order", ("given", "Launch order of the kernels of a group."), Order, |parameters, order| parameters.order = order),
    whole("arrive", ("0", "Core cycle at which the last kernel of each group arrives."), (0, LATEST_ARRIVAL), |parameters, cycle| {
        parameters.arrive = cycle;
    }),
    whole("priority", ("0", "Priority of the last kernel of each group; 0 is the lowest."), (0, u8::MAX as u64), |parameters, priority| {
        parameters.priority = priority as u8;
    }),
    text(
        "limit",
        (
            "none",
            "Time until all TBs that fit of each group's last kernel must be resident: core cycles, or as in 5us; that kernel runs once.",
        ),
        ("^[0-9_]+([.][0-9]{1,3})?(us|ms)?$", ["5us", "6825"]),
        |parameters, text| {
            let time: Time = text.parse()?;
            parameters.limit = Some(time);
            Ok(time.to_string())
        },
    ),
    text(
        "precision",
        (OFF, "Stop early once each kernel's 95 % confidence half-width is below this, as in `1 %`."),
        ("^(off|[0-9]{1,2}([.][0-9]{1,4})? ?%?)$", ["1 %", OFF]),
        |parameters, text| {
            let precision = match text {
                OFF => None,
                text => Some(text.parse::<Precision>().map_err(|message| format!("{message}, or `{OFF}`"))?),
            };
            parameters.options.precision = precision;
            Ok(text.to_owned())
        },
    ),
    flag("share-memory", ("false", "Keep the recorded addresses of traces, so that kernels share memory."), |parameters, flag| {
        parameters.options.share_memory = flag;
    }),
    flag(
        "warm-l2",
        ("false", "Fill the L2 at cycle 0 with the data that traced programs had copied to the device."),
        |parameters, flag| {
            parameters.options.warm_l2 = flag;
        },
    ),
    whole(
        "sample-cycles",
        ("none", "Core cycles between samples of each kernel's L1 accesses and warp instructions."),
        (1, LONGEST_WINDOW),
        |parameters, cycles| parameters.options.sample_cycles = Some(cycles),
    ),
    named!("levels", ("none", "Scheduling levels that the firmware controls in addition to the policy."), Levels, |parameters, levels| {
        parameters.options.levels = levels
    }),
];

/// Additional parameters of `mias run`. Queues are drawn as under `queue` in a plan.
pub static OF_RUN: [Parameter; 6] = [
    flag("every-cycle", ("false", "Simulate idle cycles one by one; slower, same results."), |parameters, flag| {
        parameters.every_cycle = flag;
    }),
    whole("power-cycles", ("1,000", "Core cycles per power sample of a timeline."), (1, u32::MAX as u64), |parameters, cycles| {
        parameters.power_cycles = cycles;
    }),
    whole(
        "queue.launches",
        ("none", "Number of launches in a queue that draws the kernels at random and runs to its end."),
        (1, MOST_LAUNCHES as u64),
        |parameters, launches| parameters.queue.launches = launches as u32,
    ),
    whole("queue.seed", ("0", "Seed for order, arrivals and priorities of the queue."), (0, u32::MAX as u64), |parameters, seed| {
        parameters.queue.seed = seed as u32;
    }),
    whole(
        "queue.spacing-cycles",
        ("0", "Mean core cycles between arrivals; 0: all arrive at once."),
        (0, LONGEST_SPACING as u64),
        |parameters, cycles| parameters.queue.spacing_cycles = cycles as u32,
    ),
    whole(
        "queue.urgent-one-in",
        ("0", "One launch in this many has priority 1; 0: none."),
        (0, MOST_LAUNCHES as u64),
        |parameters, launches| parameters.queue.urgent_one_in = launches as u32,
    ),
];
