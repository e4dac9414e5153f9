//! The kernels of an experiment, and when they arrive.

use super::gpu_runner::{End, Options};
use super::transition::Transition;
use mias_trace::accelsim::{self, Command, List, ReadError, StreamId, Warnings};
use mias_trace::fingerprint::{self, Fnv};
use mias_trace::trace_file::{self, Sizes, TraceFileError};
use mias_warp_trace::{KernelTrace, SECTOR_BYTES, TraceBuilder, TraceSource};
use mias_workloads::launches::Launches;
use mias_workloads::liveness::Liveness;
use mias_workloads::span::hull;
use mias_workloads::trace_store::{Cache, Listed, Traced};
use rayon::prelude::*;
use std::hash::Hasher;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Latest arrival in core cycles, about a second of the GPU's time (assumption: a later one is a slip of the finger).
pub const LATEST_ARRIVAL: u64 = 1_000_000_000;

/// One kernel of an experiment.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Name as the user typed it.
    pub name: String,
    /// What it executes: all of it, or its first TBs if there is a `source`.
    pub trace: Arc<KernelTrace>,
    /// Where the TBs come from that the trace has not.
    pub source: Option<Arc<dyn TraceSource>>,
    /// Of a kernel of several launches: those after the first, each launched when the one before has completed.
    pub then: Vec<Arc<KernelTrace>>,
    /// Sectors of device memory from its first to one past its last.
    pub span: Range<u64>,
    /// Core cycle at which it is launched.
    pub arrival_cycle: u64,
    /// Priority, 0 the lowest: SMs make room for it if the firmware preempts, and its TBs go first.
    pub priority: u8,
    /// Core cycles from the moment at which its TBs may issue until it is to have its room; 0: no limit. A kernel with a limit runs once.
    pub latency_limit: u32,
    /// CUDA stream; launches on one stream run one after the other.
    pub stream: u32,
    /// Added to every sector of the trace; see [`place`].
    pub sector_offset: u64,
    /// Fingerprint: of what a kernel is made of, or of a trace that was recorded elsewhere.
    pub hash: String,
    /// It is a trace that stands for a kernel ([`super::recorded`]), and has the addresses that it was recorded with.
    pub is_trace: bool,
    /// Of a trace in a kernel list: sectors that its program had copied to the device by the launch, or by the last of them, in the order of
    /// the list. None where nothing is known of copies.
    pub copies: Option<Arc<[Range<u64>]>>,
    /// Registers that are live where its warps may be switched; none of what was recorded elsewhere.
    pub live: Option<Liveness>,
}

/// Sectors per allocation granule: 2 MiB, as CUDA places large buffers (assumption).
const GRANULE_SECTORS: u64 = (2 << 20) / SECTOR_BYTES;

/// Lays the buffers of kernels that were traced apart one after the other in device memory. Every kernel is traced from the
/// same first address; run together like that, two kernels would share cache lines. Traces that were recorded elsewhere may lie anywhere.
pub fn place(workloads: &mut [Workload]) {
    place_for(workloads, &Options::new(End::Done));
}

/// The same for runs with these options. With `share_memory` traces stay where they are, and share what lies at the same addresses; kernels
/// that are executed here lie behind them.
pub fn place_for(workloads: &mut [Workload], &Options { share_memory, warm_l2, .. }: &Options) {
    // What was copied to the device and is not accessed lies in the L2 all the same.
    let extent = |workload: &Workload| {
        let copies = workload.copies.iter().filter(|_| warm_l2).flat_map(|copies| copies.iter());
        copies.cloned().chain([workload.span.clone()]).reduce(hull).unwrap_or_default()
    };
    let stays = |workload: &Workload| share_memory && workload.is_trace;
    let mut next =
        workloads.iter().filter(|workload| stays(workload)).map(|workload| extent(workload).end.next_multiple_of(GRANULE_SECTORS)).max();
    for workload in workloads {
        if stays(workload) {
            workload.sector_offset = 0;
            continue;
        }
        // Whole granules, so that a buffer keeps its place within one.
        let extent = extent(workload);
        let span = extent.start - extent.start % GRANULE_SECTORS..extent.end;
        let start = *next.get_or_insert(span.start);
        // What lies beyond the start already need not move, and nothing lies there.
        workload.sector_offset = start.saturating_sub(span.start);
        next = Some((workload.sector_offset + span.end).next_multiple_of(GRANULE_SECTORS));
    }
}

/// Whether the L2 can be warmed with what these kernels' programs copied to the device: each trace must say what that was, and there must be
/// something.
///
/// # Errors
/// What is missing.
pub fn check_copies<'w>(workloads: impl Iterator<Item = &'w Workload>) -> Result<(), String> {
    let mut any = false;
    for workload in workloads {
        match &workload.copies {
            Some(copies) => any |= !copies.is_empty(),
            None if workload.is_trace => {
                let why = "a converted trace does not say what was copied to the device; name the kernel list (kernelslist.g)";
                return Err(format!("{}: {why}", workload.name));
            }
            None => {}
        }
    }
    if any { Ok(()) } else { Err("no kernel is a trace whose list has a copy to the device (MemcpyHtoD)".into()) }
}

/// A trace that was recorded elsewhere, with what is derived from it.
#[derive(Clone, Debug)]
pub struct Known {
    /// What it executes.
    pub trace: Arc<KernelTrace>,
    /// Its fingerprint.
    pub hash: String,
    /// Sectors of device memory from its first to one past its last.
    pub span: Range<u64>,
}

impl From<Arc<KernelTrace>> for Known {
    fn from(trace: Arc<KernelTrace>) -> Self {
        Known { hash: fingerprint::kernel(&trace), span: trace.sector_span(), trace }
    }
}

impl From<Listed> for Known {
    fn from(Listed { trace, hash, span, .. }: Listed) -> Self {
        Known { trace, hash, span }
    }
}

impl Workload {
    /// A kernel that arrives at cycle 0 on `stream`.
    pub fn new(name: &str, trace: Arc<KernelTrace>, stream: u32) -> Self {
        Workload::of(name, trace.into(), stream)
    }

    /// The same.
    fn of(name: &str, Known { trace, hash, span }: Known, stream: u32) -> Self {
        Workload {
            name: name.to_owned(),
            hash,
            trace,
            source: None,
            then: Vec::new(),
            span,
            arrival_cycle: 0,
            priority: 0,
            latency_limit: 0,
            stream,
            sector_offset: 0,
            is_trace: false,
            copies: None,
            live: None,
        }
    }

    /// A kernel of several launches, in order; at least one. They have one range of addresses, which they share.
    pub fn in_turn(name: &str, launches: Vec<Known>) -> Option<Self> {
        let mut launches = launches.into_iter();
        let first = Workload::of(name, launches.next()?, 0);
        if launches.len() == 0 {
            return Some(first);
        }
        let mut hasher = Fnv::default();
        hasher.write(first.hash.as_bytes());
        let (mut span, mut then) = (first.span.clone(), Vec::with_capacity(launches.len()));
        for launch in launches {
            hasher.write(launch.hash.as_bytes());
            span = hull(span, launch.span);
            then.push(launch.trace);
        }
        Some(Workload { hash: fingerprint::hex(hasher), then, span, ..first })
    }

    /// Which kernel it is, as the firmware sees it: kernels that execute the same code on the same input have the same number, which is not 0.
    pub fn identity(&self) -> u32 {
        let mut hasher = Fnv::default();
        hasher.write(self.hash.as_bytes());
        let hash = hasher.finish();
        ((hash >> 32) as u32 ^ hash as u32).max(1)
    }

    /// Whether it is before others, or to have its room by a time.
    pub fn is_urgent(&self) -> bool {
        self.priority != 0 || self.latency_limit != 0
    }

    /// Whether it has its room before others and takes no part in quotas, under this transition: where nobody is preempted a priority means nothing.
    pub fn is_beside_quotas(&self, transition: Transition) -> bool {
        self.priority != 0 && transition.preempts()
    }

    /// The same kernel for a run alone, in which nobody is before anybody. With a limit it runs once there, too.
    pub fn alone(&self, arrival_cycle: u64) -> Self {
        // Whatever the limit: the run is the same.
        Workload { arrival_cycle, priority: 0, latency_limit: self.latency_limit.min(1), ..self.clone() }
    }

    /// What is launched, in order.
    pub fn launches(&self) -> impl Iterator<Item = &Arc<KernelTrace>> {
        std::iter::once(&self.trace).chain(&self.then)
    }

    /// A kernel that is executed here, as far as that is needed. It arrives at cycle 0 on stream 0.
    pub fn executed(name: &str, traced: Traced) -> Self {
        let Traced { trace, source, key, span, live, .. } = traced;
        Workload {
            name: name.to_owned(),
            hash: key,
            trace,
            source,
            then: Vec::new(),
            span,
            arrival_cycle: 0,
            priority: 0,
            latency_limit: 0,
            stream: 0,
            sector_offset: 0,
            is_trace: false,
            copies: None,
            live: Some(live),
        }
    }

    /// Registers of a thread that are live where its warps may be switched, of each of its launches, as far as it is known.
    pub fn live_registers(&self) -> Vec<Option<u32>> {
        self.live.iter().map(|live| Some(live.registers())).collect()
    }
}

/// The launches of a program, as recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Name of the trace: that of the folder of its kernel list.
    pub name: String,
    /// The launches, in order. The first of a list has what the program copied to the device.
    pub workloads: Vec<Workload>,
    /// Bytes of the trace file, if it came from one.
    pub sizes: Option<Sizes>,
}

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceReadError {
    /// It is a kernel list, or nothing we know.
    #[error(transparent)]
    List(#[from] ReadError),
    /// It is a trace file of ours.
    #[error(transparent)]
    File(#[from] TraceFileError),
}

/// The launches of an Accel-Sim kernel list or of our own trace file, told apart by how the file begins. Those of a list are taken from
/// `cache` if they are there. What could be read but not understood, now or when the file was made, is counted in `warnings`.
///
/// # Errors
/// [`TraceReadError`] with the file, and the line or section where there is one.
pub fn read_trace(path: &Path, cache: &Cache, warnings: &mut Warnings) -> Result<Recorded, TraceReadError> {
    // A file that cannot be opened is told by who opens it next.
    if !trace_file::is_trace_file(path).unwrap_or(false) {
        return Ok(Recorded { name: folder_name(path), workloads: read_list(path, cache, warnings)?, sizes: None });
    }
    let (file, sizes) = trace_file::read(path)?;
    warnings.add(&file.warnings);
    let workload = |launch: trace_file::Launch| {
        let name = launch.trace.info().name.clone();
        Workload::new(&name, launch.trace, launch.stream)
    };
    Ok(Recorded { name: file.name, workloads: file.launches.into_iter().map(workload).collect(), sizes: Some(sizes) })
}

/// Name of the folder that holds a file.
pub fn folder_name(file: &Path) -> String {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    absolute.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The launches of an Accel-Sim kernel list, in order; its streams are numbered as they appear. Those that `cache` has are not read again.
/// What could be read but not understood is counted in `warnings`.
///
/// # Errors
/// [`ReadError`] with the file, and the line where there is one.
pub fn read_list(list: &Path, cache: &Cache, warnings: &mut Warnings) -> Result<Vec<Workload>, ReadError> {
    let mut streams: Vec<StreamId> = Vec::new();
    let mut workloads: Vec<Workload> = Vec::new();
    let list = accelsim::read_list(list)?;
    for launch in read_kernels(&list, cache) {
        let launch = launch?;
        warnings.add(&launch.warnings);
        let stream = number(&mut streams, launch.stream);
        let name = launch.trace.info().name.clone();
        workloads.push(Workload::of(&name, launch.into(), stream));
    }
    if let Some(first) = workloads.first_mut() {
        first.copies = Some(copies(&list, list.kernels().count()));
    }
    Ok(workloads)
}

/// The launches of an Accel-Sim kernel list as [`read_list`] has them, but for fingerprints and addresses, each with a source that reads it
/// when it is its turn. Only headers are read.
///
/// # Errors
/// As [`read_list`], as far as headers go.
pub fn replay_list(list: &Path, cache: &Arc<Cache>, budget_bytes: u64) -> Result<(Vec<Workload>, Arc<Launches>), ReadError> {
    let list = accelsim::read_list(list)?;
    let mut streams: Vec<StreamId> = Vec::new();
    let headers = list.kernels().map(accelsim::read_header).collect::<Result<Vec<_>, _>>()?;
    let numbers: Vec<u32> = headers.iter().map(|&(_, stream)| number(&mut streams, stream)).collect();
    let (paths, threads) = (list.kernels().map(Path::to_owned).collect(), rayon::current_num_threads());
    let launches = Launches::new(paths, streams.len(), cache.clone(), budget_bytes, threads);
    let mut workloads: Vec<Workload> = Vec::new();
    for (at, ((info, _), stream)) in headers.into_iter().zip(numbers).enumerate() {
        let name = info.name.clone();
        // The header's grid and block have elements.
        let Ok(no_tb) = TraceBuilder::new(info) else { continue };
        let known = Known { trace: Arc::new(no_tb.so_far()), hash: String::new(), span: 0..0 };
        workloads.push(Workload { source: Some(launches.source(at)), ..Workload::of(&name, known, stream) });
    }
    if let Some(first) = workloads.first_mut() {
        first.copies = Some(copies(&list, list.kernels().count()));
    }
    Ok((workloads, launches))
}

/// The number of a stream: they are numbered as they appear.
fn number(streams: &mut Vec<StreamId>, stream: StreamId) -> u32 {
    let known = streams.iter().position(|&known| known == stream);
    known.unwrap_or_else(|| {
        streams.push(stream);
        streams.len() - 1
    }) as u32
}

/// The launches of a list in order, up to the first that cannot be read. Several are read at a time, each by its share of the threads.
fn read_kernels(list: &List, cache: &Cache) -> Vec<Result<Listed, ReadError>> {
    let paths: Vec<&Path> = list.kernels().collect();
    let (threads, failed) = (rayon::current_num_threads().div_ceil(paths.len().max(1)), AtomicUsize::new(usize::MAX));
    let read = |(at, path): (usize, &&Path)| {
        // What comes before a failure is read all the same: the first is told.
        if failed.load(Relaxed) < at {
            return None;
        }
        let launch = cache.listed(path, threads);
        if launch.is_err() {
            failed.fetch_min(at, Relaxed);
        }
        Some(launch)
    };
    let read: Vec<_> = paths.par_iter().enumerate().map(read).collect();
    read.into_iter().map_while(|launch| launch).collect()
}

/// Sectors that a list's program had copied to the device before its `launch`-th launch, counted from 1.
pub(super) fn copies(list: &List, launch: usize) -> Arc<[Range<u64>]> {
    let mut launches = 0;
    let before = list.commands.iter().take_while(|command| {
        launches += usize::from(matches!(command, Command::Kernel(_)));
        launches < launch
    });
    let sectors = before.filter_map(|command| match command {
        Command::CopyToDevice { address, bytes } => Some(address / SECTOR_BYTES..(address + bytes).div_ceil(SECTOR_BYTES)),
        Command::Kernel(_) => None,
    });
    sectors.filter(|sectors| !sectors.is_empty()).collect()
}
