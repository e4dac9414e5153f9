//! Cost of a decision on the firmware's processors: builds `benches/target`, runs it in QEMU on
//! three boards and for two sizes of GPU, checks the budgets, and writes
//! `docs/porting/decision-latency.md` and `host-sim/lab/decision-latency.toml`.
//!
//! QEMU counts instructions (`-icount shift=8`: 256 ns of board time each), the same in every run
//! and on every host. It does not model cycles.

mod numbers;
mod page;
mod table;

use anyhow::{Context, Result, ensure};

use crate::budget::{BUILDS, Budget, Build, SearchBudget, VictimSelectionBudget, keep};
use crate::setup;
use crate::targets::{TARGETS, Target};
use crate::util::{Report, command, root, run as run_command, stdout, target_dir, write_file};

use numbers::{METRICS, Numbers};

/// Formatter of the numbers of all cores.
type Form = fn(&[Numbers]) -> String;
/// Path of the page, relative to the root.
const PAGE: &str = "docs/porting/decision-latency.md";
/// Written files, relative to the root, with their formatters: for people, and for the simulation.
const WRITTEN: [(&str, Form); 2] = [(PAGE, page::page), ("host-sim/lab/decision-latency.toml", table::table)];
/// Name of the program in `benches/target/`.
const PROGRAM: &str = "target-bench";
/// Timeout of a run in seconds: it takes less than one.
const TIME_OUT: &str = "120";

/// Measures the cost of decisions, and writes the page and the table.
pub(crate) fn run() -> Result<()> {
    setup::run()?;
    let all = measure_all()?;
    check(&all)?;
    for (file, text) in WRITTEN {
        write_file(file, text(&all))?;
    }
    Ok(())
}

/// Measures, and checks the budgets, the page and the table.
pub(crate) fn steps(report: &mut Report) {
    let mut measured = None;
    let done = report.step("decision latency, in QEMU", || {
        measured = Some(measure_all()?);
        Ok(())
    });
    match measured.filter(|_| done) {
        Some(all) => {
            report.step("decision latency within budget", || check(&all));
            for (file, text) in WRITTEN {
                report.step(&format!("{file} is current"), || {
                    let written = std::fs::read_to_string(root().join(file)).unwrap_or_default();
                    ensure!(written == text(&all), "{file} differs from the measurement; write it with `cargo xtask latency`");
                    Ok(())
                });
            }
        }
        None => report.blocked("decision latency within budget", "nothing was measured"),
    }
}

/// Returns one set of numbers per processor.
fn measure_all() -> Result<Vec<Numbers>> {
    TARGETS
        .iter()
        .map(|target| {
            let mut numbers = Numbers::new(target.board.core);
            // The default build comes first, since its stack is the one checked.
            for build in BUILDS.into_iter().rev() {
                numbers.add(&measure(target, build.feature())?)?;
            }
            Ok(numbers)
        })
        .collect()
}

fn measure(target: &Target, feature: Option<&str>) -> Result<String> {
    run_command(&mut target.build("mias-target-bench", PROGRAM, feature))?;
    let program = target.folder(&target_dir()).join(PROGRAM);
    let mut qemu = command("timeout", [TIME_OUT, target.board.qemu]);
    qemu.args(target.board.options).args(target.bench).args(["-nographic", "-monitor", "none", "-serial", "none"]);
    qemu.args(["-semihosting-config", "enable=on,target=native", "-icount", "shift=8", "-kernel"]).arg(program);
    stdout(&mut qemu).with_context(|| format!("the measurement on the {} failed", target.board.core))
}

/// Checks the budgets: the decision on the first processor, the painted stack on all.
fn check(all: &[Numbers]) -> Result<()> {
    let budget = Budget::read()?;
    for numbers in all {
        keep(&format!("{}: stack found painted over, bytes", numbers.core), numbers.stack, budget.image(Build::Usual).stack_bytes)?;
    }
    let numbers = all.first().context("no processor was measured")?;
    for metric in METRICS {
        let floor = numbers.floor(30, metric)?;
        let reads = 30 * page::reads(metric);
        keep(&format!("{metric}: the floor for {reads} reads"), floor, budget.decision.most_floor_instructions_per_read * reads)?;
        for configs in [3, 7] {
            let decision = numbers.decision(30, 2, metric, 1, configs)?.to_choice;
            let name = format!("{metric}, {configs} configurations");
            keep(&format!("{name}: decision, instructions"), decision, budget.decision.most_times_floor * floor)?;
            let (thesis, _) = numbers.thesis(30, metric, configs)?;
            keep(&format!("{name}: of the thesis' port"), decision * budget.decision.least_times_less_than_thesis, thesis)?;
        }
        let many = numbers.decisions.iter().filter(|((sms, kernels, name, ..), _)| (*sms, name.as_str()) == (30, metric) && *kernels > 2);
        for ((_, kernels, _, round, configs), decision) in many {
            let name = format!("{metric}, {kernels} kernels, round {round}, {configs} configurations: decision, instructions");
            keep(&name, decision.to_choice, budget.decision.most_times_floor_of_many * floor)?;
        }
    }
    for kernels in [2, 3] {
        let most = 30 * kernels * budget.memory_limit.most_instructions_per_kernel_and_sm;
        keep(&format!("limits of memory instructions of {kernels} kernels on 30 SMs: instructions"), numbers.memory(30, kernels)?, most)?;
    }
    for kernels in [2, 3] {
        let most = budget.context_control.most_instructions + kernels * budget.context_control.most_instructions_per_kernel;
        keep(&format!("extra TBs of {kernels} kernels: instructions"), numbers.oversubscription(kernels)?, most)?;
    }
    for ((sms, kernels), instructions) in numbers.searches.iter().filter(|((sms, _), _)| *sms == 30) {
        let SearchBudget { most_instructions_per_kernel_and_sm, most_instructions_per_sm } = budget.search;
        let most = sms * (most_instructions_per_sm + kernels * most_instructions_per_kernel_and_sm);
        keep(&format!("a step of a search over {kernels} kernels on {sms} SMs: instructions"), *instructions, most)?;
    }
    for ((scheme, sms, tbs), instructions) in numbers.victims.iter().filter(|((_, sms, _), _)| *sms <= 30) {
        let VictimSelectionBudget { most_instructions_per_sm, most_instructions_per_tb } = budget.victim_selection;
        let looks = if scheme == "chimera" { 2 } else { 1 };
        let most = looks * sms * (most_instructions_per_sm + tbs * most_instructions_per_tb);
        keep(&format!("{scheme}, victims among {tbs} TBs on each of {sms} SMs: instructions"), *instructions, most)?;
    }
    let (mias, spatial) = (numbers.prepared(30, 2, 3, "ipc")?, numbers.prepared(30, 2, 0, "spatial")?);
    let most = budget.decision.most_percent_of_spatial * spatial.placement;
    keep("a prepared placement, in hundredths of instructions", 100 * mias.placement, most)?;
    for ((sms, kernels, configs, policy), prepared) in &numbers.prepared {
        let name = format!("{policy}, {sms} SMs, {kernels} kernels, {configs} configurations");
        keep(&format!("{name}: longest part ahead, instructions"), prepared.longest, budget.decision.most_instructions_ahead)?;
        keep(&format!("{name}: whole scheduling, instructions"), prepared.whole, budget.decision.most_instructions_in_all)?;
    }
    Ok(())
}
