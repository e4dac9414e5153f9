//! Register activity as a value change dump (IEEE 1364-2005 section 18), for GTKWave and Surfer. It
//! has the interrupt line and registers, the phase in words, each bus access, and staged quotas and
//! resident TBs of every SM.
//!
//! Time is in femtoseconds of the core clock. The firmware's accesses of one cycle share it evenly,
//! each with its strobe high for half of its share. The microcontroller takes no time in the model
//! except for decisions, whose writes come at their end.

use mias_hw_model::config::GpuConfig;
use mias_hw_model::register_block::{Activity, ActivityEvent};
use mias_lab::experiment::gpu_runner::Outcome;
use mias_registers::{KERNEL_SLOTS, PhaseCode, SM_WORDS, global, interrupt, sm, sm_bit};
use std::io;
use vcd::{IdCode, TimescaleUnit, Value, VarType, Writer};

/// Width of an offset in the register map in bits: [`mias_registers::MAP_END`] needs no more.
const ADDRESS_BITS: u32 = 20;

/// Signals of one SM, by kernel slot.
struct SmSignals {
    quota: Vec<IdCode>,
    resident: Vec<IdCode>,
}

/// Width of the interrupt registers in bits.
const INTERRUPT_BITS: u32 = u32::BITS - interrupt::ALL.leading_zeros();

/// All signals, with the state to follow them.
struct Dump {
    writer: Writer<Vec<u8>>,
    irq: IdCode,
    int_status: IdCode,
    int_enable: IdCode,
    phase: IdCode,
    read: IdCode,
    write: IdCode,
    address: IdCode,
    data: IdCode,
    sms: Vec<SmSignals>,
    status: u32,
    enable: u32,
    quota_sms: [u32; SM_WORDS],
}

/// Formats the dump as text.
///
/// # Errors
/// None in practice: memory takes every line.
pub fn render(outcome: &Outcome, gpu: &GpuConfig) -> io::Result<Vec<u8>> {
    // A period in femtoseconds is 10^12 over the clock in kHz.
    let time = |cycle: u64| (u128::from(cycle) * 1_000_000_000_000 / u128::from(gpu.clocks.core_khz)) as u64;
    let mut dump = Dump::new(gpu.sm.count)?;
    for cycle in outcome.activity.chunk_by(|a, b| a.cycle == b.cycle) {
        let Some(&Activity { cycle: now, .. }) = cycle.first() else { continue };
        let (start, end) = (time(now), time(now + 1));
        let accesses = cycle.iter().filter(|a| is_access(a.event)).count() as u64;
        let share = (end - start) / (accesses + 1);
        dump.writer.timestamp(start)?;
        let mut at = start;
        for activity in cycle {
            if is_access(activity.event) {
                dump.access(activity.event, at, share)?;
                at += share;
            }
            dump.follow(activity.event)?;
        }
    }
    dump.writer.timestamp(time(outcome.cycles))?;
    Ok(std::mem::take(dump.writer.writer()))
}

fn is_access(event: ActivityEvent) -> bool {
    matches!(event, ActivityEvent::Read { .. } | ActivityEvent::Write { .. })
}

impl Dump {
    fn new(sms: u32) -> io::Result<Self> {
        let mut w = Writer::new(Vec::new());
        w.timescale(1, TimescaleUnit::FS)?;
        w.add_module("scheduler")?;
        let irq = w.add_wire(1, "irq")?;
        let int_status = w.add_wire(INTERRUPT_BITS, "int_status")?;
        let int_enable = w.add_wire(INTERRUPT_BITS, "int_enable")?;
        let phase = w.add_var(VarType::String, 1, "phase", None)?;
        w.add_module("bus")?;
        let (read, write) = (w.add_wire(1, "read")?, w.add_wire(1, "write")?);
        let (address, data) = (w.add_wire(ADDRESS_BITS, "address")?, w.add_wire(32, "data")?);
        w.upscope()?;
        let mut signals = Vec::with_capacity(sms as usize);
        for number in 0..sms {
            w.add_module(&format!("sm{number}"))?;
            let mut of = |name: &str| (0..KERNEL_SLOTS).map(|slot| w.add_wire(8, &format!("{name}{slot}"))).collect::<io::Result<_>>();
            signals.push(SmSignals { quota: of("quota")?, resident: of("resident")? });
            w.upscope()?;
        }
        w.upscope()?;
        w.enddefinitions()?;
        let (status, enable, quota_sms) = (0, 0, [0; SM_WORDS]);
        let mut dump =
            Dump { writer: w, irq, int_status, int_enable, phase, read, write, address, data, sms: signals, status, enable, quota_sms };
        dump.start()?;
        Ok(dump)
    }

    /// Writes reset values, all at time 0.
    fn start(&mut self) -> io::Result<()> {
        self.writer.timestamp(0)?;
        for strobe in [self.irq, self.read, self.write] {
            self.writer.change_scalar(strobe, false)?;
        }
        for (signal, bits) in
            [(self.int_status, INTERRUPT_BITS), (self.int_enable, INTERRUPT_BITS), (self.address, ADDRESS_BITS), (self.data, 32)]
        {
            self.vector(signal, 0, bits)?;
        }
        self.writer.change_string(self.phase, PhaseCode::Idle.name())?;
        for sm in 0..self.sms.len() {
            for slot in 0..KERNEL_SLOTS {
                let (quota, resident) = (self.sms[sm].quota[slot], self.sms[sm].resident[slot]);
                self.vector(quota, 0, 8)?;
                self.vector(resident, 0, 8)?;
            }
        }
        Ok(())
    }

    fn vector(&mut self, signal: IdCode, value: u32, bits: u32) -> io::Result<()> {
        self.writer.change_vector(signal, (0..bits).rev().map(|bit| Value::from(value >> bit & 1 == 1)))
    }

    /// Writes strobe, address and data of one access.
    fn access(&mut self, event: ActivityEvent, at: u64, share: u64) -> io::Result<()> {
        let (strobe, offset, value) = match event {
            ActivityEvent::Read { offset, value } => (self.read, offset, value),
            ActivityEvent::Write { offset, value } => (self.write, offset, value),
            _ => return Ok(()),
        };
        self.writer.timestamp(at)?;
        self.vector(self.address, offset, ADDRESS_BITS)?;
        self.vector(self.data, value, 32)?;
        self.writer.change_scalar(strobe, true)?;
        self.writer.timestamp(at + share / 2)?;
        self.writer.change_scalar(strobe, false)
    }

    /// Writes the changes of an event in addition to the bus.
    fn follow(&mut self, event: ActivityEvent) -> io::Result<()> {
        match event {
            ActivityEvent::Raised(events) => self.interrupts(self.status | events, self.enable),
            ActivityEvent::Write { offset: global::INT_STATUS, value } => self.interrupts(self.status & !value, self.enable),
            ActivityEvent::Write { offset: global::INT_ENABLE, value } => self.interrupts(self.status, value),
            ActivityEvent::Write { offset: global::PHASE, value } => {
                let name = PhaseCode::from_code(value).map_or("unknown", PhaseCode::name);
                self.writer.change_string(self.phase, name)
            }
            ActivityEvent::Write { offset, value } if offset >= sm::BASE => {
                let (number, register) = ((offset - sm::BASE) / sm::STRIDE, (offset - sm::BASE) % sm::STRIDE);
                let slot = register.checked_sub(sm::QUOTA).map(|bytes| (bytes / 4) as usize);
                match (slot, self.sms.get(number as usize)) {
                    (Some(slot), Some(signals)) if slot < signals.quota.len() => self.vector(signals.quota[slot], value, 8),
                    _ => Ok(()),
                }
            }
            ActivityEvent::Write { offset, value }
                if (global::QUOTA_ALL..global::QUOTA_ALL + 4 * KERNEL_SLOTS as u32).contains(&offset) =>
            {
                self.row([u32::MAX; SM_WORDS], (offset - global::QUOTA_ALL) / 4, value)
            }
            ActivityEvent::Write { offset, value } if (global::QUOTA_SMS..global::QUOTA_SMS + 4 * SM_WORDS as u32).contains(&offset) => {
                self.quota_sms[((offset - global::QUOTA_SMS) / 4) as usize] = value;
                Ok(())
            }
            ActivityEvent::Write { offset, value }
                if (global::QUOTA_SOME..global::QUOTA_SOME + 4 * KERNEL_SLOTS as u32).contains(&offset) =>
            {
                self.row(self.quota_sms, (offset - global::QUOTA_SOME) / 4, value)
            }
            ActivityEvent::Resident { sm, slot, tbs } => match self.sms.get(usize::from(sm)) {
                Some(signals) => self.vector(signals.resident[usize::from(slot)], tbs.into(), 8),
                None => Ok(()),
            },
            ActivityEvent::Read { .. } | ActivityEvent::Write { .. } | ActivityEvent::Launched { .. } | ActivityEvent::Released(_) => {
                Ok(())
            }
        }
    }

    /// Writes a quota for a slot, staged on some SMs.
    fn row(&mut self, sms: [u32; SM_WORDS], slot: u32, quota: u32) -> io::Result<()> {
        for number in 0..self.sms.len() {
            let (word, bit) = sm_bit(number);
            if let Some(&signal) = self.sms[number].quota.get(slot as usize).filter(|_| sms[word] & bit != 0) {
                self.vector(signal, quota, 8)?;
            }
        }
        Ok(())
    }

    fn interrupts(&mut self, status: u32, enable: u32) -> io::Result<()> {
        (self.status, self.enable) = (status, enable);
        self.vector(self.int_status, status, INTERRUPT_BITS)?;
        self.vector(self.int_enable, enable, INTERRUPT_BITS)?;
        self.writer.change_scalar(self.irq, status & enable != 0)
    }
}
