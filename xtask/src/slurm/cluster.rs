//! Cluster of two nodes on this host: MUNGE, one slurmctld and two slurmd, with files in the
//! cluster's own folder and free ports. *From: slurm.conf(5), munged(8).*

use std::fs::{self, File};
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::in_environment;
use super::processes::{Process, kill, process, with_environment};
use crate::setup::apt_get;
use crate::util::stdout;

/// Names of the nodes.
pub(super) const NODES: [&str; 2] = ["n1", "n2"];

/// Required programs.
const PROGRAMS: [&str; 7] = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel"];

/// Debian packages of the programs.
const PACKAGES: [&str; 2] = ["slurm-wlm", "munge"];

/// Memory of a node in MiB in Slurm's configuration: more than a shard requests, on any host
/// (assumption).
const NODE_MIB: u32 = 4_000;

/// Timeout for the start of daemons (assumption).
const START: Duration = Duration::from_secs(60);

/// Size of a MUNGE key in bytes (munged(8): 32 to 1,024).
const KEY_BYTES: usize = 1_024;

/// Daemons of the cluster. They and their jobs end when it is dropped.
pub(super) struct Cluster {
    folder: PathBuf,
    daemons: Vec<(&'static str, Child)>,
}

/// Returns missing programs.
fn missing() -> Vec<&'static str> {
    let is_there = |program: &&str| search_path().iter().any(|folder| folder.join(program).is_file());
    PROGRAMS.into_iter().filter(|program| !is_there(program)).collect()
}

/// Checks that all programs are installed.
pub(super) fn check_installed() -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    bail!(
        "this task needs Slurm and MUNGE; missing: {}. Debian, Ubuntu: apt-get install --no-install-recommends {}",
        missing.join(", no "),
        PACKAGES.join(" ")
    )
}

/// Installs missing programs.
pub(super) fn install() -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let why = format!("a cluster on this machine needs Slurm and MUNGE; missing: {}", missing.join(", no "));
    apt_get(&PACKAGES, &why, &format!("Install them (on Debian: `apt-get install {}`)", PACKAGES.join(" ")))?;
    check_installed()
}

/// Returns the folders of programs, including those of daemons outside of users' paths.
fn search_path() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]).collect()
}

impl Cluster {
    /// Starts all daemons and waits until both nodes are idle.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder.join("state"))?;
        let mut key = vec![0; KEY_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut key)?;
        let key_file = folder.join("munge.key");
        fs::write(&key_file, key)?;
        only_for_its_owner(&key_file)?;
        let host = stdout(Command::new("hostname").arg("-s"))?;
        let user = stdout(Command::new("id").arg("-un"))?;
        fs::write(folder.join("slurm.conf"), configuration(folder, host.trim(), user.trim(), free_ports()?)?)?;
        let mut cluster = Cluster { folder: folder.to_path_buf(), daemons: Vec::new() };
        let file = |option: &str, name: &str| format!("--{option}={}", folder.join(name).display());
        let files = [("socket", "munge.sock"), ("key-file", "munge.key"), ("log-file", "munge.log")];
        let more = [("pid-file", "munge.pid"), ("seed-file", "munge.seed")];
        let files: Vec<String> = files.iter().chain(&more).map(|(option, name)| file(option, name)).collect();
        cluster.daemon("munged", &[&["--force", "--foreground"][..], &files.iter().map(String::as_str).collect::<Vec<_>>()].concat())?;
        let begun = Instant::now();
        while !folder.join("munge.sock").exists() {
            ensure!(begun.elapsed() < START, "munged does not start: {}", cluster.log("munged"));
            std::thread::sleep(Duration::from_millis(100));
        }
        cluster.daemon("slurmctld", &["-D"])?;
        for node in NODES {
            cluster.daemon("slurmd", &["-D", "-N", node])?;
        }
        while cluster.idle_nodes() < NODES.len() {
            ensure!(begun.elapsed() < START, "the nodes did not become idle: {}", cluster.log("slurmctld"));
            std::thread::sleep(Duration::from_millis(500));
        }
        println!("a cluster of {} nodes is up after {} s", NODES.len(), begun.elapsed().as_secs());
        Ok(cluster)
    }

    fn daemon(&mut self, program: &'static str, arguments: &[&str]) -> Result<()> {
        let output = File::options().create(true).append(true).open(self.folder.join(format!("{program}.out")))?;
        let mut command = self.command(program);
        command.args(arguments).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        self.daemons.push((program, command.spawn().with_context(|| format!("cannot start {program}"))?));
        Ok(())
    }

    /// Creates a command in the environment of this cluster.
    pub(super) fn command(&self, program: &str) -> Command {
        let path = std::env::join_paths(search_path()).unwrap_or_default();
        in_environment(program, &[("SLURM_CONF", &self.folder.join("slurm.conf")), ("PATH", Path::new(&path))])
    }

    fn idle_nodes(&self) -> usize {
        let states = stdout(self.command("sinfo").args(["--noheader", "--Node", "--format=%T"])).unwrap_or_default();
        states.lines().filter(|state| *state == "idle").count()
    }

    fn log(&self, daemon: &str) -> String {
        fs::read_to_string(self.folder.join(format!("{daemon}.out"))).unwrap_or_default()
    }

    /// Returns unfinished jobs, a line each.
    pub(super) fn queue(&self) -> Result<Vec<String>> {
        let lines = stdout(self.command("squeue").args(["--noheader", "--array", "--format=%i %T %N"]))?;
        Ok(lines.lines().map(str::to_owned).collect())
    }

    /// Returns whether a job runs on a node.
    pub(super) fn has_job(&self, node: &str) -> Result<bool> {
        Ok(self.queue()?.iter().any(|job| job.ends_with(&format!(" RUNNING {node}"))))
    }

    /// Returns the environment variable of all processes of this cluster.
    fn mark(&self) -> String {
        format!("SLURM_CONF={}", self.folder.join("slurm.conf").display())
    }

    /// Kills a node: its slurmd, the slurmstepd of its jobs, and the jobs. Returns their names.
    pub(super) fn lose(&mut self, node: &str) -> Result<String> {
        let jobs = with_environment(&[self.mark(), format!("SLURMD_NODENAME={node}")]);
        ensure!(!jobs.is_empty(), "no process of a job is on {node}");
        let is_watcher = |process: &Process| process.name.starts_with("slurmstepd");
        let mut watchers: Vec<Process> = jobs.iter().filter_map(|job| process(job.parent)).filter(is_watcher).collect();
        watchers.dedup();
        let place = 2 + NODES.iter().position(|known| *known == node).context("a node")?;
        let (_, slurmd) = self.daemons.get_mut(place).context("slurmd runs")?;
        slurmd.kill()?;
        slurmd.wait()?;
        let lost = [watchers, jobs].concat();
        kill(&lost)?;
        let names = lost.iter().map(|process| format!(", {}", process.name));
        Ok(names.fold("slurmd".to_owned(), |all, name| all + &name))
    }

    /// Stops all processes.
    pub(super) fn stop(&mut self) -> Result<()> {
        for (_, mut daemon) in self.daemons.drain(..).rev() {
            // The daemon of a lost node has ended already.
            let _ = daemon.kill();
            daemon.wait()?;
        }
        // Jobs, their supervisors, and processes started by slurmctld.
        kill(&with_environment(&[self.mark()]))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("some processes of the cluster are still running: {error:#}");
        }
    }
}

/// Makes a key readable for its owner only, because MUNGE rejects keys that other users can read.
#[cfg(unix)]
fn only_for_its_owner(key: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(key, fs::Permissions::from_mode(0o400))?)
}

/// Fails on systems without Unix permissions, which Slurm requires.
#[cfg(not(unix))]
fn only_for_its_owner(key: &Path) -> Result<()> {
    bail!("{}: Slurm needs Unix permissions", key.display())
}

/// Returns unused ports for slurmctld and both nodes.
fn free_ports() -> Result<[u16; 3]> {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(listeners) {
        *port = listener?.local_addr()?.port();
    }
    Ok(ports)
}

/// Returns slurm.conf. A node without a response for ten seconds is down, and its jobs wait a
/// quarter of a minute; real clusters use minutes for both.
fn configuration(folder: &Path, host: &str, user: &str, [controller, first, second]: [u16; 3]) -> Result<String> {
    let at = folder.to_str().context("the temporary folder is not UTF-8")?;
    ensure!(!at.contains(char::is_whitespace), "{at}: slurm.conf does not support folders with blanks; set TMPDIR");
    let node = |name: &str, port: u16| {
        format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory={NODE_MIB}\n")
    };
    let nodes = node(NODES[0], first) + &node(NODES[1], second);
    Ok(format!(
        "ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={at}/munge.sock,cred_expire=15
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool.%n
SlurmctldPidFile={at}/controller.pid
SlurmdPidFile={at}/%n.pid
SlurmctldLogFile={at}/controller.log
SlurmdLogFile={at}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldTimeout=30
SlurmdTimeout=10
{nodes}PartitionName=main Nodes={} Default=YES MaxTime=INFINITE State=UP
",
        NODES.join(",")
    ))
}
