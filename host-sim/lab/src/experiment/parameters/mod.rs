//! Parameters of an experiment by name. One table drives the parser of plans
//! (`[experiment.parameters]`), `--set` on the command line, `mias options` and the schema of
//! plans.

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

/// Longest window in core cycles: about twelve minutes of GPU time, beyond any simulation
/// (assumption: a longer one is a typing error). The windows of a plan can be added without
/// overflow.
pub const LONGEST_WINDOW: u64 = 1_000_000_000_000;

/// Value for no precision: every run continues to the end of its window. On the command line it
/// also removes an optional table of a GPU.
pub const OFF: &str = "off";

choices! {
    /// Order in which the kernels of a group are launched.
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
    /// Options of the runs.
    pub options: Options,
    /// Order in which kernels are launched.
    pub order: Order,
    /// Core cycle at which the last kernel arrives; the others arrive at 0.
    pub arrive: u64,
    /// Priority of the last kernel.
    pub priority: u8,
    /// Time limit for the placement of the last kernel.
    pub limit: Option<Time>,
    /// Whether every cycle is simulated, including those without events.
    pub every_cycle: bool,
    /// Core cycles per power sample of a timeline.
    pub power_cycles: u64,
    /// Parameters of a queue, which exists if it has launches.
    pub queue: Queue,
}

/// Default number of core cycles per power sample of a timeline.
const POWER_CYCLES: u64 = 1_000;

impl Parameters {
    /// Creates the default values with this end.
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

/// Rejects parameters that exclude each other.
///
/// # Errors
/// The key to blame and the reason.
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

/// Name and meaning of a choice.
pub type Choice = (&'static str, &'static str);

/// Type and setter of a parameter's values.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A whole number in a range.
    Whole {
        /// Smallest value.
        least: u64,
        /// Largest value.
        most: u64,
        /// Setter.
        set: fn(&mut Parameters, u64),
    },
    /// True or false.
    Flag {
        /// Setter.
        set: fn(&mut Parameters, bool),
    },
    /// One of several names.
    Named {
        /// Allowed names.
        choices: fn() -> Vec<Choice>,
        /// Aliases of these names.
        aliases: fn() -> Vec<&'static str>,
        /// Setter that returns the canonical name; `None` if it is unknown.
        set: fn(&mut Parameters, &str) -> Option<&'static str>,
    },
    /// Text in a format of its own.
    Text {
        /// Format as a regular expression.
        pattern: &'static str,
        /// Two examples.
        examples: [&'static str; 2],
        /// Setter that returns the canonical form.
        set: fn(&mut Parameters, &str) -> Result<String, String>,
    },
}

/// Description of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Key in plans and options.
    pub name: &'static str,
    /// Meaning, in one or two sentences.
    pub about: &'static str,
    /// Default value.
    pub default: &'static str,
    /// Type of its values.
    pub kind: Kind,
}

impl Parameter {
    /// Sets the parameter to `value` and returns the canonical form of the value.
    ///
    /// # Errors
    /// The requirement on the value; the caller adds the name of the parameter.
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
