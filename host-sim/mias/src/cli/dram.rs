//! What the options say of the order of DRAM requests: reading it, and giving it to a machine.

use super::CliError;
use clap::{Args, ValueEnum};
use mias_hw_model::config::{DramOrder, DramSchedulerConfig, GpuConfig, MOST_DRAM_CAP, WHOLE_SHARE};

/// Whose request a bank of DRAM serves next.
#[derive(Debug, Args)]
pub(super) struct DramArgs {
    /// In which order the requests that wait at a bank of DRAM are served [default: the GPU's]
    #[arg(long, value_enum, value_name = "ORDER")]
    dram_scheduler: Option<Order>,
    /// With kernel-cap: row hits that may go before an older request of another kernel; with batch: requests of a kernel in a bank that a
    /// batch takes; with shares: sectors by which row hits may run ahead [default: the GPU's, or 4, 5 and 16]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_DRAM_CAP)), value_name = "N")]
    dram_cap: Option<u32>,
    /// With shares: each kernel's part of the bandwidth, in launch order, in parts of 1024, as in 768,256; those left out and those with 0
    /// count as 1 [default: the GPU's]
    #[arg(long, value_delimiter = ',', value_parser = share, value_name = "SHARES")]
    dram_shares: Vec<u32>,
}

impl DramArgs {
    /// Whether an order is given.
    pub(super) fn order_given(&self) -> bool {
        self.dram_scheduler.is_some()
    }
}

/// Who orders the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// The oldest that hits the open row, else the oldest (the built-in machines')
    FrFcfs,
    /// The oldest
    Fcfs,
    /// As fr-fcfs, but so many row hits at most go before an older request of another kernel (after Mutlu and Moscibroda 2007)
    KernelCap,
    /// In batches, the kernel with the least to do first (PAR-BS, Mutlu and Moscibroda 2008)
    Batch,
    /// By shares of the bandwidth, the kernel furthest behind first (after Nesbit et al. 2006)
    Shares,
}

/// Reads a share.
fn share(word: &str) -> Result<u32, String> {
    let share = word.parse().ok().filter(|share| *share <= WHOLE_SHARE);
    share.ok_or_else(|| format!("`{word}`: shares are 0 to 1024 for each kernel, in parts of 1024, as in 768,256"))
}

/// Gives `gpu` what the options say, for so many kernels at most.
pub(super) fn apply(args: &DramArgs, gpu: &mut GpuConfig, kernels: usize) -> Result<(), CliError> {
    let DramArgs { dram_scheduler, dram_cap, dram_shares } = args;
    if dram_scheduler.is_none() && dram_cap.is_none() && dram_shares.is_empty() {
        return Ok(());
    }
    let before = gpu.dram.scheduler.take().unwrap_or_default();
    let by = dram_scheduler.map_or(before.by, |order| match order {
        Order::FrFcfs => DramOrder::FrFcfs,
        Order::Fcfs => DramOrder::Fcfs,
        Order::KernelCap => DramOrder::KernelCap,
        Order::Batch => DramOrder::Batch,
        Order::Shares => DramOrder::Shares,
    });
    let user = |message: String| Err(CliError::User(message));
    if dram_cap.is_some() && by.usual_cap() == 0 {
        return user("`--dram-cap` is for orders that have a cap: add `--dram-scheduler kernel-cap`, `batch` or `shares`".into());
    }
    if !dram_shares.is_empty() && by != DramOrder::Shares {
        return user("`--dram-shares` are shares of the bandwidth: add `--dram-scheduler shares`".into());
    }
    if dram_shares.len() > kernels {
        let given = dram_shares.len();
        return user(format!("`--dram-shares` has {given} numbers for {kernels} kernels: give one for each, or fewer"));
    }
    let sum = dram_shares.iter().sum::<u32>();
    if sum > WHOLE_SHARE {
        return user(format!(
            "`--dram-shares`: the numbers add up to {sum}: give out {WHOLE_SHARE} or fewer, which is the whole bandwidth"
        ));
    }
    // Numbers of another order mean something else.
    let kept = if by == before.by { before } else { DramSchedulerConfig { by, ..DramSchedulerConfig::default() } };
    gpu.dram.scheduler = Some(DramSchedulerConfig {
        by,
        cap: dram_cap.or(kept.cap),
        shares: if dram_shares.is_empty() { kept.shares } else { dram_shares.clone() },
    });
    gpu.check().map_err(|error| CliError::User(format!("`--dram-scheduler`: machine `{}`: {error}", gpu.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Only {
        #[command(flatten)]
        dram: DramArgs,
    }

    /// What a machine of two kernels gets from the options, or why not.
    fn given(words: &str, before: Option<DramSchedulerConfig>) -> Result<Option<DramSchedulerConfig>, String> {
        let args = Only::try_parse_from(words.split_whitespace()).map_err(|error| error.to_string())?;
        let mut gpu = mias_lab::gpus::load("rtx2060").expect("built in");
        gpu.dram.scheduler = before;
        apply(&args.dram, &mut gpu, 2).map_err(|error| error.to_string())?;
        Ok(gpu.dram.scheduler)
    }

    fn config(by: DramOrder, cap: Option<u32>, shares: &[u32]) -> DramSchedulerConfig {
        DramSchedulerConfig { by, cap, shares: shares.to_vec() }
    }

    #[test]
    fn options_are_the_machines_keys() {
        use DramOrder::{Batch, Fcfs, FrFcfs, KernelCap, Shares};
        for (words, expected) in [
            ("mias --dram-scheduler fcfs", config(Fcfs, None, &[])),
            ("mias --dram-scheduler kernel-cap --dram-cap 7", config(KernelCap, Some(7), &[])),
            ("mias --dram-scheduler batch", config(Batch, None, &[])),
            ("mias --dram-scheduler shares --dram-shares 1024,0 --dram-cap 255", config(Shares, Some(255), &[1024, 0])),
            ("mias --dram-scheduler fr-fcfs", config(FrFcfs, None, &[])),
        ] {
            assert_eq!(given(words, None), Ok(Some(expected)), "{words}");
        }
        assert_eq!(given("mias", None), Ok(None));
        let machine = config(Shares, Some(9), &[600, 300]);
        assert_eq!(given("mias", Some(machine.clone())), Ok(Some(machine.clone())));
        assert_eq!(given("mias --dram-shares 1,2", Some(machine.clone())), Ok(Some(config(Shares, Some(9), &[1, 2]))));
        assert_eq!(given("mias --dram-scheduler batch", Some(machine)), Ok(Some(config(Batch, None, &[]))));
    }

    #[test]
    fn what_cannot_be_says_what_to_do() {
        for (words, said) in [
            ("mias --dram-scheduler par-bs", "[possible values: fr-fcfs, fcfs, kernel-cap, batch, shares]"),
            ("mias --dram-scheduler batch --dram-cap 0", "0 is not in 1..=255"),
            ("mias --dram-cap 4", "`--dram-cap` is for orders that have a cap: add `--dram-scheduler kernel-cap`"),
            ("mias --dram-scheduler batch --dram-shares 1,1", "`--dram-shares` are shares of the bandwidth: add `--dram-scheduler shares`"),
            ("mias --dram-scheduler shares --dram-shares 1,1,1", "has 3 numbers for 2 kernels: give one for each, or fewer"),
            ("mias --dram-scheduler shares --dram-shares 1000,25", "add up to 1025: give out 1024 or fewer"),
            ("mias --dram-scheduler shares --dram-shares 75%,25%", "`75%`: shares are 0 to 1024 for each kernel"),
        ] {
            let message = given(words, None).expect_err(words);
            assert!(message.contains(said), "{words}: {message}");
        }
    }
}
