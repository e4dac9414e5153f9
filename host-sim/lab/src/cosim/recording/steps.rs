//! Encoding of one run: the GPU, then the accesses step by step.
//! `docs/reference/recording-format.md`, "A run".

use super::error::{Place, Problem};
use super::{Access, Run};
use mias_hw_model::register_block::{GpuDescription, Straps};
use mias_registers::{KERNEL_SLOTS, MAX_SMS, PolicyCode};
use mias_trace::trace_file::Fault;
use mias_trace::trace_file::bytes::{Reader, put_varint, unzigzag, zigzag};

pub(super) fn encode(run: &Run) -> Vec<u8> {
    let mut out = Vec::new();
    put_gpu(&mut out, &run.gpu);
    put_varint(&mut out, run.steps.len() as u64);
    let (mut before, mut predicted) = (0, 0);
    for step in run.steps() {
        // Time never runs backwards.
        put_varint(&mut out, step.cycle.saturating_sub(before));
        before = step.cycle;
        put_varint(&mut out, step.accesses.len() as u64);
        for access in step.accesses {
            let (write, offset, value) = match *access {
                Access::Read { offset, value } => (0, offset, value),
                Access::Write { offset, value } => (1, offset, value),
            };
            put_varint(&mut out, zigzag(i64::from(offset) - predicted) << 1 | write);
            put_varint(&mut out, value.into());
            predicted = i64::from(offset) + 4;
        }
    }
    out
}

pub(super) fn decode(bytes: &[u8], number: usize) -> Result<Run, Problem> {
    let mut reader = Reader::new(bytes);
    let mut steps = Vec::new();
    match read(&mut reader, &mut steps) {
        Ok((gpu, accesses)) => Ok(Run { gpu, accesses, steps }),
        Err(fault) => {
            let place = Place::Byte { run: number, byte: bytes.len() - reader.left(), steps: steps.len() };
            Err(Problem::Malformed { place, fault })
        }
    }
}

fn read(reader: &mut Reader<'_>, steps: &mut Vec<(u64, usize)>) -> Result<(GpuDescription, Vec<Access>), Fault> {
    let gpu = gpu(reader)?;
    let count = reader.varint()?;
    if count == 0 {
        return Err(Fault::Value { what: "the number of steps", value: 0 });
    }
    let (mut cycle, mut predicted, mut accesses) = (0_u64, 0, Vec::new());
    for _ in 0..count {
        let later = reader.varint()?;
        cycle = cycle.checked_add(later).ok_or(Fault::Value { what: "a step's distance in cycles", value: later })?;
        for _ in 0..reader.varint()? {
            let head = reader.varint()?;
            let value = reader.u32("a value")?;
            let offset = unzigzag(head >> 1).checked_add(predicted).and_then(|offset| u32::try_from(offset).ok());
            let offset = offset.ok_or(Fault::Value { what: "an offset's code", value: head })?;
            accesses.push(if head & 1 == 0 { Access::Read { offset, value } } else { Access::Write { offset, value } });
            predicted = i64::from(offset) + 4;
        }
        steps.push((cycle, accesses.len()));
    }
    reader.finish()?;
    Ok((gpu, accesses))
}

fn put_gpu(out: &mut Vec<u8>, gpu: &GpuDescription) {
    let straps = &gpu.straps;
    let numbers = [
        gpu.sm_count,
        gpu.slot_count,
        gpu.sm_threads,
        gpu.sm_registers,
        gpu.sm_shared_bytes,
        gpu.sm_tbs,
        gpu.warp_threads,
        gpu.register_granule,
        gpu.shared_granule_bytes,
        gpu.linear_coefficient_q16,
        gpu.features,
        straps.policy as u32,
        straps.profile_window,
        straps.coalesce_window,
        straps.options,
    ];
    numbers.into_iter().chain(straps.fixed.map(u32::from)).for_each(|number| put_varint(out, number.into()));
}

fn gpu(reader: &mut Reader<'_>) -> Result<GpuDescription, Fault> {
    let mut next = |what, least, most| {
        let value = reader.u32(what)?;
        if (least..=most).contains(&value) { Ok(value) } else { Err(Fault::Value { what, value: value.into() }) }
    };
    let mut gpu = GpuDescription {
        sm_count: next("the number of SMs", 1, MAX_SMS as u32)?,
        slot_count: next("the number of kernel slots", 1, KERNEL_SLOTS as u32)?,
        sm_threads: next("an SM's threads", 0, u32::MAX)?,
        sm_registers: next("an SM's registers", 0, u32::MAX)?,
        sm_shared_bytes: next("an SM's shared memory", 0, u32::MAX)?,
        sm_tbs: next("an SM's TBs", 0, u32::MAX)?,
        warp_threads: next("a warp's threads", 0, u32::MAX)?,
        register_granule: next("the granule of registers", 0, u32::MAX)?,
        shared_granule_bytes: next("the granule of shared memory", 0, u32::MAX)?,
        linear_coefficient_q16: next("the coefficient", 0, u32::MAX)?,
        // Not in a recording: see docs/reference/recording-format.md for what is.
        sm_schedulers: 0,
        reply_sectors_q16: 0,
        dram_sectors_q16: 0,
        l2_sectors_q16: 0,
        l2_access_bytes: 0,
        sm_wake_cycles: 0,
        features: next("the features", 0, u32::MAX)?,
        straps: Straps::new(PolicyCode::LeftOver),
    };
    let code = next("the policy", 0, u32::MAX)?;
    let policy = PolicyCode::from_code(code).ok_or(Fault::Value { what: "the policy", value: code.into() })?;
    gpu.straps = Straps {
        policy,
        profile_window: next("the profiling window", 0, u32::MAX)?,
        coalesce_window: next("the coalescing window", 0, u32::MAX)?,
        options: next("the options", 0, u32::MAX)?,
        ..Straps::new(policy)
    };
    for fixed in &mut gpu.straps.fixed {
        *fixed = next("a fixed number of TBs", 0, u8::MAX.into())? as u8;
    }
    Ok(gpu)
}
