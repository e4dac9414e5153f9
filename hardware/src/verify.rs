//! `mias-gpu verify`: whether the GPU computes what the host does, and the slot form what the original does.

use crate::device::Loaded;
use crate::driver::Event;
use crate::fit;
use crate::kernel::Kernel;
use crate::run::{Plan, Runner};

/// What came out for a kernel.
#[derive(Debug)]
pub struct Verdict {
    /// A line for people.
    pub line: String,
    /// Whether everything agrees.
    pub agrees: bool,
}

/// Runs the original in its own grid and the slot form once over the same grid, with as many TBs on each SM as fit, and compares all buffers. The
/// kernel then has the original's results where the host reference looks for them.
///
/// # Errors
/// What the driver says; after that nothing more can run.
pub fn compare(runner: &Runner<'_>, loaded: &Loaded, events: &[Event; 2]) -> Result<Verdict, String> {
    let (kernel, need) = (&loaded.kernel, loaded.need);
    let microseconds = runner.original(loaded, events)?;
    let original = loaded.results()?;
    let mut wrong = Vec::new();
    let most = fit::configurations(&[need], fit::Which::All).last().map_or(0, |counts| counts[0]);
    let [_, percent] = fit::carve_out(&[need], &[most], 0);
    loaded.slot.set_carve_out(percent)?;
    let driver = loaded.slot.occupancy(need.threads, kernel.prepared.instance.launch.shared_bytes)?;
    if driver != most {
        wrong.push(format!("{most} TBs fit on an SM by our arithmetic, {driver} as the driver says"));
    }
    // Long enough for any kernel, and no overflow when it is compared.
    let plan =
        Plan { kernels: vec![loaded], counts: vec![most.max(1)], window: u64::MAX >> 1, warm_up: 0, one_pass: true, ..Plan::default() };
    let ran = runner.run(&plan)?;
    if !ran.is_complete() {
        wrong.push(format!("{} of {} TBs were in place", ran.outcome.arrived, ran.expected));
    }
    let done: u64 = ran.outcome.slots[0].iter().map(|slot| u64::from(slot.count)).sum();
    // What ends after the first slot has found the grid empty is executed, but not counted.
    if done > u64::from(kernel.tbs()) {
        wrong.push(format!("{done} TBs were counted, the grid has {}", kernel.tbs()));
    }
    let slots = loaded.slot_results()?;
    let first = original.iter().zip(&slots).position(|(a, b)| a != b);
    if let Some(at) = first {
        let differ = original.iter().zip(&slots).filter(|(a, b)| a != b).count();
        wrong.push(format!("{differ} bytes differ between the original and the slot form, the first in {}", place(loaded, at as u64)));
    }
    loaded.kernel.take_results(&original)?;
    let said = if wrong.is_empty() { "the slot form leaves the same bytes".to_owned() } else { wrong.join("; ") };
    let [slot_local, local] = loaded.local;
    let line = format!(
        "{}: {said}; registers {} -> {}, local bytes {local} -> {slot_local}, shared {} bytes, {most} TBs per SM ({} top-ups); {microseconds:.1} us",
        kernel.word, loaded.registers, need.registers, need.shared, ran.top_ups
    );
    Ok(Verdict { line, agrees: wrong.is_empty() })
}

/// The buffer that a byte of the arena is in.
fn place(loaded: &Loaded, at: u64) -> String {
    let address = loaded.kernel.arena.start + at;
    let regions = &loaded.kernel.prepared.instance.regions;
    let found = regions.iter().find(|region| (region.address..region.address + region.bytes).contains(&address));
    found.map_or_else(|| format!("byte {at}"), |region| format!("`{}`, byte {}", region.name, address - region.address))
}

/// What the host reference says of the results that [`compare`] left, a thread for each kernel, since some take seconds.
pub fn references(kernels: &[&Kernel]) -> Vec<Verdict> {
    let check = |kernel: &Kernel| {
        let (word, instance) = (&kernel.word, &kernel.prepared.instance);
        if instance.expected.is_none() {
            return Verdict { line: format!("{word}: there is no host reference"), agrees: true };
        }
        match (instance.check_results(word), instance.quality()) {
            (Ok(()), Some(quality)) => Verdict { line: format!("{word}: as the host computes it; {quality}"), agrees: true },
            (Ok(()), None) => Verdict { line: format!("{word}: as the host computes it"), agrees: true },
            (Err(mismatch), _) => Verdict { line: mismatch.to_string(), agrees: false },
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = kernels.iter().map(|&kernel| scope.spawn(move || check(kernel))).collect();
        let gone = |_| Verdict { line: "the host reference panicked".into(), agrees: false };
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(gone)).collect()
    })
}
