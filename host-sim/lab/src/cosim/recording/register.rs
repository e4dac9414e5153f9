//! Names of registers, from the tables of the map.

use mias_registers::counters::Counter;
use mias_registers::{KERNEL_SLOTS, MAX_SMS, Register, global, memory, preempt, queue, slot, sm};

/// Returns the name of the register at an offset: `COMMIT`, `QUOTA_ALL[1]`, `slot 2 GRID_TBS`, `SM
/// 3 COUNTERS[LoadRequests]`; the offset itself if there is none.
pub fn register_name(offset: u32) -> String {
    let within = |base: u32, stride: u32, count: usize, table: &'static [Register]| {
        let rest = offset.checked_sub(base)?;
        let name = name(table, rest % stride)?;
        ((rest / stride) < count as u32).then(|| (rest / stride, name))
    };
    if let Some(name) = name(global::REGISTERS, offset) {
        name
    } else if let Some((slot, name)) = within(slot::BASE, slot::STRIDE, KERNEL_SLOTS, slot::REGISTERS) {
        format!("slot {slot} {name}")
    } else if let Some((entry, name)) = within(queue::BASE, queue::STRIDE, queue::ENTRIES, queue::REGISTERS) {
        format!("queue {entry} {name}")
    } else if let Some((sm, name)) = within(memory::BASE, memory::STRIDE, MAX_SMS, memory::REGISTERS) {
        format!("SM {sm} memory {name}")
    } else if let Some((sm, name)) = within(sm::BASE, sm::STRIDE, MAX_SMS, sm::REGISTERS) {
        format!("SM {sm} {name}")
    } else if let Some((sm, name)) = within(preempt::BASE, preempt::STRIDE, MAX_SMS, preempt::REGISTERS) {
        format!("SM {sm} preemption {name}")
    } else {
        format!("offset {offset:#x}")
    }
}

fn name(table: &[Register], offset: u32) -> Option<String> {
    let register = table.iter().find(|r| offset >= r.offset && offset < r.offset + 4 * r.count && offset.is_multiple_of(4))?;
    let index = (offset - register.offset) / 4;
    Some(match (register.name, register.count) {
        (name, 1) => name.to_owned(),
        (name @ "COUNTERS", _) => format!("{name}[{:?}]", Counter::ALL.get(index as usize)?),
        (name, _) => format!("{name}[{index}]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_names_of_the_map() {
        for (offset, name) in [
            (global::COMMIT, "COMMIT"),
            (global::QUOTA_ALL + 4, "QUOTA_ALL[1]"),
            (slot::at(2, slot::GRID_TBS), "slot 2 GRID_TBS"),
            (sm::at(3, sm::QUOTA), "SM 3 QUOTA[0]"),
            (queue::at(15, queue::PASSED), "queue 15 PASSED"),
            (memory::at(3, memory::LIMIT + 4), "SM 3 memory LIMIT[1]"),
            (memory::at(255, memory::MODE), "SM 255 memory MODE"),
            (sm::at(255, sm::COUNTERS + 12), "SM 255 COUNTERS[LoadRequests]"),
            (preempt::at(0, preempt::TB), "SM 0 preemption TB[0]"),
            (preempt::at(255, preempt::COMMAND + 4 * 31), "SM 255 preemption COMMAND[31]"),
            (preempt::at(256, preempt::TB), "offset 0x70000"),
            (global::COMMIT + 1, "offset 0xc9"),
            (0x1FF0, "offset 0x1ff0"),
            (u32::MAX, "offset 0xffffffff"),
        ] {
            assert_eq!(register_name(offset), name);
        }
    }
}
