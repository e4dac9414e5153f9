//! Reading the latched counters of the finished SMs, which takes most of a decision's time.
//!
//! The loop runs by configuration, and then over the SMs that ran it, so that the sums stay in
//! registers. Each metric's set of counters has its own loop, for the usual case: every SM is done,
//! and thread instructions count. All other cases share one loop for any counters of any SMs.
//!
//! The sums wrap on purpose: at the counters' widths the sums over 256 SMs fit (see [`Sums`]). A
//! register that exceeds its width gives an arbitrary score, but no panic.

use crate::configs::{ConfigTable, RoundTotals, Sums};
use crate::counters::{CounterSet, Reading};
use crate::metric::{FACTOR_COUNTERS, IPC_COUNTERS, IPM_IPC_COUNTERS};
use mias_registers::bus::{self, TryBus};
use mias_registers::counters::Counter::{self, Cycles, IssueCycles, LoadRequests, MemoryStallCycles, OutstandingMisses, ThreadInsts};
use mias_registers::sm;

/// Most SMs whose outstanding misses, of 25 bits each, sum to less than 2^32.
const FEW: usize = 127;

/// Sums the counters of every finished SM into the configuration that it ran.
pub(super) fn read_counters<const C: usize, B: TryBus>(
    table: &mut ConfigTable<C>,
    bus: &mut B,
    reading: &Reading<'_>,
) -> Result<(), B::Error> {
    const IPC: u32 = IPC_COUNTERS.bits();
    const IPM_IPC: u32 = IPM_IPC_COUNTERS.bits();
    const FACTOR: u32 = FACTOR_COUNTERS.bits();
    let sms = usize::from(reading.sms);
    let usual = reading.done.len() == reading.sms && reading.instructions == ThreadInsts;
    let outstanding_misses = match reading.wanted.bits() {
        IPC if usual => ipc(table, bus, sms),
        IPM_IPC if usual => ipm_ipc(table, bus, sms),
        FACTOR if usual && sms <= table.current_len().saturating_mul(FEW) => factor(table, bus, sms),
        _ => any(table, bus, reading),
    }?;
    table.set_totals(RoundTotals { sms: reading.done.len(), outstanding_misses });
    Ok(())
}

#[inline(never)]
fn ipc<const C: usize, B: TryBus>(table: &mut ConfigTable<C>, bus: &mut B, sms: usize) -> Result<u64, B::Error> {
    every_sm(table, bus, sms, [Cycles, IssueCycles, ThreadInsts], |sums, [cycles, issue, instructions]| {
        add(sums, cycles, issue, instructions);
    })
}

#[inline(never)]
fn ipm_ipc<const C: usize, B: TryBus>(table: &mut ConfigTable<C>, bus: &mut B, sms: usize) -> Result<u64, B::Error> {
    every_sm(table, bus, sms, [Cycles, IssueCycles, LoadRequests, ThreadInsts], |sums, [cycles, issue, load_requests, instructions]| {
        add(sums, cycles, issue, instructions);
        sums.load_requests = sums.load_requests.wrapping_add(load_requests);
    })
}

#[inline(never)]
fn factor<const C: usize, B: TryBus>(table: &mut ConfigTable<C>, bus: &mut B, sms: usize) -> Result<u64, B::Error> {
    let counters = [Cycles, IssueCycles, MemoryStallCycles, OutstandingMisses, ThreadInsts];
    every_sm(table, bus, sms, counters, |sums, [cycles, issue, stalls, outstanding, instructions]| {
        add(sums, cycles, issue, instructions);
        sums.memory_stall_cycles = sums.memory_stall_cycles.wrapping_add(stalls);
        // At most FEW SMs.
        sums.outstanding_misses = u64::from((sums.outstanding_misses as u32).wrapping_add(outstanding));
    })
}

/// Adds the counters of every SM to its configuration, and returns the sum of outstanding misses.
#[inline(always)]
fn every_sm<const C: usize, const N: usize, B: TryBus>(
    table: &mut ConfigTable<C>,
    bus: &mut B,
    sms: usize,
    counters: [Counter; N],
    add: impl Fn(&mut Sums, [u32; N]),
) -> Result<u64, B::Error> {
    let registers = counters.map(Counter::register);
    let mut total = 0_u64;
    table.measure(|first, step| {
        let mut sums = Sums::default();
        sums.sms = bus.try_read_sms((first, step, sms), registers, |values| add(&mut sums, values))? as u16;
        total = total.wrapping_add(sums.outstanding_misses);
        Ok(sums)
    })?;
    Ok(total)
}

#[inline(always)]
fn add(sums: &mut Sums, cycles: u32, issue_cycles: u32, instructions: u32) {
    sums.cycles = sums.cycles.wrapping_add(cycles);
    sums.issue_cycles = sums.issue_cycles.wrapping_add(issue_cycles);
    sums.instructions = sums.instructions.wrapping_add(instructions);
}

/// Reads any wanted counters of any SMs. If all are wanted, saturation is read too.
#[inline(never)]
fn any<const C: usize, B: TryBus>(table: &mut ConfigTable<C>, bus: &mut B, reading: &Reading<'_>) -> Result<u64, B::Error> {
    let Reading { wanted, instructions, .. } = *reading;
    let mut total = 0_u64;
    table.measure(|first, step| {
        let mut sums = Sums::default();
        reading.each_done(first, step, |sm| {
            let base = sm::at(sm, 0);
            let mut read = |counter: Counter| if wanted.contains(counter) { bus::read(bus, base + counter.register()) } else { Ok(0) };
            let (cycles, issue_cycles) = (read(Cycles)?, read(IssueCycles)?);
            sums.memory_stall_cycles = sums.memory_stall_cycles.wrapping_add(read(MemoryStallCycles)?);
            sums.load_requests = sums.load_requests.wrapping_add(read(LoadRequests)?);
            sums.outstanding_misses = sums.outstanding_misses.wrapping_add(read(OutstandingMisses)?.into());
            add(&mut sums, cycles, issue_cycles, bus::read(bus, base + instructions.register())?);
            sums.sms = sums.sms.wrapping_add(1);
            if wanted == CounterSet::ALL {
                sums.saturated |= bus::read(bus, base + sm::SATURATED)? != 0;
            }
            Ok(())
        })?;
        total = total.wrapping_add(sums.outstanding_misses);
        Ok(sums)
    })?;
    Ok(total)
}
