//! Measurements of one processor, parsed from the bench's output: `key value value ...`, one per
//! line.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use mias_policies::policy::{Charged, NAMED, Named};

/// Names of the metrics in the bench.
pub(super) const METRICS: [&str; 4] = ["ipc", "ipm-ipc", "factor", "linear"];

/// Returns the other measuring policies by their names in the bench: those counted in the same
/// situations together.
pub(super) fn others() -> Vec<&'static str> {
    let counted =
        |named: &&Named| named.charged > Charged::Metric && !matches!(named.charged, Charged::Search | Charged::Trial) && named.option == 0;
    let mut others: Vec<&Named> = NAMED.iter().filter(counted).collect();
    others.sort_by_key(|named| named.charged);
    others.into_iter().map(|named| named.name).collect()
}

/// Cost of one decision, in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    /// Instructions from the interrupt to the chosen configuration.
    pub(super) to_choice: u64,
    /// Part of these from the first counter read.
    pub(super) from_first_read: u64,
    /// Instructions from the choice to the end of the interrupt: quotas and phase.
    pub(super) after: u64,
}

/// Cost of a scheduling with all possible preparation, in instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prepared {
    /// Instructions from the end of the batch to the first quotas in effect.
    pub(super) placement: u64,
    /// Instructions of the preparation.
    pub(super) ahead: u64,
    /// Longest part of the preparation, which bounds the wait of an event.
    pub(super) longest: u64,
    /// Instructions of everything, including the decisions.
    pub(super) whole: u64,
}

/// Situation: SMs, kernels, policy, round, configurations.
type Situation = (u64, u64, String, u64, u64);

/// Measurements of one processor.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) core: &'static str,
    /// Deepest painted stack in bytes, in the build for 32 SMs.
    pub(super) stack: u64,
    pub(super) floors: BTreeMap<(u64, String), u64>,
    pub(super) decisions: BTreeMap<Situation, Decision>,
    pub(super) commits: BTreeMap<Committed, Vec<(String, u64)>>,
    /// Instructions by SMs, kernels, all configurations, policy.
    pub(super) partitions: BTreeMap<(u64, u64, u64, String), u64>,
    /// Preparation by SMs, kernels, all configurations, policy.
    pub(super) prepared: BTreeMap<(u64, u64, u64, String), Prepared>,
    /// Instructions of reading the counters of memory issue, by SMs and their kernels.
    pub(super) memory: BTreeMap<(u64, u64), u64>,
    /// Instructions of reading chip utilization, by kernels with a finished interval.
    pub(super) oversubscription: BTreeMap<u64, u64>,
    /// Instructions of a selection of victims, by scheme, SMs that need capacity, and TBs on each.
    pub(super) victims: BTreeMap<(String, u64, u64), u64>,
    /// Instructions of the longest step of a search, by SMs and kernels.
    pub(super) searches: BTreeMap<(u64, u64), u64>,
    /// Instructions of the longest step of trials on the whole GPU, and of the placement before
    /// them, by SMs and kernels.
    pub(super) trials: BTreeMap<(u64, u64), (u64, u64)>,
    /// Instructions of the plain and the lean port, by SMs, metric, configurations.
    pub(super) theses: BTreeMap<(u64, String, u64), (u64, u64)>,
    /// Instructions of the firmware and of the tree, by kernels, configurations, leaves of the
    /// tree.
    pub(super) generations: BTreeMap<(u64, u64, u64), (u64, u64)>,
}

/// Situation of a decision: whether late, SMs, kernels, configurations scored, configurations
/// generated. Each has metrics and policies with their instructions.
pub(super) type Committed = (bool, u64, u64, u64, u64);

impl Numbers {
    /// Creates a set without measurements.
    pub(super) fn new(core: &'static str) -> Self {
        Self { core, ..Self::default() }
    }

    /// Adds the output of a run.
    pub(super) fn add(&mut self, printed: &str) -> Result<()> {
        for line in printed.lines() {
            self.add_line(line).with_context(|| format!("the bench printed {line:?}"))?;
        }
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| -> Result<u64> { words.get(index).context("too few words")?.parse().context("not a number") };
        let word = |index: usize| words.get(index).map(|word| (*word).to_owned()).context("too few words");
        match words.first().copied() {
            Some("floor") => {
                self.floors.insert((number(1)?, word(2)?), number(3)?);
            }
            Some("decision") => {
                let situation = (number(1)?, number(2)?, word(3)?, number(4)?, number(5)?);
                self.decisions.insert(situation, Decision { to_choice: number(6)?, from_first_read: number(7)?, after: number(8)? });
            }
            Some("commit") => {
                let situation = (number(4)? != 0, number(1)?, number(2)?, number(5)?, number(6)?);
                self.commits.entry(situation).or_default().push((word(3)?, number(7)?));
            }
            Some("partition") => {
                // Policies that do not profile count no configurations.
                self.partitions.insert((number(1)?, number(2)?, number(4)?, word(3)?), number(5)?);
            }
            Some("prepared") => {
                let prepared = Prepared { placement: number(5)?, ahead: number(6)?, longest: number(7)?, whole: number(8)? };
                self.prepared.insert((number(1)?, number(2)?, number(4)?, word(3)?), prepared);
            }
            Some("memory") => {
                let instructions = number(3)?;
                let most = self.memory.entry((number(1)?, number(2)?)).or_default();
                *most = instructions.max(*most);
            }
            Some("oversubscription") => {
                let instructions = number(2)?;
                let most = self.oversubscription.entry(number(1)?).or_default();
                *most = instructions.max(*most);
            }
            Some("search") => {
                let instructions = number(3)?;
                let most = self.searches.entry((number(1)?, number(2)?)).or_default();
                *most = instructions.max(*most);
            }
            Some("trial") => {
                let (step, first) = (number(3)?, number(4)?);
                let most = self.trials.entry((number(1)?, number(2)?)).or_default();
                *most = (step.max(most.0), first.max(most.1));
            }
            Some("victims") => {
                self.victims.insert((word(1)?, number(2)?, number(3)?), number(4)?);
            }
            Some("thesis") => {
                self.theses.insert((number(1)?, word(2)?, number(3)?), (number(4)?, number(5)?));
            }
            Some("generation") => {
                self.generations.insert((number(1)?, number(2)?, number(3)?), (number(4)?, number(5)?));
            }
            Some("stack") => {
                // The build for 32 SMs comes first; it has the budget.
                if self.stack == 0 {
                    self.stack = number(1)?;
                }
            }
            _ => bail!("no such measurement"),
        }
        Ok(())
    }

    /// Returns the floor of a metric.
    pub(super) fn floor(&self, sms: u64, metric: &str) -> Result<u64> {
        self.floors.get(&(sms, metric.to_owned())).copied().with_context(|| format!("no floor of {metric} for {sms} SMs"))
    }

    /// Returns the cost of a decision.
    pub(super) fn decision(&self, sms: u64, kernels: u64, metric: &str, round: u64, configs: u64) -> Result<Decision> {
        let situation = (sms, kernels, metric.to_owned(), round, configs);
        self.decisions.get(&situation).copied().with_context(|| format!("no decision {situation:?}"))
    }

    /// Returns the cost of a prepared scheduling.
    pub(super) fn prepared(&self, sms: u64, kernels: u64, configs: u64, policy: &str) -> Result<Prepared> {
        let found = self.prepared.get(&(sms, kernels, configs, policy.to_owned())).copied();
        found.with_context(|| format!("nothing prepared for {sms} SMs, {kernels} kernels and {configs} configurations under {policy}"))
    }

    /// Returns the cost of reading the counters of memory issue.
    pub(super) fn memory(&self, sms: u64, kernels: u64) -> Result<u64> {
        let found = self.memory.get(&(sms, kernels)).copied();
        found.with_context(|| format!("no measurement of memory issue for {kernels} kernels on {sms} SMs"))
    }

    /// Returns the cost of reading chip utilization.
    pub(super) fn oversubscription(&self, kernels: u64) -> Result<u64> {
        self.oversubscription.get(&kernels).copied().with_context(|| format!("no measurement of chip utilization for {kernels} kernels"))
    }

    /// Returns the cost of the thesis' ports: the plain one and the lean one.
    pub(super) fn thesis(&self, sms: u64, metric: &str, configs: u64) -> Result<(u64, u64)> {
        let found = self.theses.get(&(sms, metric.to_owned(), configs)).copied();
        found.with_context(|| format!("no port of {metric} for {sms} SMs and {configs} configurations"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_numbers() {
        let mut numbers = Numbers::new("core");
        let printed = "floor 30 ipc 310\ndecision 30 2 ipc 1 7 1336 1122 273\npartition 30 2 ipc 7 8003\n\
            prepared 30 2 ipc 7 2600 5300 700 9600\nthesis 30 ipc 7 15030 22307\n\
            generation 2 9 9 2214 4606\nmemory 30 2 1500\nmemory 30 2 1400\noversubscription 2 250\noversubscription 2 240\nsearch 30 2 8000\nsearch 30 2 7000\ntrial 30 2 900 300\ntrial 30 2 800 400\nvictims shieh 15 8 9000\nstack 844\n";
        numbers.add(printed).unwrap();
        numbers.add("stack 9999\n").unwrap();
        assert_eq!(numbers.floor(30, "ipc").unwrap(), 310);
        let decision = numbers.decision(30, 2, "ipc", 1, 7).unwrap();
        assert_eq!(decision, Decision { to_choice: 1336, from_first_read: 1122, after: 273 });
        assert_eq!(numbers.thesis(30, "ipc", 7).unwrap(), (15_030, 22_307));
        assert_eq!(numbers.memory(30, 2).unwrap(), 1500);
        assert_eq!(numbers.oversubscription(2).unwrap(), 250);
        assert!(numbers.oversubscription(3).is_err());
        assert_eq!((numbers.searches[&(30, 2)], numbers.trials[&(30, 2)]), (8000, (900, 400)));
        assert_eq!(numbers.victims[&("shieh".to_owned(), 15, 8)], 9000);
        assert_eq!((numbers.stack, numbers.generations[&(2, 9, 9)]), (844, (2214, 4606)));
        let prepared = numbers.prepared(30, 2, 7, "ipc").unwrap();
        assert_eq!(prepared, Prepared { placement: 2600, ahead: 5300, longest: 700, whole: 9600 });
        assert_eq!(numbers.partitions[&(30, 2, 7, "ipc".to_owned())], 8003);
    }

    #[test]
    fn what_is_not_a_measurement_is_an_error() {
        for line in ["", "panicked at", "floor 30 ipc", "floor 30 ipc many"] {
            assert!(Numbers::new("core").add_line(line).is_err(), "{line:?}");
        }
    }
}
