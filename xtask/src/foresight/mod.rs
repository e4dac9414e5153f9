//! `cargo xtask foresight`: how good a choice of a configuration could be that is made from counts of earlier runs: bounds for policies, on the host, which ship nothing.
//!
//! Three ways to choose, beside SMK-P's configuration and the best of all, each judged by what static runs of its choice gave:
//! * **a plain table** ([`table`]): for every class of mix, how the best configurations of other mixes differed from SMK-P's;
//! * **a forest** ([`forest`]): 1,000 regression trees (Breiman 2001, in the crate `smartcore`) over what was counted in SMK-P's configuration, of any mix in any configuration;
//! * the same, by the product of rates, for which kernels alone need not be known.
//!
//! Whoever chooses for a mix has learned from all mixes of `--from` that share no kernel with it; with `--known` from all but that mix on that machine, so that it knows
//! the mix from other machines, which its table prefers to its classes. All is from the results of `mias evaluate`, of plans with configurations and `smk`.

mod data;
mod forest;
mod table;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use data::Mix;

/// Where the results are.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folders of `mias evaluate` to learn from.
    #[arg(long, required = true, num_args = 1..)]
    from: Vec<PathBuf>,
    /// Folders of mixes to choose for.
    #[arg(long, required = true, num_args = 1..)]
    judge: Vec<PathBuf>,
    /// Learn from the mix on other machines, too.
    #[arg(long)]
    known: bool,
}

/// Who chooses.
const CHOOSERS: [&str; 5] = ["SMK-P's", "table", "forest", "forest, product", "best"];

/// Prints a table for every machine: a line for each mix, means, and the share of the way from SMK-P's to the best.
pub(crate) fn run(args: &Args) -> Result<()> {
    let known = data::read(&args.from)?;
    let judged = data::read(&args.judge)?;
    for mixes in judged.chunk_by(|one, other| one.gpu == other.gpu) {
        println!("{}\n\n| mix | {} |\n|---{}|", mixes[0].gpu, CHOOSERS.join(" | "), "|---".repeat(CHOOSERS.len()));
        let mut means = [0.0; CHOOSERS.len()];
        for mix in mixes {
            let from = known.iter().filter(|other| if args.known { !other.is(mix) } else { !other.shares_kernel(mix) });
            let from: Vec<&Mix> = from.collect();
            ensure!(!from.is_empty(), "no mix of --from to learn from for {} on {}", mix.name, mix.gpu);
            let chosen = choose(&from, mix)?;
            let cells = chosen.map(|choice| format!("{}: {:.3}", mix.choices[choice].label(), mix.choices[choice].stp));
            println!("| {} | {} |", mix.name, cells.join(" | "));
            means.iter_mut().zip(chosen).for_each(|(mean, choice)| *mean += mix.choices[choice].stp / mixes.len() as f64);
        }
        println!("| mean of {} | {} |", mixes.len(), means.map(|mean| format!("{mean:.3}")).join(" | "));
        println!("| way | {} |\n", ways(means).join(" | "));
    }
    Ok(())
}

/// Shares of the way from SMK-P's to the best.
fn ways(means: [f64; CHOOSERS.len()]) -> [String; CHOOSERS.len()] {
    let (smk, best) = (means[0], means[CHOOSERS.len() - 1]);
    means.map(|mean| if best > smk { format!("{:.0} %", 100.0 * (mean - smk) / (best - smk)) } else { "-".to_owned() })
}

/// The choices for a mix, in the order of [`CHOOSERS`].
fn choose(from: &[&Mix], mix: &Mix) -> Result<[usize; CHOOSERS.len()]> {
    let rates = forest::Forest::learn(from)?.rates(mix)?;
    let stp = |choice: usize| rates[choice].iter().zip(&mix.alone).map(|(rate, alone)| rate / alone).sum();
    let product = |choice: usize| rates[choice].iter().product();
    let all = || 0..mix.choices.len();
    Ok([mix.smk, table::choose(from, mix), largest(all(), stp), largest(all(), product), mix.best()])
}

/// The member with the largest score, the first of equals.
fn largest(members: impl Iterator<Item = usize>, score: impl Fn(usize) -> f64) -> usize {
    members.fold((0, f64::NEG_INFINITY), |best, member| if score(member) > best.1 { (member, score(member)) } else { best }).0
}
