//! One run: a number of TBs of each kernel on every SM, concurrently.
//!
//! Kernels are launched one after the other, each when the TBs of the earlier ones are in place.
//! The hardware issues the TBs of one grid before those of the next. A grid has as many TBs as must
//! stay. If the hardware puts too many on an SM, the surplus ones end at once and more are
//! launched, until every SM has its number. The counts therefore do not depend on the hardware's
//! placement. If kernels have separate SMs, no TB of the others stays there.

use crate::control::{self, Outcome};
use crate::device::Loaded;
use crate::driver::{Block, Gpu, Pinned, Stream, write};
use crate::fit::{self, Need};
use crate::holder::{Hold, Holder};
use crate::order::Order;
use crate::place::{self, Aid};
use crate::share::Share;
use crate::slot::ENDLESS;
use std::time::{Duration, Instant};

/// Time without all TBs after which more are launched. Assumption: a launch takes some ten
/// microseconds, the first of a kernel more.
const ARRIVAL: Duration = Duration::from_millis(2);
/// Most top-up launches.
const TOP_UPS: usize = 12;
/// Most launches of holders; after that the run continues without the missing ones.
const HOLDER_LAUNCHES: usize = 4;
/// TBs of each top-up launch, per SM.
const TOP_UP_TBS: u32 = 8;
/// Time that TBs wait for each other, in microseconds.
const PATIENCE_US: u64 = 2_000_000;
/// Time that a run may take beyond its window.
const DEADLINE: Duration = Duration::from_secs(3);

/// Plan of a run.
#[derive(Clone, Debug, Default)]
pub struct Plan<'a> {
    /// Kernels of the run, at most `control::KERNELS`.
    pub kernels: Vec<&'a Loaded>,
    /// TBs of each on every SM.
    pub counts: Vec<u32>,
    /// SM cycles from the start at which counting ends.
    pub window: u64,
    /// SM cycles from the start at which counting starts.
    pub warm_up: u64,
    /// Whether kernels end after one pass through their grid.
    pub one_pass: bool,
    /// Number of settings by which shared memory is larger than necessary.
    pub roomier: usize,
    /// Launch order of the kernels.
    pub order: Order,
    /// Separate SMs of the kernels, if they do not share SMs.
    pub share: Option<Share>,
    /// Placement aid for the TBs.
    pub aid: Aid,
}

impl Plan<'_> {
    /// Returns the shared memory of an SM for each kernel: KiB, and percent of the largest.
    ///
    /// It is the same for all kernels, because an SM that holds TBs of one setting accepts none of
    /// another. Kernels with separate SMs have their isolated setting.
    pub fn carve_outs(&self) -> Vec<[u32; 2]> {
        let (mut needs, order) = (self.needs(), self.order());
        let padding = place::padding(self.aid, &needs, &order);
        order.first().into_iter().for_each(|&first| needs[first].shared += padding);
        let together = fit::carve_out(&needs, &self.counts, self.roomier);
        let alone = |kernel: usize| fit::carve_out(&needs[kernel..=kernel], &self.counts[kernel..=kernel], self.roomier);
        (0..needs.len()).map(|kernel| if self.share.is_some() { alone(kernel) } else { together }).collect()
    }

    fn needs(&self) -> Vec<Need> {
        self.kernels.iter().map(|kernel| kernel.need).collect()
    }

    /// Returns the kernels in launch order.
    pub fn order(&self) -> Vec<usize> {
        self.order.of(&self.needs())
    }

    /// Returns the number of SMs with TBs of a kernel.
    pub fn sms(&self, number: usize, all: u32) -> u32 {
        self.share.as_ref().map_or(all, |share| share.count(number))
    }
}

/// Result of a finished run.
#[derive(Debug)]
pub struct Ran {
    /// Results of the slots.
    pub outcome: Outcome,
    /// Number of TBs that should have arrived.
    pub expected: u32,
    /// Number of launches beyond one per kernel.
    pub top_ups: usize,
    /// Present holders, and their intended number.
    pub held: [u32; 2],
}

impl Ran {
    /// Returns whether all TBs were in place and none gave up.
    pub fn is_complete(&self) -> bool {
        self.outcome.arrived == self.expected && !self.outcome.gave_up
    }
}

/// Streams and memory for runs.
#[derive(Debug)]
pub struct Runner<'g> {
    /// GPU of the runs.
    pub gpu: &'g Gpu,
    /// Stream for copies.
    pub copies: Stream,
    streams: Vec<Stream>,
    holders: Vec<Stream>,
    holder: Holder,
    control: Block,
    word: Pinned,
}

impl<'g> Runner<'g> {
    /// Allocates streams and memory.
    ///
    /// # Errors
    /// The driver's error.
    pub fn new(gpu: &'g Gpu) -> Result<Self, String> {
        if gpu.sms as usize > control::SMS {
            return Err(format!("the GPU has {} SMs; the maximum is {}", gpu.sms, control::SMS));
        }
        let streams = (0..control::KERNELS + TOP_UPS).map(|_| Stream::new()).collect::<Result<_, _>>()?;
        let holders = (0..HOLDER_LAUNCHES).map(|_| Stream::new()).collect::<Result<_, _>>()?;
        let (copies, holder) = (Stream::new()?, Holder::new()?);
        Ok(Runner { gpu, copies, streams, holders, holder, control: Block::new(control::BYTES)?, word: Pinned::new()? })
    }

    /// Runs a plan from initial memory.
    ///
    /// # Errors
    /// The driver's error, or a run that does not end. After either no further run is possible.
    pub fn run(&self, plan: &Plan<'_>) -> Result<Ran, String> {
        let carve_outs = plan.carve_outs();
        for (kernel, [_, percent]) in plan.kernels.iter().zip(&carve_outs) {
            kernel.slot.set_carve_out(*percent)?;
            kernel.restore(&self.copies)?;
        }
        self.control.clear(&self.copies)?;
        self.copies.wait()?;
        if let Some(share) = &plan.share {
            write(self.control.address() + control::TICKETS, &control::tickets(&plan.counts, &share.sms))?;
        }
        let (needs, order, all) = (plan.needs(), plan.order(), self.gpu.sms);
        let expected = (0..needs.len()).map(|number| plan.counts[number] * plan.sms(number, all)).sum();
        // Kernels that replace holders find the setting that they need.
        let percent = order.last().and_then(|&last| carve_outs.get(last)).map_or(100, |[_, percent]| *percent);
        let hold = place::hold(plan.aid, &needs, &plan.counts, &order, plan.share.as_ref(), percent, all);
        let held = hold.map_or(Ok([0, 0]), |hold| self.hold(&hold))?;
        let (mut there, mut top_ups) = (0, 0);
        'launches: for (turn, &number) in order.iter().enumerate() {
            let padding = if turn == 0 { place::padding(plan.aid, &needs, &order) } else { 0 };
            let launch = |tbs: u32, stream: usize| self.launch(plan, number, tbs, padding, expected, &self.streams[stream]);
            // While holders occupy the other SMs no TB is placed there.
            let wide = if turn == 0 && held[1] > 0 && held[0] >= held[1] { plan.sms(number, all) } else { all };
            launch(plan.counts[number] * wide, number)?;
            there += plan.counts[number] * plan.sms(number, all);
            while !self.arrives(0, there)? {
                if top_ups == TOP_UPS {
                    self.give_up()?;
                    break 'launches;
                }
                launch(TOP_UP_TBS * all, control::KERNELS + top_ups)?;
                top_ups += 1;
            }
            if turn == 0 && held[1] > 0 {
                self.let_go()?;
            }
        }
        let window = Duration::from_micros(plan.window.saturating_mul(1000) / u64::from(self.gpu.clock_khz.max(1))).min(DEADLINE);
        self.finish(Instant::now() + DEADLINE + 2 * window)?;
        let bytes = self.control.read(0, control::BYTES)?;
        Ok(Ran { outcome: Outcome::read(&bytes), expected, top_ups, held })
    }

    /// Launches holders; returns their number, and the intended one.
    fn hold(&self, hold: &Hold) -> Result<[u32; 2], String> {
        let wanted = (hold.sms.end - hold.sms.start) * hold.tbs;
        for stream in &self.holders {
            self.holder.launch(hold, self.gpu.sms, self.control.address(), self.gpu.cycles(PATIENCE_US), stream)?;
            if self.arrives(control::HELD, wanted)? {
                break;
            }
        }
        Ok([self.word.fetch(self.control.address() + control::HELD, &self.copies)?, wanted])
    }

    /// Releases the holders, and waits briefly, so that the next kernel finds the SMs empty.
    fn let_go(&self) -> Result<(), String> {
        self.word.put(self.control.address() + control::RELEASE, 1, &self.copies)?;
        let began = Instant::now();
        while !idle(&self.holders)? && began.elapsed() < ARRIVAL {}
        Ok(())
    }

    /// Launches `tbs` TBs of a kernel, each with `padding` bytes of additional shared memory.
    fn launch(&self, plan: &Plan<'_>, number: usize, tbs: u32, padding: u32, expected: u32, stream: &Stream) -> Result<(), String> {
        let loaded = plan.kernels[number];
        let (kernel, form) = (&loaded.kernel, &loaded.kernel.prepared.instance.launch);
        let end = match (plan.one_pass, kernel.passes()) {
            (true, _) => kernel.tbs(),
            (false, Some(passes)) => kernel.tbs().saturating_mul(passes),
            (false, None) => ENDLESS,
        };
        let word = |word: u32| word.to_le_bytes().to_vec();
        let double = |word: u64| word.to_le_bytes().to_vec();
        let [x, y, z] = form.grid;
        let mut arguments = loaded.slot_arguments.clone();
        arguments.push(double(self.control.address()));
        arguments.extend([x, y, z, kernel.tbs(), end, number as u32, plan.counts[number], expected].map(word));
        arguments.extend([plan.warm_up, plan.window, self.gpu.cycles(PATIENCE_US), loaded.stride].map(double));
        loaded.slot.launch([tbs, 1, 1], form.block, form.shared_bytes + padding, &arguments, stream)
    }

    /// Returns whether a counter of the control block reaches `tbs` in time.
    fn arrives(&self, word: u64, tbs: u32) -> Result<bool, String> {
        let began = Instant::now();
        loop {
            if self.word.fetch(self.control.address() + word, &self.copies)? >= tbs {
                return Ok(true);
            }
            if began.elapsed() > ARRIVAL {
                return Ok(false);
            }
        }
    }

    fn give_up(&self) -> Result<(), String> {
        self.word.put(self.control.address() + control::GIVE_UP, 1, &self.copies)
    }

    /// Waits until all streams are idle, with a deadline. After it all TBs are told to give up,
    /// with a short further wait.
    fn finish(&self, deadline: Instant) -> Result<(), String> {
        let mut told = false;
        while !(idle(&self.streams)? && idle(&self.holders)?) {
            let late = Instant::now().saturating_duration_since(deadline);
            if !late.is_zero() && !told {
                self.give_up()?;
                told = true;
            }
            if late > DEADLINE / 4 {
                let word = |at: u64| self.word.fetch(self.control.address() + at, &self.copies);
                let [arrived, gave_up, stopped] = [word(0)?, word(control::GIVE_UP)?, word(control::STOPPED)?];
                eprintln!(
                    "mias-gpu: a run ignored its deadline and the request to stop: {arrived} TBs arrived, gave up {gave_up}, stopped {stopped}"
                );
                // Exits, because freeing memory or a module would wait for the hanging kernel.
                std::process::exit(1);
            }
            std::thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }

    /// Runs the original entry in its own grid, from initial memory, and returns the microseconds
    /// between events around it.
    ///
    /// # Errors
    /// The driver's error, or a run that does not end.
    pub fn original(&self, loaded: &Loaded, events: &[crate::driver::Event; 2]) -> Result<f64, String> {
        let (form, stream) = (&loaded.kernel.prepared.instance.launch, &self.streams[0]);
        loaded.restore(&self.copies)?;
        self.copies.wait()?;
        events[0].record(stream)?;
        loaded.original.launch(form.grid, form.block, form.shared_bytes, &loaded.arguments, stream)?;
        events[1].record(stream)?;
        self.finish(Instant::now() + DEADLINE)?;
        events[1].microseconds_since(&events[0])
    }
}

fn idle(streams: &[Stream]) -> Result<bool, String> {
    for stream in streams {
        if !stream.is_idle()? {
            return Ok(false);
        }
    }
    Ok(true)
}
