//! A cluster of two nodes on this machine: MUNGE, one slurmctld, two slurmd, each with its files in a folder of the cluster's own and ports
//! that are free. *From: slurm.conf(5), munged(8).*

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

/// The nodes.
pub(super) const NODES: [&str; 2] = ["n1", "n2"];

/// Programs that are called.
const PROGRAMS: [&str; 7] = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel"];

/// Debian's packages of them.
const PACKAGES: [&str; 2] = ["slurm-wlm", "munge"];

/// Memory of a node in MiB, as Slurm is told: more than a shard asks for, whatever this machine has (assumption).
const NODE_MIB: u32 = 4_000;

/// How long daemons may take to start (assumption).
const START: Duration = Duration::from_secs(60);

/// Bytes of a key of MUNGE (munged(8): 32 to 1,024).
const KEY_BYTES: usize = 1_024;

/// The daemons. They end when it is dropped, and their jobs with them.
pub(super) struct Cluster {
    folder: PathBuf,
    daemons: Vec<(&'static str, Child)>,
}

/// Programs that are not there.
fn missing() -> Vec<&'static str> {
    let is_there = |program: &&str| search_path().iter().any(|folder| folder.join(program).is_file());
    PROGRAMS.into_iter().filter(|program| !is_there(program)).collect()
}

/// Whether all programs are there.
pub(super) fn check_installed() -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    bail!(
        "this task needs Slurm and MUNGE, which are not all here: no {}. Debian, Ubuntu: apt-get install --no-install-recommends {}",
        missing.join(", no "),
        PACKAGES.join(" ")
    )
}

/// Installs what is missing.
pub(super) fn install() -> Result<()> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(());
    }
    let why = format!("a cluster on this machine needs Slurm and MUNGE, of which there is no {}", missing.join(", no "));
    apt_get(&PACKAGES, &why, &format!("Install them (on Debian: `apt-get install {}`)", PACKAGES.join(" ")))?;
    check_installed()
}

/// Folders of programs; daemons lie where users do not look.
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
            ensure!(begun.elapsed() < START, "the nodes do not become idle: {}", cluster.log("slurmctld"));
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

    /// A command that finds this cluster.
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

    /// Jobs that have not ended, a line each.
    pub(super) fn queue(&self) -> Result<Vec<String>> {
        let lines = stdout(self.command("squeue").args(["--noheader", "--array", "--format=%i %T %N"]))?;
        Ok(lines.lines().map(str::to_owned).collect())
    }

    /// Whether a job runs on a node.
    pub(super) fn has_job(&self, node: &str) -> Result<bool> {
        Ok(self.queue()?.iter().any(|job| job.ends_with(&format!(" RUNNING {node}"))))
    }

    /// The variable that all processes of this cluster have.
    fn mark(&self) -> String {
        format!("SLURM_CONF={}", self.folder.join("slurm.conf").display())
    }

    /// A node dies: its slurmd, the slurmstepd that watch over its jobs, and the jobs. Gives their names.
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

    /// Ends everything.
    pub(super) fn stop(&mut self) -> Result<()> {
        for (_, mut daemon) in self.daemons.drain(..).rev() {
            // One that was lost has ended.
            let _ = daemon.kill();
            daemon.wait()?;
        }
        // Jobs and those that watch over them, and what slurmctld has started.
        kill(&with_environment(&[self.mark()]))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            eprintln!("not everything of the cluster has ended: {error:#}");
        }
    }
}

/// MUNGE takes no key that others may read.
#[cfg(unix)]
fn only_for_its_owner(key: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::set_permissions(key, fs::Permissions::from_mode(0o400))?)
}

/// Slurm is for Unix.
#[cfg(not(unix))]
fn only_for_its_owner(key: &Path) -> Result<()> {
    bail!("{}: Slurm needs the permissions of Unix", key.display())
}

/// Ports that nobody uses now: of slurmctld and of both nodes.
fn free_ports() -> Result<[u16; 3]> {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0"));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(listeners) {
        *port = listener?.local_addr()?.port();
    }
    Ok(ports)
}

/// slurm.conf. A node that does not answer for ten seconds is down, and its jobs wait a quarter of a minute; clusters give both minutes.
fn configuration(folder: &Path, host: &str, user: &str, [controller, first, second]: [u16; 3]) -> Result<String> {
    let at = folder.to_str().context("the temporary folder is not UTF-8")?;
    ensure!(!at.contains(char::is_whitespace), "{at}: slurm.conf takes no folder with blanks; set TMPDIR");
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
