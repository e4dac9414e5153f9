//! What can go wrong between the microcontroller and its register block, and a bus that does it: a decorator around any other bus.

use mias_registers::bus::Bus;
use mias_registers::counters::{COUNTERS, Counter};
use mias_registers::{SM_WORDS, global, preempt, slot, sm};
use std::collections::BTreeMap;

/// What a broken counter shows in place of its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// 0.
    Zero,
    /// The largest value of its width, as if it had saturated; with the bit that says so, or without.
    Max {
        /// Whether the saturation bit is set.
        told: bool,
    },
    /// The lower half of the count and the upper half of another: read while it changed.
    Torn(u32),
}

/// A counter that is broken for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenCounter {
    /// Of which SM; none for all.
    pub(crate) sm: Option<usize>,
    /// Which one; none for all.
    pub(crate) counter: Option<Counter>,
    /// What it shows.
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

/// Registers of preemption on an SM that are broken for good: all of one array, such as [`preempt::TB_INSTS`], or one alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenRegister {
    /// Of which SM; none for all.
    pub(crate) sm: Option<usize>,
    /// Offset of the first within the SM's.
    pub(crate) register: u32,
    /// What they show.
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

/// Something that goes wrong once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// These bits of the next interrupt's status that has one of them are lost; with their event registers, or without. The launch
    /// FIFO loses nothing.
    Lost {
        /// [`mias_registers::interrupt`] bits.
        status: u32,
        /// Whether the event registers are lost as well.
        events: bool,
    },
    /// The interrupt line does not reach the microcontroller for so many cycles.
    Late(u32),
    /// The status and the events of the next interrupt are seen again, so many interrupts later; 0 for at once.
    Doubled(u32),
    /// For so many cycles every read returns all ones and every write is lost.
    Silent(u32),
    /// In the next interrupt, all reads from so many accesses on return all ones; writes arrive.
    SilentReads(u32),
    /// The microcontroller is reset after so many accesses of the next interrupt: none of the later ones happens.
    Reset(u32),
    /// The microcontroller is reset while it sleeps.
    ResetAsleep,
    /// A field of the next kernel descriptor that is read shows this value, once.
    Descriptor {
        /// Offset within the slot.
        register: u32,
        /// What is read.
        value: u32,
    },
}

/// What the firmware was told in an interrupt, to be told again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told(BTreeMap<u32, u32>);

/// A bus with faults.
#[derive(Debug)]
pub(crate) struct FaultyBus<'a, B> {
    pub(crate) inner: B,
    pub(crate) counters: &'a [BrokenCounter],
    /// Broken registers of preemption.
    pub(crate) registers: &'a [BrokenRegister],
    /// Accesses so far.
    pub(crate) accesses: u32,
    /// Reads are all ones from this access on.
    pub(crate) silent_from: u32,
    /// Writes are lost from this access on.
    pub(crate) lost_from: u32,
    /// Added to what the block says of interrupts and events.
    pub(crate) again: Told,
    /// What the block said of them.
    pub(crate) told: Told,
    /// A field of a descriptor, and what it shows once.
    pub(crate) descriptor: &'a mut Option<(u32, u32)>,
}

impl<'a, B: Bus> FaultyBus<'a, B> {
    /// A bus over `inner` with these broken counters and registers, and nothing else wrong.
    pub(crate) fn new(
        inner: B,
        (counters, registers): (&'a [BrokenCounter], &'a [BrokenRegister]),
        descriptor: &'a mut Option<(u32, u32)>,
    ) -> Self {
        let (silent_from, lost_from) = (u32::MAX, u32::MAX);
        let (again, told) = (Told::default(), Told::default());
        FaultyBus { inner, counters, registers, accesses: 0, silent_from, lost_from, again, told, descriptor }
    }

    /// What a read of an SM's register shows.
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

/// The registers that tell of interrupts and SM events. Those of slots are cleared unread by the firmware.
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
