//! What the options say of who owns which ways of the caches, and who may have which of the L1's miss resources: reading it, and giving it to
//! a machine.

use super::CliError;
use clap::Args;
use mias_hw_model::config::{GpuConfig, MissDivision, MissResourcesConfig, Partition, PartitionConfig};
use std::ops::RangeInclusive;

/// Who owns what where kernels share a cache.
#[derive(Debug, Args)]
pub(super) struct PartitionArgs {
    /// Who owns which ways of an SM's L1: shared (nobody), ucp (by utility), ucp-rate (by utility and rate of accesses), or numbers in launch
    /// order, as in 4,2 [default: the GPU's]
    #[arg(long, value_parser = ways, value_name = "WAYS")]
    l1_ways: Option<Ways>,
    /// Likewise of each slice of the L2 [default: the GPU's]
    #[arg(long, value_parser = ways, value_name = "WAYS")]
    l2_ways: Option<Ways>,
    /// Who may have which MSHRs, places in the miss queue and lines on their way of an SM's L1: shared (who comes first), equal, or weights in
    /// launch order, as in 3,1 [default: the GPU's]
    #[arg(long, value_parser = miss_resources, value_name = "SHARES")]
    miss_resources: Option<MissShares>,
}

impl PartitionArgs {
    /// The ways of the L1 were asked for.
    pub(super) fn l1_ways_given(&self) -> bool {
        self.l1_ways.is_some()
    }

    /// The L1's miss resources were asked for.
    pub(super) fn miss_resources_given(&self) -> bool {
        self.miss_resources.is_some()
    }
}

/// Who owns which ways of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ways {
    /// Nobody, or whom the hardware finds.
    By(Partition),
    /// So many each.
    Fixed(Vec<u32>),
}

/// Who may have which miss resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MissShares {
    /// Who comes first, or everybody as much.
    By(MissDivision),
    /// By weight.
    Weights(Vec<u32>),
}

/// Reads `shared`, `ucp`, `ucp-rate`, or ways separated by commas.
fn ways(word: &str) -> Result<Ways, String> {
    match word {
        "shared" => Ok(Ways::By(Partition::Shared)),
        "ucp" => Ok(Ways::By(Partition::Ucp)),
        "ucp-rate" => Ok(Ways::By(Partition::UcpRate)),
        numbers => list(numbers, "ways", "shared, ucp or ucp-rate").map(Ways::Fixed),
    }
}

/// Reads `shared`, `equal`, or weights separated by commas.
fn miss_resources(word: &str) -> Result<MissShares, String> {
    match word {
        "shared" => Ok(MissShares::By(MissDivision::Shared)),
        "equal" => Ok(MissShares::By(MissDivision::Equal)),
        numbers => list(numbers, "weights", "shared or equal").map(MissShares::Weights),
    }
}

fn list(numbers: &str, what: &str, words: &str) -> Result<Vec<u32>, String> {
    let number = |part: &str| match part.parse() {
        Ok(number @ 1..=1_024) => Ok(number),
        _ => Err(format!("`{part}`: {what} are 1 to 1024 for each kernel; or say {words}")),
    };
    numbers.split(',').map(number).collect()
}

/// Gives `gpu` what the options say for as many kernels as share an SM.
pub(super) fn apply(args: &PartitionArgs, gpu: &mut GpuConfig, kernels: &RangeInclusive<usize>) -> Result<(), CliError> {
    let (l1, l2) = (gpu.l1.least_ways(), gpu.l2.ways);
    for (option, cache, asked, ways, partition) in [
        ("l1-ways", "the L1 of an SM", &args.l1_ways, l1, &mut gpu.l1.partition),
        ("l2-ways", "a slice of the L2", &args.l2_ways, l2, &mut gpu.l2.partition),
    ] {
        let Some(asked) = asked else { continue };
        fits(asked, ways, kernels).map_err(|why| {
            CliError::User(format!(
                "`--{option}`: {} {ways} ways, {why}",
                at_least(cache, &gpu.name, !gpu.l1.carve_out.is_empty() && option == "l1-ways")
            ))
        })?;
        *partition = partition_of(asked, partition.take());
    }
    if let Some(asked) = &args.miss_resources {
        gpu.l1.miss_resources = match asked {
            MissShares::By(MissDivision::Shared) => None,
            MissShares::By(by) => Some(MissResourcesConfig { by: *by, weights: Vec::new() }),
            MissShares::Weights(weights) if weights.len() > *kernels.end() => {
                let (given, most) = (weights.len(), kernels.end());
                let message = format!("`--miss-resources` has {given} numbers for {most} kernels: give one for each, or fewer");
                return Err(CliError::User(message));
            }
            MissShares::Weights(weights) => Some(MissResourcesConfig { by: MissDivision::Weights, weights: weights.clone() }),
        };
    }
    Ok(())
}

/// `what` of a machine has, or has at the least.
fn at_least(what: &str, gpu: &str, carved: bool) -> String {
    let least = if carved { "may have no more than" } else { "has" };
    format!("{what} of `{gpu}` {least}")
}

/// Whether kernels can have what is asked for of so many ways; if not, what to do.
fn fits(asked: &Ways, ways: u32, kernels: &RangeInclusive<usize>) -> Result<(), String> {
    let (least, most) = (*kernels.start(), *kernels.end());
    match asked {
        Ways::By(Partition::Shared) => Ok(()),
        _ if least > ways as usize => Err(format!("fewer than the {least} kernels, and each needs one: say shared, or run fewer kernels")),
        Ways::Fixed(numbers) if numbers.len() > most => {
            Err(format!("and there are {} numbers for {most} kernels: give one for each, or fewer", numbers.len()))
        }
        Ways::Fixed(numbers) => {
            // One for each kernel that no number is given for.
            let others = least.saturating_sub(numbers.len()) as u64;
            let sum = numbers.iter().map(|&number| u64::from(number)).sum::<u64>() + others;
            match (sum > u64::from(ways), others) {
                (false, _) => Ok(()),
                (true, 0) => Err(format!("and the numbers add up to {sum}: give out {ways} or fewer")),
                (true, _) => Err(format!("and the numbers add up to {sum} with one for each other kernel: give out {ways} or fewer")),
            }
        }
        Ways::By(_) => Ok(()),
    }
}

/// The partition that is asked for, with the period and the monitors that the machine has.
fn partition_of(asked: &Ways, before: Option<PartitionConfig>) -> Option<PartitionConfig> {
    let before = before.unwrap_or_default();
    match asked {
        Ways::By(Partition::Shared) => None,
        Ways::By(by) => Some(PartitionConfig { by: *by, ways: Vec::new(), ..before }),
        Ways::Fixed(numbers) => Some(PartitionConfig { by: Partition::Fixed, ways: numbers.clone(), ..before }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read() {
        assert_eq!(ways("ucp-rate"), Ok(Ways::By(Partition::UcpRate)));
        assert_eq!(ways("4,2"), Ok(Ways::Fixed(vec![4, 2])));
        assert_eq!(miss_resources("equal"), Ok(MissShares::By(MissDivision::Equal)));
        for wrong in ["0", "4,", "4;2", "1025", "-1", "lru", ""] {
            let said = ways(wrong).expect_err(wrong);
            assert!(said.contains("1 to 1024") && said.contains("shared, ucp or ucp-rate"), "{said}");
            assert!(miss_resources(wrong).is_err());
        }
    }

    #[test]
    fn what_does_not_fit_says_what_to_do() {
        let said = |numbers: &[u32], kernels: usize| fits(&Ways::Fixed(numbers.to_vec()), 6, &(kernels..=kernels)).err();
        assert_eq!(said(&[4, 2], 2), None);
        assert_eq!(said(&[4, 1], 3), None);
        assert_eq!(said(&[4, 3], 2).as_deref(), Some("and the numbers add up to 7: give out 6 or fewer"));
        assert_eq!(said(&[4, 2], 3).as_deref(), Some("and the numbers add up to 7 with one for each other kernel: give out 6 or fewer"));
        assert_eq!(said(&[1, 1, 1], 2).as_deref(), Some("and there are 3 numbers for 2 kernels: give one for each, or fewer"));
        let ucp = Ways::By(Partition::Ucp);
        assert_eq!(fits(&ucp, 2, &(2..=2)), Ok(()));
        assert!(fits(&ucp, 2, &(3..=3)).is_err_and(|said| said.starts_with("fewer than the 3 kernels")));
        assert_eq!(fits(&ucp, 2, &(1..=8)), Ok(()), "of a list there may be fewer at once");
    }

    #[test]
    fn a_machine_keeps_its_period() {
        let mut gpu = mias_lab::gpus::load("dai18").expect("built in");
        gpu.l1.partition = Some(PartitionConfig { by: Partition::Ucp, period_cycles: 1_000, ..PartitionConfig::default() });
        let args =
            PartitionArgs { l1_ways: Some(Ways::Fixed(vec![4, 2])), l2_ways: Some(Ways::By(Partition::Shared)), miss_resources: None };
        assert!(apply(&args, &mut gpu, &(2..=2)).is_ok());
        let fixed = PartitionConfig { by: Partition::Fixed, ways: vec![4, 2], period_cycles: 1_000, ..PartitionConfig::default() };
        assert_eq!((gpu.l1.partition.clone(), gpu.l2.partition.clone()), (Some(fixed), None));
        assert!(gpu.check().is_ok());
        let more = PartitionArgs { l1_ways: Some(Ways::Fixed(vec![4, 3])), l2_ways: None, miss_resources: None };
        let said = apply(&more, &mut gpu, &(2..=2)).expect_err("seven of six").to_string();
        assert!(said.contains("`--l1-ways`: the L1 of an SM of `dai18` has 6 ways, and the numbers add up to 7"), "{said}");
    }
}
