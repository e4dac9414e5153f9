//! `--queue`: the kernels of `run` are launched again and again, in a queue ([`Queue`]).

use super::CliError;
use mias_lab::experiment::queue::{LONGEST_SPACING, MOST_LAUNCHES, Queue};

/// A queue of launches.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A queue of launches")]
pub(super) struct QueueArgs {
    /// Launch the kernels again and again, so many launches in all, in a queue that runs to its end; of each kernel as many, in an order that is drawn
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_LAUNCHES)), value_name = "N", conflicts_with_all = ["trace", "cycles", "relaunch", "arrive", "precision", "counted", "timeline", "vcd", "explain", "tbs_per_sm", "sms"])]
    queue: Option<u32>,
    /// Of the numbers that order, arrivals and priorities are drawn by [default: 0]
    #[arg(long, value_name = "N")]
    queue_seed: Option<u32>,
    /// Mean core cycles from one arrival to the next; 0: all arrive at once [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=i64::from(LONGEST_SPACING)), value_name = "CYCLES")]
    queue_spacing: Option<u32>,
    /// One launch in so many has priority 1; 0: none has [default: 0]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=i64::from(MOST_LAUNCHES)), value_name = "N")]
    queue_urgent: Option<u32>,
}

impl QueueArgs {
    /// The queue that is asked for.
    ///
    /// # Errors
    /// What it is drawn by, and no queue. The command line's library would not say so beside options that a queue excludes.
    pub(super) fn queue(&self) -> Result<Option<Queue>, CliError> {
        let QueueArgs { queue, queue_seed, queue_spacing, queue_urgent } = *self;
        let given = [("queue-seed", queue_seed), ("queue-spacing", queue_spacing), ("queue-urgent", queue_urgent)];
        if let (None, Some((option, _))) = (queue, given.iter().find(|(_, value)| value.is_some())) {
            return Err(CliError::User(format!("`--{option}` is what a queue is drawn by: add `--queue N`, or leave it out")));
        }
        let [seed, spacing_cycles, urgent_one_in] = given.map(|(_, value)| value.unwrap_or_default());
        Ok(queue.map(|launches| Queue { launches, seed, spacing_cycles, urgent_one_in }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Arguments, Command};
    use clap::Parser;

    #[test]
    fn what_a_queue_is_drawn_by_needs_one() {
        let wanted = |words: &str| {
            let arguments = Arguments::try_parse_from(words.split(' ')).map_err(|error| error.to_string())?;
            let Command::Run(args) = &arguments.command else { panic!("a run") };
            args.queue.queue().map_err(|error| error.to_string())
        };
        for option in ["--queue-seed 4", "--queue-spacing 100", "--queue-urgent 8"] {
            assert!(wanted(&format!("mias run mm fwt {option}")).is_err(), "{option}");
            assert!(wanted(&format!("mias run mm fwt --cycles 8000 {option}")).is_err(), "{option}");
            assert!(wanted(&format!("mias run mm fwt --queue 6 {option}")).is_ok_and(|queue| queue.is_some()), "{option}");
        }
        assert!(wanted("mias run mm fwt --queue 6 --cycles 1000").is_err());
        assert_eq!(wanted("mias run mm fwt"), Ok(None));
    }
}
