//! `mias-gpu verify`: comparison of the GPU's results with the host's, and of the slot form's with
//! the original's.

use crate::device::Loaded;
use crate::driver::Event;
use crate::fit;
use crate::kernel::Kernel;
use crate::run::{Plan, Runner};

/// Result of a comparison for a kernel.
#[derive(Debug)]
pub struct Verdict {
    /// Line for the user.
    pub line: String,
    /// Whether all results agree.
    pub agrees: bool,
}

/// Compares the results of the original and of the slot form.
///
/// It compares all buffers after the original in its own grid and after one pass of the slot form
/// over the same grid. Each SM has as many TBs as fit. The kernel then has the original's results
/// where the host reference checks them.
///
/// # Errors
/// The driver's error; after that no further run is possible.
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
        wrong.push(format!("{most} TBs fit on an SM as computed here, {driver} according to the driver"));
    }
    // Long enough for any kernel, without an overflow in comparisons.
    let plan =
        Plan { kernels: vec![loaded], counts: vec![most.max(1)], window: u64::MAX >> 1, warm_up: 0, one_pass: true, ..Plan::default() };
    let ran = runner.run(&plan)?;
    if !ran.is_complete() {
        wrong.push(format!("{} of {} TBs were in place", ran.outcome.arrived, ran.expected));
    }
    let done: u64 = ran.outcome.slots[0].iter().map(|slot| u64::from(slot.count)).sum();
    // TBs that end after the first slot has found the grid empty are executed, but not counted.
    if done > u64::from(kernel.tbs()) {
        wrong.push(format!("{done} TBs counted, the grid has {}", kernel.tbs()));
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

/// Returns the buffer of a byte of the arena.
fn place(loaded: &Loaded, at: u64) -> String {
    let address = loaded.kernel.arena.start + at;
    let regions = &loaded.kernel.prepared.instance.regions;
    let found = regions.iter().find(|region| (region.address..region.address + region.bytes).contains(&address));
    found.map_or_else(|| format!("byte {at}"), |region| format!("`{}`, byte {}", region.name, address - region.address))
}

/// Checks the results that [`compare`] left against the host reference, with a thread for each
/// kernel, because some take seconds.
pub fn references(kernels: &[&Kernel]) -> Vec<Verdict> {
    let check = |kernel: &Kernel| {
        let (word, instance) = (&kernel.word, &kernel.prepared.instance);
        if instance.expected.is_none() {
            return Verdict { line: format!("{word}: no host reference"), agrees: true };
        }
        match (instance.check_results(word), instance.quality()) {
            (Ok(()), Some(quality)) => Verdict { line: format!("{word}: equal to the host reference; {quality}"), agrees: true },
            (Ok(()), None) => Verdict { line: format!("{word}: equal to the host reference"), agrees: true },
            (Err(mismatch), _) => Verdict { line: mismatch.to_string(), agrees: false },
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = kernels.iter().map(|&kernel| scope.spawn(move || check(kernel))).collect();
        let gone = |_| Verdict { line: "the host reference panicked".into(), agrees: false };
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(gone)).collect()
    })
}
