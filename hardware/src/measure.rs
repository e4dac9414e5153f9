//! Series of runs: a kernel alone with every number of TBs per SM, and sets of kernels in every configuration.

use crate::agreement::Agreement;
use crate::device::Loaded;
use crate::driver::Event;
use crate::fit;
use crate::rate::Rate;
use crate::run::{Plan, Ran, Runner};
use crate::table::{Row, Table};
use std::time::{Duration, Instant};

/// A slot shall complete about so many TBs in a window.
const TBS_OF_A_SLOT: u64 = 6;
/// How much slower a TB may be next to others than alone at full occupancy (assumption; a window that is too short is doubled).
const SLOWER: u64 = 2;
/// A run is repeated with a window of twice the length if a slot completed fewer than this, and with more shared memory if TBs were not in
/// place.
const ENOUGH: u32 = 3;
/// How often.
const RETRIES: u32 = 2;
/// The part of a window that is warm-up.
const WARM_UP_PART: u64 = 10;
/// Longest window in microseconds.
const LONGEST_US: u64 = 2_000_000;
/// Launches of the original that the median time is of.
const LAUNCHES: usize = 20;
/// For how long the first kernel runs before anything is measured, for clocks to settle.
const SETTLING: Duration = Duration::from_millis(500);

/// What series have in common.
pub struct Series<'a> {
    /// Runs them.
    pub runner: &'a Runner<'a>,
    /// Where results go.
    pub table: Table,
    /// Shortest window in microseconds at the highest clock.
    pub window_us: u64,
    /// How repeats agree.
    pub agreement: Agreement,
}

impl Series<'_> {
    /// Keeps the GPU busy until its clocks have settled.
    ///
    /// # Errors
    /// What the driver says, as for all that follow.
    pub fn settle(&self, kernel: &Loaded) -> Result<(), String> {
        let began = Instant::now();
        while began.elapsed() < SETTLING {
            self.runner.run(&plan(&[kernel], &[1], self.runner.gpu.cycles(self.window_us), 0))?;
        }
        Ok(())
    }

    /// Time of the original in its own grid: a row.
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

    /// Mean cycles of a TB with as many on each SM as fit, for windows that are long enough.
    ///
    /// # Errors
    /// As [`Series::settle`].
    pub fn full_tb_cycles(&self, kernel: &Loaded) -> Result<u64, String> {
        let most = fit::configurations(&[kernel.need], true).pop().ok_or_else(|| format!("no TB of `{}` fits", kernel.kernel.word))?;
        let mut window = self.runner.gpu.cycles(self.window_us);
        let longest = self.runner.gpu.cycles(LONGEST_US);
        loop {
            // Without warm-up: all that is wanted is whether TBs end, and after how long.
            let plan = Plan { kernels: vec![kernel], counts: most.clone(), window, warm_up: 0, one_pass: false, roomier: 0 };
            let ran = self.runner.run(&plan)?;
            let rate = Rate::of(&ran.outcome.slots[0]);
            if (rate.fewest > 0 || ran.outcome.stopped) && rate.tbs > 0 {
                return Ok(rate.tb_cycles as u64);
            }
            if window >= longest || !ran.is_complete() {
                return Err(format!("TBs of `{}` do not end within {LONGEST_US} microseconds, or were not in place", kernel.kernel.word));
            }
            window = (4 * window).min(longest);
        }
    }

    /// One configuration, with the window made longer where that helps: a row per kernel.
    ///
    /// # Errors
    /// As [`Series::settle`].
    pub fn configuration(&mut self, kernels: &[&Loaded], counts: &[u32], tb_cycles: u64, repeat: u32) -> Result<(), String> {
        let (least, longest) = (self.runner.gpu.cycles(self.window_us), self.runner.gpu.cycles(LONGEST_US));
        let slower = if kernels.len() > 1 { SLOWER } else { 1 };
        let mut window = (TBS_OF_A_SLOT * slower * tb_cycles).clamp(least, longest);
        let (mut tries, mut roomier) = (1, 0);
        let (plan, ran, rates) = loop {
            let plan = plan(kernels, counts, window, roomier);
            let ran = self.runner.run(&plan)?;
            let rates: Vec<Rate> = ran.outcome.slots[..kernels.len()].iter().map(|slots| Rate::of(slots)).collect();
            let short = rates.iter().any(|rate| rate.fewest < ENOUGH);
            if tries > RETRIES || ran.is_complete() && (!short || ran.outcome.stopped) {
                break (plan, ran, rates);
            }
            if ran.is_complete() {
                window *= 2;
            } else {
                roomier += 1;
            }
            tries += 1;
        };
        let [carve_out, _] = plan.carve_out();
        let joined = |parts: Vec<String>| parts.join("+");
        let set = joined(kernels.iter().map(|kernel| kernel.kernel.word.clone()).collect());
        let config = joined(counts.iter().map(u32::to_string).collect());
        for ((loaded, count), rate) in kernels.iter().zip(counts).zip(&rates) {
            let row: Row = vec![
                ("kind", if kernels.len() > 1 { "mix".into() } else { "alone".into() }),
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
                ("carve_out_kib", carve_out.to_string()),
                ("registers", loaded.need.registers.to_string()),
                ("shared_bytes", loaded.need.shared.to_string()),
                ("arrived", ran.outcome.arrived.to_string()),
                ("expected", ran.expected.to_string()),
                ("top_ups", ran.top_ups.to_string()),
                ("tries", tries.to_string()),
                ("notes", notes(&ran, rate)),
            ];
            self.table.row(&row)?;
            if ran.is_complete() {
                self.agreement.add(format!("{set} {config} {}", loaded.kernel.word), rate.tbs_per_million);
            }
        }
        Ok(())
    }

    /// Writes how repeats agree.
    ///
    /// # Errors
    /// As [`Series::settle`].
    pub fn end(&mut self) -> Result<(), String> {
        let Some((median, most, largest, of, count)) = self.agreement.summary() else { return Ok(()) };
        let text = format!(
            "repeats of {count} rates are apart by {median:.2} % of their mean in the median, {most:.2} % at the 95th percentile, {largest:.2} % at \
             most ({of})"
        );
        eprintln!("{text}");
        self.table.remark(&text)
    }
}

/// A run of kernels that go on until the window is over.
fn plan<'k>(kernels: &[&'k Loaded], counts: &[u32], window: u64, roomier: usize) -> Plan<'k> {
    // A kernel whose passes are few may be at its end before a warm-up is.
    let ends = kernels.iter().any(|kernel| kernel.kernel.passes().is_some());
    let warm_up = if ends { 0 } else { window / WARM_UP_PART };
    Plan { kernels: kernels.to_vec(), counts: counts.to_vec(), window, warm_up, one_pass: false, roomier }
}

/// What must be known of a row before it is used.
fn notes(ran: &Ran, rate: &Rate) -> String {
    let all =
        [(!ran.is_complete(), "incomplete"), (ran.outcome.gave_up, "gave-up"), (rate.short > 0, "short"), (ran.outcome.stopped, "ended")];
    let said: Vec<&str> = all.iter().filter(|(is, _)| *is).map(|(_, note)| *note).collect();
    if said.is_empty() { "ok".into() } else { said.join(" ") }
}
