//! Series of runs: a kernel alone with every number of TBs per SM, and sets of kernels in every
//! configuration.

use crate::agreement::Agreement;
use crate::device::Loaded;
use crate::driver::Event;
use crate::fit;
use crate::order::Order;
use crate::place::{self, Aid};
use crate::rate::Rate;
use crate::run::{Plan, Ran, Runner};
use crate::share::Share;
use crate::table::{Row, Table};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Target number of TBs that a slot completes in a window.
const TBS_OF_A_SLOT: u64 = 6;
/// Slowdown of a TB relative to the kernel alone at full occupancy, for which the window suffices
/// (assumption; a window that is too short is doubled).
const SLOWER: u64 = 2;
/// Minimum of TBs per slot. Below it a run is repeated with a window of twice the length, and with
/// more shared memory if TBs were not in place.
const ENOUGH: u32 = 3;
/// Most repetitions of a run.
const RETRIES: u32 = 2;
/// Divisor of a window for its warm-up.
const WARM_UP_PART: u64 = 10;
/// Longest window in microseconds.
const LONGEST_US: u64 = 2_000_000;
/// Launches of the original for the median time.
const LAUNCHES: usize = 20;
/// Time that the first kernel runs before any measurement, for clocks to settle.
const SETTLING: Duration = Duration::from_millis(500);

/// Common state of all series.
pub struct Series<'a> {
    /// Runner of the plans.
    pub runner: &'a Runner<'a>,
    /// Table for the results.
    pub table: Table,
    /// Shortest window in microseconds at the highest clock.
    pub window_us: u64,
    /// Launch order of the kernels of a set.
    pub order: Order,
    /// Time after which no run starts.
    pub deadline: Option<Instant>,
    /// Agreement of repeats.
    pub agreement: Agreement,
    /// Sets with runs that were not started, and their number.
    pub missing: BTreeMap<String, u32>,
    /// Index of the placement attempt that succeeded for each set at its last measurement
    /// (`place::attempts`).
    pub helped: BTreeMap<String, usize>,
}

/// Specification of a run.
#[derive(Clone, Debug)]
pub struct Wanted<'k> {
    /// Kernels of the run.
    pub kernels: Vec<&'k Loaded>,
    /// TBs of each per SM.
    pub counts: Vec<u32>,
    /// Separate SMs of the kernels, if they do not share SMs.
    pub share: Option<Share>,
    /// Cycles of the longest TB, alone with as many as fit.
    pub tb_cycles: u64,
    /// Number of the repetition.
    pub repeat: u32,
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join("+")
}

impl Wanted<'_> {
    fn set(&self) -> String {
        joined(self.kernels.iter().map(|kernel| kernel.kernel.word.clone()))
    }

    /// Returns the TBs of each kernel per SM, or twelfths of SMs if kernels have separate SMs.
    fn config(&self) -> String {
        let counts = self.share.as_ref().map_or(&self.counts, |share| &share.twelfths);
        joined(counts.iter().map(u32::to_string))
    }

    fn kind(&self) -> &'static str {
        match (self.share.is_some(), self.kernels.len()) {
            (true, 1) => "share",
            (true, _) => "split",
            (false, 1) => "alone",
            (false, _) => "mix",
        }
    }
}

impl Series<'_> {
    /// Keeps the GPU busy until its clocks have settled, and returns the highest number of an SM.
    ///
    /// # Errors
    /// The driver's error, as for all that follow.
    pub fn settle(&self, kernel: &Loaded) -> Result<u32, String> {
        let (began, mut highest) = (Instant::now(), 0);
        while began.elapsed() < SETTLING {
            let ran = self.runner.run(&plan(&[kernel], &[1], self.runner.gpu.cycles(self.window_us)))?;
            highest = ran.outcome.slots[0].iter().map(|slot| slot.sm as u32).max().unwrap_or(0).max(highest);
        }
        Ok(highest)
    }

    /// Returns whether there is time to measure a run; otherwise records it as missing.
    fn has_time(&mut self, wanted: &Wanted<'_>) -> bool {
        let over = self.deadline.is_some_and(|deadline| Instant::now() > deadline);
        if over {
            *self.missing.entry(wanted.set()).or_default() += 1;
        }
        !over
    }

    /// Measures the time of the original in its own grid, as a row.
    ///
    /// # Errors
    /// As [`Series::settle`].
    pub fn native(&mut self, kernel: &Loaded) -> Result<(), String> {
        let events = [Event::new()?, Event::new()?];
        let mut times = (0..LAUNCHES).map(|_| self.runner.original(kernel, &events)).collect::<Result<Vec<f64>, _>>()?;
        times.sort_by(f64::total_cmp);
        let median = f64::midpoint(times[LAUNCHES / 2 - 1], times[LAUNCHES / 2]);
        let word = kernel.kernel.word.clone();
        let row: Row = vec![
            ("kind", "native".into()),
            ("set", word.clone()),
            ("kernel", word),
            ("tbs", kernel.kernel.tbs().to_string()),
            ("registers", kernel.registers.to_string()),
            ("microseconds", format!("{median:.3}")),
        ];
        self.table.row(&row)
    }

    /// Returns the mean cycles of a TB with as many on each SM as fit, for sufficiently long
    /// windows.
    ///
    /// # Errors
    /// As [`Series::settle`].
    pub fn full_tb_cycles(&self, kernel: &Loaded) -> Result<u64, String> {
        let most = fit::configurations(&[kernel.need], fit::Which::Maximal)
            .pop()
            .ok_or_else(|| format!("no TB of `{}` fits", kernel.kernel.word))?;
        let mut window = self.runner.gpu.cycles(self.window_us);
        let longest = self.runner.gpu.cycles(LONGEST_US);
        loop {
            // Without warm-up, because only the end and the duration of TBs matter.
            let plan = Plan { kernels: vec![kernel], counts: most.clone(), window, ..Plan::default() };
            let ran = self.runner.run(&plan)?;
            let rate = Rate::of(&ran.outcome.slots[0]);
            if (rate.fewest > 0 || ran.outcome.stopped) && rate.tbs > 0 {
                return Ok(rate.tb_cycles as u64);
            }
            if window >= longest || !ran.is_complete() {
                return Err(format!("TBs of `{}` did not end within {LONGEST_US} microseconds, or were not in place", kernel.kernel.word));
            }
            window = (4 * window).min(longest);
        }
    }

    /// Measures one run, with a longer window and placement aids if necessary: a row per kernel. It
    /// does nothing if time is over.
    ///
    /// # Errors
    /// As [`Series::settle`].
    pub fn measure(&mut self, wanted: &Wanted<'_>) -> Result<(), String> {
        if !self.has_time(wanted) {
            return Ok(());
        }
        let Wanted { kernels, counts, share, tb_cycles, repeat } = wanted;
        let needs: Vec<fit::Need> = kernels.iter().map(|kernel| kernel.need).collect();
        let attempts = place::attempts(&needs, &self.order.of(&needs), share.as_ref());
        let (set, config) = (wanted.set(), wanted.config());
        let first = self.helped.get(&set).copied().unwrap_or(0);
        let (least, longest) = (self.runner.gpu.cycles(self.window_us), self.runner.gpu.cycles(LONGEST_US));
        let slower = if kernels.len() > 1 { SLOWER } else { 1 };
        let mut window = (TBS_OF_A_SLOT * slower * tb_cycles).clamp(least, longest);
        let (mut tries, mut longer, mut placed) = (1, 0, 0);
        let (plan, ran, rates) = loop {
            let number = (first + placed) % attempts.len();
            let (aid, roomier) = attempts[number];
            let plan = Plan { roomier, aid, order: self.order, share: share.clone(), ..plan(kernels, counts, window) };
            let ran = self.runner.run(&plan)?;
            let rates: Vec<Rate> = ran.outcome.slots[..kernels.len()].iter().map(|slots| Rate::of(slots)).collect();
            let short = rates.iter().any(|rate| rate.fewest < ENOUGH);
            if ran.is_complete() {
                // If only a larger setting helps, every configuration still starts with the
                // smallest.
                if attempts.iter().any(|(aid, _)| *aid != Aid::None) {
                    self.helped.insert(set.clone(), number);
                }
                if longer == RETRIES || !short || ran.outcome.stopped {
                    break (plan, ran, rates);
                }
                window *= 2;
                longer += 1;
            } else {
                placed += 1;
                if placed == attempts.len() {
                    break (plan, ran, rates);
                }
            }
            tries += 1;
        };
        let (carve_outs, order) = (plan.carve_outs(), plan.order());
        for (number, ((loaded, count), rate)) in kernels.iter().zip(counts).zip(&rates).enumerate() {
            let row: Row = vec![
                ("kind", wanted.kind().into()),
                ("set", set.clone()),
                ("config", config.clone()),
                ("repeat", repeat.to_string()),
                ("kernel", loaded.kernel.word.clone()),
                ("tbs_per_sm", count.to_string()),
                ("tbs_per_million_cycles", if ran.is_complete() { format!("{:.4}", rate.tbs_per_million) } else { String::new() }),
                ("tb_cycles", format!("{:.0}", rate.tb_cycles)),
                ("tbs", rate.tbs.to_string()),
                ("slots", rate.slots.to_string()),
                ("fewest", rate.fewest.to_string()),
                ("short", rate.short.to_string()),
                ("span_cycles", rate.span_cycles.to_string()),
                ("window_cycles", plan.window.to_string()),
                ("warm_up_cycles", plan.warm_up.to_string()),
                ("clock_khz", format!("{:.0}", rate.clock_khz)),
                ("carve_out_kib", carve_outs[number][0].to_string()),
                ("registers", loaded.need.registers.to_string()),
                ("shared_bytes", loaded.need.shared.to_string()),
                ("arrived", ran.outcome.arrived.to_string()),
                ("expected", ran.expected.to_string()),
                ("top_ups", ran.top_ups.to_string()),
                ("tries", tries.to_string()),
                ("launched", order.iter().position(|&one| one == number).map_or(0, |place| place + 1).to_string()),
                ("sms", plan.sms(number, self.runner.gpu.sms).to_string()),
                ("aid", if plan.aid == Aid::Holder && ran.held[1] == 0 { String::new() } else { plan.aid.name().into() }),
                ("notes", notes(&ran, rate)),
            ];
            self.table.row(&row)?;
            if ran.is_complete() {
                self.agreement.add(format!("{set} {config} {}", loaded.kernel.word), rate.tbs_per_million);
            }
        }
        Ok(())
    }

    /// Writes the missing runs and the agreement of repeats.
    ///
    /// # Errors
    /// As [`Series::settle`].
    pub fn end(&mut self) -> Result<(), String> {
        if !self.missing.is_empty() {
            let sets: Vec<String> = self.missing.iter().map(|(set, runs)| format!("{set} ({runs})")).collect();
            let text = format!("time ran out before these runs: {}", sets.join(", "));
            eprintln!("{text}");
            self.table.remark(&text)?;
        }
        let Some((median, most, largest, of, count)) = self.agreement.summary() else { return Ok(()) };
        let text = format!(
            "repeats of {count} rates differ by {median:.2} % of their mean in the median, {most:.2} % at the 95th percentile, {largest:.2} % at \
             most ({of})"
        );
        eprintln!("{text}");
        self.table.remark(&text)
    }
}

/// Returns the plan of kernels that continue until the window is over.
fn plan<'k>(kernels: &[&'k Loaded], counts: &[u32], window: u64) -> Plan<'k> {
    // A kernel with few passes may reach its end before a warm-up does.
    let ends = kernels.iter().any(|kernel| kernel.kernel.passes().is_some());
    let warm_up = if ends { 0 } else { window / WARM_UP_PART };
    Plan { kernels: kernels.to_vec(), counts: counts.to_vec(), window, warm_up, ..Plan::default() }
}

/// Returns remarks on the validity of a row.
fn notes(ran: &Ran, rate: &Rate) -> String {
    let all = [
        (!ran.is_complete(), "incomplete"),
        (ran.outcome.gave_up, "gave-up"),
        (rate.short > 0, "short"),
        (ran.outcome.stopped, "ended"),
        (ran.held[0] < ran.held[1], "part-held"),
    ];
    let said: Vec<&str> = all.iter().filter(|(is, _)| *is).map(|(_, note)| *note).collect();
    if said.is_empty() { "ok".into() } else { said.join(" ") }
}
