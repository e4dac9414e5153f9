//! Kernels of an experiment, and their arrivals.

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

/// Latest arrival in core cycles, about a second of GPU time (assumption: a later one is a typing
/// error).
pub const LATEST_ARRIVAL: u64 = 1_000_000_000;

/// One kernel of an experiment.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Name as the user typed it.
    pub name: String,
    /// Trace that the kernel executes: all of it, or its first TBs if there is a `source`.
    pub trace: Arc<KernelTrace>,
    /// Source of the TBs that the trace lacks.
    pub source: Option<Arc<dyn TraceSource>>,
    /// Launches after the first, each launched when its predecessor has completed.
    pub then: Vec<Arc<KernelTrace>>,
    /// Range of device memory in sectors, from the first to one past the last.
    pub span: Range<u64>,
    /// Core cycle at which the kernel is launched.
    pub arrival_cycle: u64,
    /// Priority, 0 the lowest: its TBs are issued first, and the firmware may preempt others for
    /// it.
    pub priority: u8,
    /// Latency limit for its placement, in core cycles from the cycle in which its TBs may issue; 0
    /// for no limit. A kernel with a limit runs once.
    pub latency_limit: u32,
    /// CUDA stream; launches on one stream run one after the other.
    pub stream: u32,
    /// Offset added to every sector of the trace; see [`place`].
    pub sector_offset: u64,
    /// Fingerprint of the kernel's definition, or of a recorded trace.
    pub hash: String,
    /// Whether the workload is a trace in place of a kernel ([`super::recorded`]), with its
    /// recorded addresses.
    pub is_trace: bool,
    /// Sectors that the program of a kernel list had copied to the device by the launch, or by the
    /// last of several, in list order. `None` if copies are unknown.
    pub copies: Option<Arc<[Range<u64>]>>,
    /// Live registers at the points where its warps may be switched; `None` for recorded traces.
    pub live: Option<Liveness>,
}

/// Sectors per allocation granule: 2 MiB, as CUDA places large buffers (assumption).
const GRANULE_SECTORS: u64 = (2 << 20) / SECTOR_BYTES;

/// Places the buffers of separately traced kernels one after the other in device memory. Every
/// kernel is traced from the same first address, so unplaced kernels would share cache lines.
/// Recorded traces may have any addresses.
pub fn place(workloads: &mut [Workload]) {
    place_for(workloads, &Options::new(End::Done));
}

/// Places buffers for runs with these options. With `share_memory`, traces keep their addresses and
/// share data at equal ones; kernels executed here follow them.
pub fn place_for(workloads: &mut [Workload], &Options { share_memory, warm_l2, .. }: &Options) {
    // Data that was copied to the device occupies the L2 even if it is not accessed.
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
        // Whole granules, so that a buffer keeps its offset within one.
        let extent = extent(workload);
        let span = extent.start - extent.start % GRANULE_SECTORS..extent.end;
        let start = *next.get_or_insert(span.start);
        // A range beyond the start need not move, and nothing else occupies it.
        workload.sector_offset = start.saturating_sub(span.start);
        next = Some((workload.sector_offset + span.end).next_multiple_of(GRANULE_SECTORS));
    }
}

/// Checks that the L2 can be warmed for these kernels: each trace must list its copies to the
/// device, and there must be some.
///
/// # Errors
/// The missing information.
pub fn check_copies<'w>(workloads: impl Iterator<Item = &'w Workload>) -> Result<(), String> {
    let mut any = false;
    for workload in workloads {
        match &workload.copies {
            Some(copies) => any |= !copies.is_empty(),
            None if workload.is_trace => {
                let why = "a converted trace does not record copies to the device; use the kernel list (kernelslist.g)";
                return Err(format!("{}: {why}", workload.name));
            }
            None => {}
        }
    }
    if any { Ok(()) } else { Err("no kernel is a trace with a copy to the device (MemcpyHtoD) in its list".into()) }
}

/// Recorded trace with derived properties.
#[derive(Clone, Debug)]
pub struct Known {
    /// Recorded trace.
    pub trace: Arc<KernelTrace>,
    /// Fingerprint of the trace.
    pub hash: String,
    /// Range of device memory in sectors, from the first to one past the last.
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
    /// Creates a kernel that arrives at cycle 0 on `stream`.
    pub fn new(name: &str, trace: Arc<KernelTrace>, stream: u32) -> Self {
        Workload::of(name, trace.into(), stream)
    }

    /// Creates a kernel that arrives at cycle 0 on `stream`, from derived properties.
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

    /// Creates a kernel of several launches, in order; at least one. They share one address range.
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

    /// Returns a nonzero number that identifies the kernel to the firmware. Kernels that execute
    /// the same code on the same input have the same number.
    pub fn identity(&self) -> u32 {
        let mut hasher = Fnv::default();
        hasher.write(self.hash.as_bytes());
        let hash = hasher.finish();
        ((hash >> 32) as u32 ^ hash as u32).max(1)
    }

    /// Returns whether the kernel has a priority or a latency limit.
    pub fn is_urgent(&self) -> bool {
        self.priority != 0 || self.latency_limit != 0
    }

    /// Returns whether the kernel is placed before others and outside of quotas under this
    /// transition. Without preemption, a priority has no effect on quotas.
    pub fn is_beside_quotas(&self, transition: Transition) -> bool {
        self.priority != 0 && transition.preempts()
    }

    /// Returns the kernel for an isolated run, without priority. With a limit it runs once there,
    /// too.
    pub fn alone(&self, arrival_cycle: u64) -> Self {
        // The value of the limit does not affect an isolated run.
        Workload { arrival_cycle, priority: 0, latency_limit: self.latency_limit.min(1), ..self.clone() }
    }

    /// Returns the launches, in order.
    pub fn launches(&self) -> impl Iterator<Item = &Arc<KernelTrace>> {
        std::iter::once(&self.trace).chain(&self.then)
    }

    /// Creates a kernel that is executed here on demand. It arrives at cycle 0 on stream 0.
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

    /// Returns the live registers of a thread where its warps may be switched, for each launch, as
    /// far as known.
    pub fn live_registers(&self) -> Vec<Option<u32>> {
        self.live.iter().map(|live| Some(live.registers())).collect()
    }
}

/// Recorded launches of a program.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Name of the trace: that of the folder of its kernel list.
    pub name: String,
    /// Launches in order. The first of a list has the program's copies to the device.
    pub workloads: Vec<Workload>,
    /// Sizes in bytes of the trace file, if it came from one.
    pub sizes: Option<Sizes>,
}

/// Reasons why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceReadError {
    /// Error in a kernel list, or in a file of unknown format.
    #[error(transparent)]
    List(#[from] ReadError),
    /// Error in a trace file of this project.
    #[error(transparent)]
    File(#[from] TraceFileError),
}

/// Reads the launches of an Accel-Sim kernel list or of a trace file, distinguished by the file's
/// signature. Those of a list are taken from `cache` if present. Unsupported records, now or at
/// conversion, are counted in `warnings`.
///
/// # Errors
/// [`TraceReadError`] with the file, and the line or section where there is one.
pub fn read_trace(path: &Path, cache: &Cache, warnings: &mut Warnings) -> Result<Recorded, TraceReadError> {
    // The next attempt to open the file reports its error.
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

/// Returns the name of the folder that holds a file.
pub fn folder_name(file: &Path) -> String {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    absolute.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads the launches of an Accel-Sim kernel list, in order; its streams are numbered as they
/// appear. Cached launches are not read again. Unsupported records are counted in `warnings`.
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

/// Reads the launches of an Accel-Sim kernel list as [`read_list`] does, without fingerprints and
/// addresses. Only headers are read. Each launch has a source that reads the rest when it starts.
///
/// # Errors
/// As [`read_list`], for headers.
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
        // Headers guarantee nonempty grids and blocks.
        let Ok(no_tb) = TraceBuilder::new(info) else { continue };
        let known = Known { trace: Arc::new(no_tb.so_far()), hash: String::new(), span: 0..0 };
        workloads.push(Workload { source: Some(launches.source(at)), ..Workload::of(&name, known, stream) });
    }
    if let Some(first) = workloads.first_mut() {
        first.copies = Some(copies(&list, list.kernels().count()));
    }
    Ok((workloads, launches))
}

/// Returns the number of a stream, in order of appearance.
fn number(streams: &mut Vec<StreamId>, stream: StreamId) -> u32 {
    let known = streams.iter().position(|&known| known == stream);
    known.unwrap_or_else(|| {
        streams.push(stream);
        streams.len() - 1
    }) as u32
}

/// Reads the launches of a list in order, up to the first that cannot be read. Several are read in
/// parallel, each with its share of the threads.
fn read_kernels(list: &List, cache: &Cache) -> Vec<Result<Listed, ReadError>> {
    let paths: Vec<&Path> = list.kernels().collect();
    let (threads, failed) = (rayon::current_num_threads().div_ceil(paths.len().max(1)), AtomicUsize::new(usize::MAX));
    let read = |(at, path): (usize, &&Path)| {
        // Launches before a failure are still read: the first failure is reported.
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

/// Returns the sectors that a list's program had copied to the device before its `launch`-th
/// launch, counted from 1.
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
