//! Observation of a launch as a GPU would execute it. Dropped instructions are not reported, and
//! those of a segment come in scheduled order. Each is reported in the form that the sink has
//! defined for it.
//!
//! There are two sinks: [`record`](super::record), for the timing model, and the writer of
//! Accel-Sim traces.

use super::Lowered;
use super::copies::{self, UnderWay, Use};
use super::line::Line;
use super::record_budget::{OverOnPanic, Place, RecordBudget};
use super::tensor::Steps;
use crate::cooperative;
use crate::error::{ExecError, Limit};
use crate::exec::access::lanes;
use crate::launch::{Launch, TbRunner};
use crate::memory::DeviceMemory;
use crate::memory::local::DEVICE_BASE;
use crate::memory::window::{self, Named};
use crate::program::Program;
use crate::warp::{Event, Observer};
use mias_warp_trace::isa::{Class, Space, StaticInst};
use std::ops::Range;

/// Receiver of the instructions of one TB's warps. `T` identifies an instruction for the receiver.
pub trait Sink<T> {
    /// Selects the warp of the following instructions. Warps alternate at barriers.
    fn resume(&mut self, warp: u32);
    /// Receives an executed instruction: its lanes (for a branch or an exit, those that reached
    /// it), and the byte address of each lane of a memory access, ascending by lane.
    fn inst(&mut self, inst: &T, mask: u32, addresses: &[u64]);
    /// Receives printed text, and the number of its calls.
    fn printed(&mut self, _text: &str, _calls: u32) {}
    /// Returns the bytes of the recorded data.
    #[inline]
    fn bytes(&self) -> u64 {
        0
    }
}

/// A lowered instruction in the sink's form.
#[derive(Clone, Debug)]
struct Known<T> {
    inst: T,
    /// For an exit: its form as a branch, if other lanes of the warp continue.
    partial: Option<T>,
    /// For a generic access: its forms for shared memory, local memory and parameters.
    elsewhere: Option<[T; 3]>,
    /// For an instruction with several accesses, or several tiles of a product: the form of each
    /// except the last, which has the destination.
    earlier: Option<Box<Known<T>>>,
    /// For a matrix product: its division.
    steps: Steps,
    /// For an instruction that starts copies or waits for them: its forms.
    forms: Vec<T>,
}

/// Lowered instructions of a program in the sink's form.
#[derive(Debug)]
pub struct Code<'a, T> {
    lowered: &'a Lowered,
    insts: Vec<Option<Known<T>>>,
    /// Segment of each instruction.
    segment: Vec<u32>,
    /// Per segment, true if no sorting is needed.
    in_order: Vec<bool>,
}

impl<'a, T> Code<'a, T> {
    /// Builds the forms by calling `describe` for every lowered instruction, with the index of the
    /// PTX instruction.
    ///
    /// # Errors
    /// Errors of `describe`.
    pub fn new<E>(lowered: &'a Lowered, mut describe: impl FnMut(usize, StaticInst) -> Result<T, E>) -> Result<Self, E> {
        let mut insts = Vec::with_capacity(lowered.statics.len());
        for (pc, (inst, generic)) in lowered.statics.iter().zip(&lowered.generic).enumerate() {
            insts.push(match *inst {
                None => None,
                Some(inst) => {
                    let usage = lowered.copies[pc].map_or_else(Vec::new, |usage| copies::forms(usage, inst));
                    let forms = usage.into_iter().map(|form| describe(pc, form)).collect::<Result<_, E>>()?;
                    let mut known = |inst| Self::known(pc, inst, *generic, &mut describe);
                    let steps = lowered.steps[pc];
                    let earlier = match lowered.accesses[pc].max(steps.tiles) {
                        1 => None,
                        _ => Some(Box::new(known(StaticInst { dst: None, ..inst })?)),
                    };
                    Some(Known { earlier, forms, steps, ..known(inst)? })
                }
            });
        }
        let segment = (0u32..).zip(&lowered.segments).flat_map(|(i, s)| (s.start..s.end).map(move |_| i)).collect();
        let in_order = lowered.segments.iter().map(|s| s.in_program_order()).collect();
        Ok(Code { lowered, insts, segment, in_order })
    }

    fn known<E>(
        pc: usize,
        inst: StaticInst,
        generic: bool,
        describe: &mut impl FnMut(usize, StaticInst) -> Result<T, E>,
    ) -> Result<Known<T>, E> {
        let partial = match inst.class {
            Class::Exit => Some(describe(pc, StaticInst { class: Class::Branch, ..inst })?),
            _ => None,
        };
        let mut in_space = |space| describe(pc, moved(inst, space));
        let elsewhere = match generic {
            true => Some([in_space(Space::Shared)?, in_space(Space::Local)?, in_space(Space::Constant)?]),
            false => None,
        };
        Ok(Known { inst: describe(pc, inst)?, partial, elsewhere, earlier: None, steps: Steps::ONE, forms: Vec::new() })
    }
}

/// Moves an access to another memory.
fn moved(inst: StaticInst, space: Space) -> StaticInst {
    let class = match inst.class {
        Class::Load(_) => Class::Load(space),
        Class::Store(_) => Class::Store(space),
        Class::Atomic(_) => Class::Atomic(space),
        other => other,
    };
    StaticInst { class, bypass_l1: false, ..inst }
}

/// An event of the current segment that waits for its place in the order.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    lanes: u32,
    first_address: u32,
    addresses: u32,
}

/// Observer of one TB.
struct Watcher<'a, T, S> {
    code: &'a Code<'a, T>,
    sink: S,
    pending: Vec<Pending>,
    addresses: Vec<u64>,
    /// Copies in flight of each warp that has started any.
    copies: Vec<UnderWay>,
    place: Place<'a>,
}

impl<'a, T, S: Sink<T>> Watcher<'a, T, S> {
    fn new(code: &'a Code<'a, T>, sink: S, place: Place<'a>) -> Self {
        Watcher { code, sink, place, pending: Vec::new(), addresses: Vec::new(), copies: Vec::new() }
    }

    fn tell(&mut self, event: Event<'_>) {
        let Some(known) = &self.code.insts[event.pc as usize] else { return };
        if let Some(usage) = self.code.lowered.copies[event.pc as usize]
            && self.copy(known, usage, event)
        {
            return;
        }
        if known.steps != Steps::ONE {
            return self.product(known, event);
        }
        if let Some(earlier) = &known.earlier
            && !event.addresses.is_empty()
        {
            let lanes = event.addresses.len() / self.code.lowered.accesses[event.pc as usize];
            let (before, last) = event.addresses.split_at(event.addresses.len() - lanes);
            before.chunks(lanes.max(1)).for_each(|addresses| self.access(earlier, Event { addresses, ..event }));
            return self.access(known, Event { addresses: last, ..event });
        }
        self.access(known, event);
    }

    /// Reports a product piece by piece. The last tile of each piece of the depth writes the
    /// result's name, for which the next one waits.
    fn product(&mut self, known: &Known<T>, event: Event<'_>) {
        for _ in 0..known.steps.depth {
            if let Some(earlier) = &known.earlier {
                (1..known.steps.tiles).for_each(|_| self.sink.inst(&earlier.inst, event.mask, &[]));
            }
            self.sink.inst(&known.inst, event.mask, &[]);
        }
    }

    /// Reports an instruction that starts copies or waits for them; returns false if the
    /// instruction itself must still be reported.
    fn copy(&mut self, known: &Known<T>, usage: Use, event: Event<'_>) -> bool {
        let warp = event.warp as usize;
        if self.copies.len() <= warp {
            self.copies.resize(warp + 1, UnderWay::default());
        }
        let under_way = &mut self.copies[warp];
        match usage {
            Use::Start => {
                let form = &known.forms[under_way.start()];
                self.sink.inst(form, event.mask, event.addresses);
                true
            }
            Use::Commit => {
                under_way.commit();
                false
            }
            Use::Tie => {
                under_way.tie();
                false
            }
            Use::Wait(_) | Use::WaitAll | Use::Test => {
                let names = under_way.wait(usage);
                copies::reading(names).for_each(|form| self.sink.inst(&known.forms[form], event.mask, &[]));
                names != 0 && usage != Use::Test
            }
        }
    }

    fn access(&mut self, known: &Known<T>, event: Event<'_>) {
        let inst = match &known.partial {
            Some(partial) if !event.last => partial,
            _ => &known.inst,
        };
        if let Some(elsewhere) = &known.elsewhere
            && split(&mut self.sink, [&[&known.inst][..], &elsewhere.each_ref()].concat(), event)
        {
            return;
        }
        self.sink.inst(inst, event.mask, event.addresses);
    }
}

/// Reports a generic access as one instruction per memory (device, shared, local, parameters), if
/// any lane accesses another memory than device memory. Otherwise it reports nothing and returns
/// false.
fn split<T, S: Sink<T>>(sink: &mut S, insts: Vec<&T>, event: Event<'_>) -> bool {
    let place = |address: u64| match window::named(address) {
        Named::Shared(offset) => (1, offset),
        Named::Device(address) if address >= DEVICE_BASE => (2, address),
        Named::Param(offset) => (3, offset),
        _ => (0, address),
    };
    if event.addresses.iter().all(|&address| place(address).0 == 0) {
        return false;
    }
    for (number, inst) in insts.into_iter().enumerate() {
        let (mut mask, mut part) = (0, Vec::new());
        for (lane, &address) in lanes(event.mask).zip(event.addresses) {
            let (memory, address) = place(address);
            if memory == number {
                mask |= 1 << lane;
                part.push(address);
            }
        }
        if mask != 0 {
            sink.inst(inst, mask, &part);
        }
    }
    true
}

impl<T, S: Sink<T>> Observer for Watcher<'_, T, S> {
    #[inline]
    fn room(&mut self, most_bytes: u64) -> Result<(), Limit> {
        self.place.ask(self.sink.bytes(), most_bytes)
    }

    fn printed(&mut self, text: &str, calls: u32) {
        self.sink.printed(text, calls);
    }

    fn executed(&mut self, event: Event<'_>) {
        let number = self.code.segment[event.pc as usize] as usize;
        let segment = &self.code.lowered.segments[number];
        if event.pc == segment.start {
            self.sink.resume(event.warp);
            self.pending.clear();
            self.addresses.clear();
        }
        if self.code.in_order[number] {
            self.tell(event);
            return;
        }
        let first_address = self.addresses.len() as u32;
        self.addresses.extend_from_slice(event.addresses);
        self.pending.push(Pending { lanes: event.mask, first_address, addresses: event.addresses.len() as u32 });
        if event.pc + 1 == segment.end {
            let addresses = std::mem::take(&mut self.addresses);
            for &pc in &segment.order {
                let pending = self.pending[(pc - segment.start) as usize];
                let first = pending.first_address as usize;
                let addresses = &addresses[first..first + pending.addresses as usize];
                self.tell(Event { pc, mask: pending.lanes, addresses, ..event });
            }
            self.addresses = addresses;
        }
    }
}

/// A launch with its data.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Program to execute.
    pub program: &'a Program,
    /// Geometry and arguments.
    pub launch: &'a Launch,
    /// Device memory with the data.
    pub device: &'a DeviceMemory,
}

impl Job<'_> {
    /// Executes TBs of the launch, each observed by a separate sink of `sink`.
    ///
    /// `take` receives the sinks in grid order, each as soon as its TB and all earlier ones are
    /// complete. All sinks together record at most `room_bytes`. The result does not depend on the
    /// number of worker threads, unless TBs race. For a cooperative grid, `tbs` must be all TBs.
    ///
    /// # Errors
    /// Error of the first TB in grid order that failed, or of `take`.
    pub fn observe<T: Sync, S: Sink<T> + Send, E: From<ExecError> + Send>(
        &self,
        code: &Code<'_, T>,
        (tbs, room_bytes): (Range<u32>, u64),
        sink: impl Fn(u32) -> S + Sync,
        mut take: impl FnMut(S) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let room = RecordBudget::new(room_bytes, tbs.start, tbs.len() as u32);
        if self.program.is_cooperative() {
            let watcher = |tb| Watcher::new(code, sink(tb), Place::shared(&room, tb));
            let watchers = cooperative::run(self.program, self.launch, self.device, watcher)?;
            return watchers.into_iter().try_for_each(|watcher| take(watcher.sink));
        }
        let watch = |runner: &mut TbRunner<'_>, tb| {
            let mut watcher = Watcher::new(code, sink(tb), Place::of(&room, tb));
            runner.run(tb, &mut watcher).map(|()| watcher.sink)
        };
        // The old value of an atomic, and a sum of floats, depend on the order of TBs: these
        // kernels run one TB after the other.
        let workers = if self.program.depends_on_order() { 1 } else { rayon::current_num_threads().min(tbs.len()) };
        let line = Line::new(&room, tbs, take);
        let work = || {
            let _guard = OverOnPanic(&room);
            match TbRunner::new(self.program, self.launch, self.device) {
                Ok(mut runner) => line.work(|tb| watch(&mut runner, tb)),
                Err(error) => line.work(|_| Err(error.clone())),
            }
        };
        rayon::scope(|scope| {
            (1..workers).for_each(|_| scope.spawn(|_| work()));
            work();
            // Other workers run their last TBs. A waiting worker takes no other work, which might
            // need resources of the caller.
            line.wait();
        });
        line.result()
    }
}
