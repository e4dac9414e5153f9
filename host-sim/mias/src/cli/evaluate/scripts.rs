//! Scripts for engines that run shards: Slurm, or HyperQueue where no administrator is available.
//!
//! Both lose nothing when a machine dies: they start its shard again elsewhere, and a shard does
//! what is missing of its share. *From: Slurm, HyperQueue (sources.md, works).*

use clap::ValueEnum;

/// Engine that runs shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Engine {
    /// Job array and merge job
    Slurm,
    /// Task array and merge task
    #[value(name = "hyperqueue")]
    HyperQueue,
}

/// Resources that a script requests from its engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) shards: u32,
    /// Cores per shard.
    pub(super) cores: u16,
    /// Time limit of a shard in hours.
    pub(super) hours: u64,
    /// Memory of a shard in MiB.
    pub(super) memory_mib: u64,
}

/// Attempts to start a shard (assumption: transient failures, such as a full disk or an unreachable
/// file server, are short).
const TRIES: u32 = 3;

/// Seconds between two attempts.
const PAUSE_SECONDS: u32 = 60;

/// Time limit of the merge in hours. The merge executes the kernels and reads the runs, which takes
/// some minutes (assumption).
const MERGE_HOURS: u32 = 1;

impl Engine {
    /// Returns the folder of the engine's scripts.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Engine::Slurm => "slurm",
            Engine::HyperQueue => "hyperqueue",
        }
    }

    /// Returns the scripts by name for the plan `plan`. `command` is `mias evaluate` with all
    /// options that do not depend on the shard.
    pub(super) fn scripts(self, plan: &str, command: &[String], sizes: &Sizes) -> Vec<(&'static str, String)> {
        let (shard, merge, submit) = match self {
            Engine::Slurm => (slurm_shard(plan, command, sizes), slurm_merge(plan, command, sizes), SLURM_SUBMIT.to_owned()),
            Engine::HyperQueue => {
                let variables = ("HQ_TASK_ID", sizes.cores.to_string());
                let shard = format!("#!/bin/bash\n{}", tries(command, sizes, variables.0, &variables.1));
                (shard, format!("#!/bin/bash\nexec {} --merge\n", words(command)), hyperqueue_submit(plan, sizes))
            }
        };
        vec![("shard.sh", shard), ("merge.sh", merge), ("submit.sh", submit)]
    }

    /// Instructions for submitting the scripts.
    pub(super) fn how_to_submit(self, submit: &str) -> String {
        let submit = quoted(submit);
        match self {
            Engine::Slurm => format!("submit with: bash {submit} [options of sbatch, as --account or --partition]"),
            Engine::HyperQueue => format!("with a server and workers running: bash {submit}"),
        }
    }
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn words(command: &[String]) -> String {
    command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns shell lines that run the shard numbered `number` on `cores` workers until it succeeds,
/// for a limited number of attempts.
fn tries(command: &[String], sizes: &Sizes, number: &str, cores: &str) -> String {
    format!(
        "for try in $(seq {TRIES}); do
    {} --jobs \"{cores}\" --shard \"${number}/{}\" && exit 0
    code=$?
    echo \"shard ${number}/{} ended with code $code on $(hostname), try $try of {TRIES}\" >&2
    [ \"$try\" = {TRIES} ] || sleep {PAUSE_SECONDS}
done
exit \"$code\"
",
        words(command),
        sizes.shards,
        sizes.shards,
    )
}

/// Returns the `#SBATCH` lines of both jobs. Log paths are relative to the folder in which
/// submit.sh starts the jobs; a requeued job appends to its log.
fn slurm_head(plan: &str, log: &str, cores: u16, memory_mib: u64, hours: u64) -> String {
    format!(
        "#!/bin/bash
#SBATCH --job-name=mias-{plan}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={cores}
#SBATCH --mem={memory_mib}M
#SBATCH --time={hours}:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={log}
"
    )
}

fn slurm_shard(plan: &str, command: &[String], sizes: &Sizes) -> String {
    let head = slurm_head(plan, "slurm-%a.out", sizes.cores, sizes.memory_mib, sizes.hours);
    let array = format!("#SBATCH --array=1-{}\n", sizes.shards);
    head + &array + &tries(command, sizes, "SLURM_ARRAY_TASK_ID", "$SLURM_CPUS_PER_TASK")
}

fn slurm_merge(plan: &str, command: &[String], sizes: &Sizes) -> String {
    slurm_head(plan, "slurm-merge.out", 1, sizes.memory_mib, MERGE_HOURS.into()) + &format!("exec {} --merge\n", words(command))
}

/// The merge runs after all shards, even failed ones, and reports missing runs. With `afterok` it
/// would wait forever after a failure.
const SLURM_SUBMIT: &str = r#"#!/bin/bash
# Options are those of sbatch, as --account or --partition; both jobs get them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
shards=$(sbatch --parsable "$@" shard.sh)
merge=$(sbatch --parsable --dependency="afterany:${shards%%;*}" "$@" merge.sh)
echo "shards are job ${shards%%;*}, the merge is job ${merge%%;*}; logs are in $PWD"
"#;

fn hyperqueue_submit(plan: &str, sizes: &Sizes) -> String {
    let Sizes { shards, cores, hours, .. } = sizes;
    format!(
        r#"#!/bin/bash
# Options are those of hq, as --server-dir.
set -euo pipefail
cd "$(dirname "${{BASH_SOURCE[0]}}")"
# Runs even if shards fail: the merge reports missing runs.
hq "$@" submit --wait --name=mias-{plan} --array=1-{shards} --cpus={cores} --time-limit={hours}h -- bash "$PWD/shard.sh" || true
hq "$@" submit --wait --name=mias-{plan}-merge --cpus=1 --time-limit={MERGE_HOURS}h -- bash "$PWD/merge.sh"
echo "logs are in $PWD"
"#
    )
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
