//! The scripts with which an engine that is there already runs shards: Slurm, or HyperQueue where there is no administrator.
//!
//! Both lose nothing when a machine dies: they start its shard again elsewhere, and a shard does what is missing of its share. *From: Slurm,
//! HyperQueue (sources.md, works).*

use clap::ValueEnum;

/// What runs shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Engine {
    /// A job array, and a job that merges
    Slurm,
    /// A task array, and a task that merges
    #[value(name = "hyperqueue")]
    HyperQueue,
}

/// What a script asks its engine for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) shards: u32,
    /// Cores of a shard.
    pub(super) cores: u16,
    /// Time limit of a shard.
    pub(super) hours: u64,
    /// Memory of a shard, in MiB.
    pub(super) memory_mib: u64,
}

/// Starts of a shard before its machine gives up (assumption: what passes, such as a full disk or a file server that is gone, passes soon).
const TRIES: u32 = 3;

/// Seconds between two of them.
const PAUSE_SECONDS: u32 = 60;

/// Hours for the merge: it executes the kernels and reads the runs, some minutes (assumption).
const MERGE_HOURS: u32 = 1;

impl Engine {
    /// The folder of its scripts.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Engine::Slurm => "slurm",
            Engine::HyperQueue => "hyperqueue",
        }
    }

    /// Its scripts by name, for the plan `plan`; `command` is `mias evaluate` with all that does not depend on the shard.
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

    /// What to do with them.
    pub(super) fn how_to_submit(self, submit: &str) -> String {
        let submit = quoted(submit);
        match self {
            Engine::Slurm => format!("submit with: bash {submit} [options of sbatch, as --account or --partition]"),
            Engine::HyperQueue => format!("with a server and workers running: bash {submit}"),
        }
    }
}

/// A word as the shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn words(command: &[String]) -> String {
    command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Starts the shard whose number is in `number` on `cores` workers until it succeeds, a few times.
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

/// Lines of `#SBATCH` that both jobs have. Logs are named from the folder that submit.sh starts them in; a job that is requeued goes on in its
/// log.
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

/// The merge comes after all shards, however they ended: it says what is missing. After `afterok` it would wait for ever.
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
# Whatever becomes of a shard: the merge says what is missing.
hq "$@" submit --wait --name=mias-{plan} --array=1-{shards} --cpus={cores} --time-limit={hours}h -- bash "$PWD/shard.sh" || true
hq "$@" submit --wait --name=mias-{plan}-merge --cpus=1 --time-limit={MERGE_HOURS}h -- bash "$PWD/merge.sh"
echo "logs are in $PWD"
"#
    )
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
