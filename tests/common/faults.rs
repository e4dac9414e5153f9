//! Faults between the microcontroller and its register block, injected by a bus that wraps any
//! other bus.

use mias_registers::bus::Bus;
use mias_registers::counters::{COUNTERS, Counter};
use mias_registers::{SM_WORDS, global, preempt, slot, sm};
use std::collections::BTreeMap;

/// Value of a broken counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// 0.
    Zero,
    /// Largest value of its width, as if saturated, with or without the saturation bit.
    Max {
        /// Whether the saturation bit is set.
        told: bool,
    },
    /// Lower half of the count and upper half of another value: a torn read.
    Torn(u32),
}

/// A permanently broken counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenCounter {
    /// SM of the counter; none for all.
    pub(crate) sm: Option<usize>,
    /// Broken counter; none for all.
    pub(crate) counter: Option<Counter>,
    /// Value that it shows.
    pub(crate) reading: Reading,
}

impl BrokenCounter {
    fn is(&self, sm: usize, counter: Counter) -> bool {
        self.sm.is_none_or(|broken| broken == sm) && self.counter.is_none_or(|broken| broken == counter)
    }

    fn read(&self, counter: Counter, count: u32) -> u32 {
        match self.reading {
            Reading::Zero => 0,
            Reading::Max { .. } => counter.max(),
            Reading::Torn(other) => (other & counter.max() & !0xFFFF) | (count & 0xFFFF),
        }
    }
}

/// Permanently broken preemption registers of an SM: all of one array, such as
/// [`preempt::TB_INSTS`], or one alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenRegister {
    /// SM of the registers; none for all.
    pub(crate) sm: Option<usize>,
    /// Offset of the first register within the SM's region.
    pub(crate) register: u32,
    /// Value that they show.
    pub(crate) reading: Reading,
}

impl BrokenRegister {
    fn is(&self, sm: usize, offset: u32) -> bool {
        let array = preempt::REGISTERS.iter().find(|array| array.offset == self.register);
        let within = array.is_some_and(|array| (array.offset..array.offset + 4 * array.count).contains(&offset));
        within && self.sm.is_none_or(|broken| broken == sm)
    }

    fn read(&self, value: u32) -> u32 {
        match self.reading {
            Reading::Zero => 0,
            Reading::Max { .. } => u32::MAX,
            Reading::Torn(other) => (other & !0xFFFF) | (value & 0xFFFF),
        }
    }
}

/// A fault that occurs once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Loss of these bits of the next interrupt's status that has one of them, with or without
    /// their event registers. The launch FIFO loses nothing.
    Lost {
        /// [`mias_registers::interrupt`] bits.
        status: u32,
        /// Whether the event registers are lost as well.
        events: bool,
    },
    /// The interrupt line does not reach the microcontroller for this number of cycles.
    Late(u32),
    /// The status and the events of the next interrupt are repeated this many interrupts later; 0
    /// for at once.
    Doubled(u32),
    /// For this number of cycles every read returns all ones and every write is lost.
    Silent(u32),
    /// In the next interrupt, all reads from this access on return all ones; writes arrive.
    SilentReads(u32),
    /// The microcontroller is reset after this many accesses of the next interrupt. No later access
    /// happens.
    Reset(u32),
    /// The microcontroller is reset while it sleeps.
    ResetAsleep,
    /// A field of the next kernel descriptor that is read shows this value, once.
    Descriptor {
        /// Offset within the slot.
        register: u32,
        /// Value that is read.
        value: u32,
    },
}

/// Events reported in an interrupt, to be repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told(BTreeMap<u32, u32>);

/// A bus with faults.
#[derive(Debug)]
pub(crate) struct FaultyBus<'a, B> {
    pub(crate) inner: B,
    pub(crate) counters: &'a [BrokenCounter],
    /// Broken registers of preemption.
    pub(crate) registers: &'a [BrokenRegister],
    /// Number of accesses so far.
    pub(crate) accesses: u32,
    /// First access from which reads are all ones.
    pub(crate) silent_from: u32,
    /// First access from which writes are lost.
    pub(crate) lost_from: u32,
    /// Events to add to the block's interrupt and event registers.
    pub(crate) again: Told,
    /// Events that the block reported.
    pub(crate) told: Told,
    /// A field of a descriptor, and the value that it shows once.
    pub(crate) descriptor: &'a mut Option<(u32, u32)>,
}

impl<'a, B: Bus> FaultyBus<'a, B> {
    /// Creates a bus over `inner` with these broken counters and registers, and no other fault.
    pub(crate) fn new(
        inner: B,
        (counters, registers): (&'a [BrokenCounter], &'a [BrokenRegister]),
        descriptor: &'a mut Option<(u32, u32)>,
    ) -> Self {
        let (silent_from, lost_from) = (u32::MAX, u32::MAX);
        let (again, told) = (Told::default(), Told::default());
        FaultyBus { inner, counters, registers, accesses: 0, silent_from, lost_from, again, told, descriptor }
    }

    /// Returns the result of a read of an SM's register.
    fn of_sm(&self, sm: usize, register: u32, value: u32) -> u32 {
        let counter = |register: u32| Counter::ALL.get(register.checked_sub(sm::COUNTERS)? as usize / 4).copied();
        if register == sm::SATURATED {
            let told = self.counters.iter().filter(|broken| broken.reading == Reading::Max { told: true });
            let bits = told.flat_map(|broken| Counter::ALL.into_iter().filter(move |counter| broken.is(sm, *counter)));
            return bits.fold(value, |bits, counter| bits | counter.bit());
        }
        match counter(register) {
            Some(counter) if register < sm::COUNTERS + 4 * COUNTERS as u32 => {
                self.counters.iter().filter(|broken| broken.is(sm, counter)).fold(value, |count, broken| broken.read(counter, count))
            }
            _ => value,
        }
    }
}

/// Returns whether a register reports interrupts or SM events. The firmware clears those of slots
/// without reading them.
fn tells(offset: u32) -> bool {
    let words = 4 * SM_WORDS as u32;
    offset == global::INT_STATUS
        || (global::PARTITION..global::PARTITION + words).contains(&offset)
        || (global::PROFILE_DONE..global::PROFILE_DONE + words).contains(&offset)
        || (global::PREEMPT_WANTED..global::PREEMPT_WANTED + words).contains(&offset)
}

impl<B: Bus> Bus for FaultyBus<'_, B> {
    fn read32(&mut self, offset: u32) -> u32 {
        self.accesses += 1;
        if self.accesses > self.silent_from {
            return u32::MAX;
        }
        let value = self.inner.read32(offset);
        if tells(offset) {
            *self.told.0.entry(offset).or_default() |= value;
            return value | self.again.0.get(&offset).copied().unwrap_or(0);
        }
        if offset >= preempt::BASE {
            let (sm, rest) = ((offset - preempt::BASE) / preempt::STRIDE, (offset - preempt::BASE) % preempt::STRIDE);
            let broken = self.registers.iter().filter(|broken| broken.is(sm as usize, rest));
            return broken.fold(value, |value, broken| broken.read(value));
        }
        if offset >= sm::BASE {
            let rest = offset - sm::BASE;
            return self.of_sm((rest / sm::STRIDE) as usize, rest % sm::STRIDE, value);
        }
        if offset >= slot::BASE
            && let Some((register, shown)) = *self.descriptor
            && (offset - slot::BASE) % slot::STRIDE == register
        {
            *self.descriptor = None;
            return shown;
        }
        value
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.accesses += 1;
        if self.accesses <= self.lost_from {
            self.inner.write32(offset, value);
        }
    }
}
