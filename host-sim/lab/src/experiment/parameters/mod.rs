//! Parameters of an experiment by name. One table drives the reader of plans (`[experiment.parameters]`), `--set` on the command
//! line, `mias options` and the schema of plans.

mod assign;
mod known;
mod table;
#[cfg(test)]
mod tests;

pub use assign::Assignments;
pub use known::{GpuKey, keys_of_gpu};
pub use table::{OF_RUN, PARAMETERS};

use super::options::{End, Options};
use super::queue::Queue;
use super::time::Time;
use crate::choices;

/// Longest window in core cycles: about twelve minutes of the GPU's time, which no simulation comes to (assumption: a longer one is a slip of
/// the finger). All windows of a plan can be added up.
pub const LONGEST_WINDOW: u64 = 1_000_000_000_000;

/// What stands for no precision: every run goes to the end of its window. On the command line it also removes an optional table of a GPU.
pub const OFF: &str = "off";

choices! {
    /// In which order the kernels of a group are launched.
    #[derive(Default)]
    pub enum Order {
        /// As listed.
        #[default]
        Given = "given",
        /// The other way round.
        Reversed = "reversed",
    }
}

/// The values of all parameters.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// How runs go.
    pub options: Options,
    /// In which order kernels are launched.
    pub order: Order,
    /// Core cycle at which the last kernel arrives; the others arrive at 0.
    pub arrive: u64,
    /// Priority of the last kernel.
    pub priority: u8,
    /// Time in which the last kernel is to have its room.
    pub limit: Option<Time>,
    /// Every cycle is simulated, also those in which nothing can happen.
    pub every_cycle: bool,
    /// Core cycles of which a timeline has the power each.
    pub power_cycles: u64,
    /// What a queue is drawn by; there is one if it has launches.
    pub queue: Queue,
}

/// Core cycles of which a timeline has the power each, if nothing else is said.
const POWER_CYCLES: u64 = 1_000;

impl Parameters {
    /// The default values, with this end.
    #[must_use]
    pub fn new(end: End) -> Self {
        Parameters {
            options: Options::new(end),
            order: Order::Given,
            arrive: 0,
            priority: 0,
            limit: None,
            every_cycle: false,
            power_cycles: POWER_CYCLES,
            queue: Queue { launches: 0, seed: 0, spacing_cycles: 0, urgent_one_in: 0 },
        }
    }
}

/// Refuses parameters that mean nothing beside each other: the key to blame, and why.
///
/// # Errors
/// Both.
pub fn check_together(given: impl Fn(&str) -> bool) -> Result<(), (&'static str, &'static str)> {
    let with_until = [
        ("cycles", "give `cycles` or `until`, not both"),
        ("relaunch", "with `until` no kernel starts again; leave it out, or give a window by `cycles`"),
        ("counted", "with `until` every kernel runs once, and nothing else is counted; leave it out, or give a window by `cycles`"),
        ("precision", "with `until` every run goes to its end; leave it out, or give a window by `cycles`"),
    ];
    let with_queue = [
        ("cycles", "a queue runs to its end: leave it out"),
        ("relaunch", "the launches of a queue run once: leave it out"),
        ("counted", "the launches of a queue run once: leave it out"),
        ("precision", "a queue runs to its end: leave it out"),
        ("order", "the launches of a queue come in an order that is drawn: leave it out"),
        ("arrive", "the launches of a queue arrive one after the other: leave it out"),
        ("priority", "the launches of a queue have priorities by `queue.urgent-one-in`: leave it out"),
        ("limit", "the launches of a queue have no limits: leave it out"),
        ("sms", "a queue has all SMs: leave it out"),
        ("tbs-per-sm", "a queue has as many TBs as fit: leave it out"),
    ];
    let of_queue = ["queue.seed", "queue.spacing-cycles", "queue.urgent-one-in"];
    if let Some(key) = of_queue.into_iter().find(|key| given(key) && !given("queue.launches")) {
        return Err((key, "it is what a queue is drawn by: give `queue.launches`, or leave it out"));
    }
    let until = with_until.into_iter().filter(|_| given("until"));
    let queue = with_queue.into_iter().filter(|_| given("queue.launches"));
    until.chain(queue).find(|(key, _)| given(key)).map_or(Ok(()), Err)
}

/// A name and what it means.
pub type Choice = (&'static str, &'static str);

/// What values a parameter takes, and what sets it.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number in a range.
    Whole {
        /// The smallest.
        least: u64,
        /// The greatest.
        most: u64,
        /// Sets it.
        set: fn(&mut Parameters, u64),
    },
    /// True or false.
    Flag {
        /// Sets it.
        set: fn(&mut Parameters, bool),
    },
    /// One of some names.
    Named {
        /// The names.
        choices: fn() -> Vec<Choice>,
        /// Other names for the same.
        aliases: fn() -> Vec<&'static str>,
        /// Sets it, and gives the usual name; none if it is unknown.
        set: fn(&mut Parameters, &str) -> Option<&'static str>,
    },
    /// A text of a form of its own.
    Text {
        /// The form, as a regular expression.
        pattern: &'static str,
        /// Two examples.
        examples: [&'static str; 2],
        /// Sets it, and gives how it is usually written.
        set: fn(&mut Parameters, &str) -> Result<String, String>,
    },
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
    /// What it means, in a sentence or two.
    pub about: &'static str,
    /// What it is unless it is given.
    pub default: &'static str,
    /// What it takes.
    pub kind: Kind,
}

impl Parameter {
    /// Sets it to `value`, and gives the value as people usually write it.
    ///
    /// # Errors
    /// What the value must be; the caller says of which parameter.
    pub fn set(&self, parameters: &mut Parameters, value: &toml::Value) -> Result<String, String> {
        let expected = |what: &str| format!("expected {what}, found {}", value.type_str());
        match self.kind {
            Kind::Whole { least, most, set } => {
                let number = value.as_integer().ok_or_else(|| expected("a whole number"))?;
                let within = u64::try_from(number).ok().filter(|number| (least..=most).contains(number));
                let number = within.ok_or_else(|| match number {
                    0 => format!("must be at least {least}"),
                    number => format!("{number} must be {least} to {most}"),
                })?;
                set(parameters, number);
                Ok(number.to_string())
            }
            Kind::Flag { set } => {
                let flag = value.as_bool().ok_or_else(|| expected("true or false"))?;
                set(parameters, flag);
                Ok(flag.to_string())
            }
            Kind::Named { choices, set, .. } => {
                let name = value.as_str().ok_or_else(|| expected("a text"))?;
                let names: Vec<&str> = choices().iter().map(|(name, _)| *name).collect();
                let usual = set(parameters, name).ok_or_else(|| mias_workloads::input::suggest::unknown("value", name, &names))?;
                Ok(usual.to_owned())
            }
            Kind::Text { examples: [one, other], set, .. } => {
                let text = value.as_str().ok_or_else(|| format!("{}, as in \"{one}\" or \"{other}\"", expected("a text")))?;
                set(parameters, text)
            }
        }
    }
}
