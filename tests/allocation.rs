//! The cycle loop does not allocate: a counting allocator observes it after the first TBs have been
//! issued.
//!
//! A launch allocates a kernel's tables, and the first cycles may allocate while queues reach their
//! size. The test measures the rest of the run: TBs start and end, caches fill, DRAM is busy, and
//! the firmware is called.

use mias_hw_model::gpu::{Gpu, Launch, RunEnd};
use mias_hw_model::register_block::{RegisterBlock, Straps};
use mias_lab::experiment::workload::{self, Workload};
use mias_lab::gpus;
use mias_policies::Firmware;
use mias_registers::PolicyCode;
use mias_trace::accelsim::Warnings;
use mias_workloads::trace_store::Cache;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;

thread_local! {
    /// Allocations of this thread, reallocations included. Tests run in threads of their own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // The thread may be ending without its variables. Its allocations then no longer matter.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator unchanged. Counting touches only a
// thread's own cell, which needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: guaranteed by the caller.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Returns the allocations from cycle `warm` to the end of all launches, and that cycle. It
/// excludes those that start threads, if there are several (`cargo xtask threads`).
fn allocations_after(warm: u64, workloads: &[Workload]) -> (u64, u64) {
    let gpu = gpus::load("rtx2060-accelsim").expect("built in");
    let mut gpu = Gpu::new(&gpu, Straps::new(PolicyCode::LeftOver));
    let mut firmware: Firmware = Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map");
    let mut scheduler = |registers: &mut RegisterBlock| {
        firmware.on_interrupt(registers);
    };
    for Workload { trace, arrival_cycle, stream, sector_offset, .. } in workloads {
        let (trace, arrival_cycle, stream, sector_offset) = (trace.clone(), *arrival_cycle, *stream, *sector_offset);
        gpu.launch(Launch { arrival_cycle, stream, sector_offset, ..Launch::new(trace) }).expect("fits");
    }
    assert_eq!(gpu.run(&mut scheduler, warm), RunEnd::CycleLimit, "still running");
    let mut started = 0;
    if std::env::var_os("MIAS_THREADS").is_some() {
        // A first call allocates the fixed state of threads. Every call, short or long, starts
        // threads, so these allocations are subtracted.
        for until in [warm + SHORT, warm + 2 * SHORT] {
            let before = allocations();
            assert_eq!(gpu.run(&mut scheduler, until), RunEnd::CycleLimit, "still running");
            started = allocations() - before;
        }
    }
    let before = allocations();
    assert_eq!(gpu.run(&mut scheduler, 10_000_000), RunEnd::AllComplete);
    (allocations() - before - started, gpu.cycle())
}

fn traced(list: &str) -> Vec<Workload> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference");
    let mut warnings = Warnings::new();
    let workloads = workload::read_list(&folder.join(list), &Cache::off(), &mut warnings).unwrap_or_else(|error| panic!("{list}: {error}"));
    assert!(warnings.is_empty(), "{list}: {warnings}");
    workloads
}

/// Launch latency, and as long again for queues to reach their size.
const WARM: u64 = 10_000;

/// Cycles in which several threads have started.
const SHORT: u64 = 500;

#[test]
fn memory_bound_loop_allocates_nothing() {
    let (count, cycles) = allocations_after(WARM, &traced("mem/kernelslist.g"));
    assert!(cycles > 2 * WARM, "{cycles} cycles leave nothing to measure");
    assert_eq!(count, 0, "allocations in {} cycles", cycles - WARM);
}

#[test]
fn shared_memory_loop_allocates_nothing() {
    let (count, cycles) = allocations_after(WARM, &traced("shm/kernelslist.g"));
    assert!(cycles > 2 * WARM, "{cycles} cycles leave nothing to measure");
    assert_eq!(count, 0, "allocations in {} cycles", cycles - WARM);
}

/// Two kernels that share SMs; the second continues when the first has ended.
#[test]
fn the_loop_of_two_kernels_allocates_nothing() {
    let workloads = traced("corun/comp60_mem/kernelslist.g");
    assert_eq!(workloads.len(), 2);
    let (count, cycles) = allocations_after(WARM, &workloads);
    assert_eq!(count, 0, "allocations in {} cycles", cycles - WARM);
}

/// The allocator counts: a vector is one allocation, a GPU is many.
#[test]
fn the_allocator_counts() {
    let before = allocations();
    let held: Vec<u64> = Vec::with_capacity(std::hint::black_box(100));
    assert_eq!(allocations(), before + 1);
    drop(held);
    let before = allocations();
    drop(Gpu::new(&gpus::load("rtx2060-accelsim").expect("built in"), Straps::new(PolicyCode::LeftOver)));
    assert!(allocations() > before + 100, "a GPU is many queues");
}
