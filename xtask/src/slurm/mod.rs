//! `cargo xtask slurm`: an evaluation on a cluster of two nodes on this host, one of which is lost
//! in the middle. It submits the unmodified output of `mias evaluate --emit slurm`. The merged
//! documents and every run must equal those of a local run, byte for byte.
//!
//! Slurm and MUNGE must be installed. Only this task and `cargo xtask ci` need them; the latter
//! runs a small version in parallel with other steps ([`Beside`]).

mod cluster;
mod processes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use self::cluster::Cluster;
use crate::util::{cargo, command, root, run as run_command, stdout, target_dir};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Plan: a built-in name or a TOML file.
    #[arg(default_value = "quick")]
    plan: String,
    /// Quick form of the plan.
    #[arg(long)]
    quick: bool,
    /// Number of shards.
    #[arg(long, default_value_t = 4)]
    shards: u32,
    /// Number of runs that must exist before the node is lost.
    #[arg(long, default_value_t = 3)]
    after_runs: usize,
    /// Path of a built `mias`, instead of a release build.
    #[arg(long)]
    mias: Option<PathBuf>,
}

/// Timeout for all jobs together.
const TIME_OUT: Duration = Duration::from_secs(3_600);

/// Interval between checks of the folder or the queue.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Documents that must be equal.
const DOCUMENTS: [&str; 4] = ["results.json", "results.csv", "report.html", "evaluation.json"];

pub(crate) fn run(args: &Args) -> Result<()> {
    cluster::check_installed()?;
    let mias = match &args.mias {
        Some(mias) => std::path::absolute(mias)?,
        None => {
            run_command(&mut cargo(["build", "--release", "-p", "mias"]))?;
            target_dir().join("release/mias")
        }
    };
    let folder = tempfile::tempdir()?;
    let [local, shared] = ["local", "shared"].map(|name| folder.path().join(name));
    let evaluate = |out: &Path, more: &[&str]| {
        let mut words = vec!["evaluate", &args.plan, "--out", out.to_str().context("the temporary folder is not UTF-8")?];
        words.extend(args.quick.then_some("--quick"));
        anyhow::Ok(command(&mias, words.iter().chain(more)))
    };
    let begun = Instant::now();
    stdout(&mut evaluate(&local, &[])?)?;
    println!("a local run: {} runs in {} s", runs(&local)?.len(), begun.elapsed().as_secs());

    run_command(&mut evaluate(&shared, &["--emit", "slurm", "--shards", &args.shards.to_string(), "--jobs", "1"])?)?;
    let mut cluster = Cluster::start(&folder.path().join("cluster"))?;
    let begun = Instant::now();
    print!("{}", stdout(cluster.command("bash").arg(shared.join("slurm/submit.sh")))?);
    until("the first runs exist", begun, || {
        Ok(runs(&shared)?.len() >= args.after_runs && cluster.has_job(cluster::NODES[0])? || cluster.queue()?.is_empty())
    })?;
    let there = runs(&shared)?;
    ensure!(!cluster.queue()?.is_empty(), "the jobs ended before the loss of a node; use a larger plan, or fewer --after-runs");
    let lost = cluster.lose(cluster::NODES[0])?;
    println!("{} lost after {} runs: killed {lost}", cluster::NODES[0], there.len());
    until("all jobs have ended", begun, || Ok(cluster.queue()?.is_empty()))?;
    print!("{}", said(&shared, "slurm-merge.out")?);
    println!("all jobs ended {} s after they were submitted", begun.elapsed().as_secs());
    cluster.stop()?;

    let requeued = std::fs::read_to_string(folder.path().join("cluster/controller.log"))?.matches("Requeuing JobId").count();
    ensure!(requeued > 0, "Slurm requeued no job: the lost node had none");
    let [ours, theirs] = [runs(&local)?, runs(&shared)?];
    ensure!(there.iter().all(|(name, bytes)| theirs.get(name) == Some(bytes)), "an existing run has changed");
    ensure!(ours == theirs, "the runs differ: {} here, {} there", ours.len(), theirs.len());
    for name in DOCUMENTS {
        let read = |folder: &Path| std::fs::read(folder.join(name)).with_context(|| format!("{} has no {name}", folder.display()));
        ensure!(read(&local)? == read(&shared)?, "{name} differs");
    }
    println!("{} runs and {} documents equal those of the local run; {requeued} jobs were requeued", ours.len(), DOCUMENTS.len());
    Ok(())
}

/// Background variant with a plan of 18 short runs and the `mias` built by tests, on a thread of
/// its own. It mostly waits, up to a minute, until the node is declared down and its jobs restart.
pub(crate) struct Beside(JoinHandle<Result<()>>);

impl Beside {
    /// Installs missing programs, and starts the thread.
    pub(crate) fn start() -> Result<Self> {
        cluster::install()?;
        let plan = root().join("xtask/src/slurm/small.toml").to_str().context("the workspace's folder is not UTF-8")?.to_owned();
        let args = Args { plan, quick: false, shards: 4, after_runs: 3, mias: Some(target_dir().join("debug/mias")) };
        Ok(Beside(std::thread::spawn(move || run(&args))))
    }

    /// Waits for the end of the thread; fails if the variant failed.
    pub(crate) fn join(self) -> Result<()> {
        self.0.join().map_err(|_| anyhow!("its thread panicked"))?
    }
}

/// Waits until a condition holds.
fn until(what: &str, begun: Instant, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    while !is_so()? {
        ensure!(begun.elapsed() < TIME_OUT, "condition not met {} s after the jobs were submitted: {what}", TIME_OUT.as_secs());
        std::thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

/// Returns the complete runs of a folder.
fn runs(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut runs = BTreeMap::new();
    for entry in std::fs::read_dir(folder.join("runs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            runs.insert(path.file_name().unwrap_or_default().to_string_lossy().into_owned(), std::fs::read(&path)?);
        }
    }
    Ok(runs)
}

/// Returns the output of a job.
fn said(folder: &Path, log: &str) -> Result<String> {
    let path = folder.join("slurm").join(log);
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Creates a command independent of the workspace's folder, with an environment of its own.
fn in_environment(program: &str, variables: &[(&str, &Path)]) -> Command {
    let mut command = Command::new(program);
    command.envs(variables.iter().copied()).current_dir(root());
    command
}
