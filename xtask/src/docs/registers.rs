//! `docs/reference/registers.md`, from the register map.
//!
//! Registers come from the tables that `firmware/registers/src/` defines together with the offsets.
//! Bits and codes are plain constants there; their names and meanings are read from the source text
//! (`source_docs.rs`).

use mias_registers::counters::Counter;
use mias_registers::{self as regs, Access, Register, global, memory, preempt, queue, slot, sm};

use crate::citations::linked;
use crate::source_docs::{FIELDS, groups, plain};
use crate::util::generated;

/// Source text with the meanings of counters.
const COUNTERS: &str = include_str!("../../../firmware/registers/src/counters.rs");

/// Returns the whole page.
pub(super) fn page() -> String {
    let about = format!(
        "This page lists every register between firmware and hardware. `cargo xtask docs` writes it from
`firmware/registers/src`. `docs/generated/mias.svd` (debuggers) and `docs/generated/mias.h` (C) have the same content.

Registers are 32 bits wide, little endian, at byte offsets that are multiples of four. The map ends at `{end:#x}`. It
has room for {sms} SMs and {slots} kernel slots on every GPU, so offsets never move. Registers beyond the GPU's count
are unmapped. A reset value of `-` depends on the GPU. The interrupt line is high while `INT_PENDING` is not 0. Layout
version: `{version:#010x}`. Identification: `{id:#010x}`.

* A read of an unmapped or write-only offset returns 0. A write to an unmapped or read-only offset has no effect. Both
  raise `BAD_ACCESS`.
* A value out of range is clamped and raises `VALUE_RANGE`.
* Quotas are staged. `COMMIT` makes them effective, SM by SM. No window of an SM starts before its quotas are effective.
* Read 64-bit values low word first: that read latches the high word.
* Clear `INT_STATUS` before reading the event registers, to lose no event.
* When an armed SM reaches its partition, hardware clears its counters, raises PARTITION and starts the window. At the
  end it latches the counters, disarms the SM and raises PROFILE_DONE.
* A newer block, with an equal upper half of `VERSION`, may define unmapped registers and bits that are 0 today. It
  raises the line for a new status bit only once `INT_ENABLE` has it. The firmware ignores unknown bits, never clears
  them, and takes all events that it knows. A status of all ones is no answer.",
        end = regs::MAP_END,
        sms = regs::MAX_SMS,
        slots = regs::KERNEL_SLOTS,
        version = regs::VERSION_VALUE,
        id = regs::ID_VALUE,
    );
    let mut text = String::from("| access | meaning |\n|---|---|\n");
    for (access, meaning) in [
        (Access::ReadOnly, "firmware reads"),
        (Access::ReadWrite, "firmware reads and writes"),
        (Access::WriteOnly, "firmware writes: a command"),
        (Access::WriteOneToClear, "a read returns pending bits; a written 1 clears its bit"),
        (Access::WriteOneToSet, "a written 1 sets its bit; a read returns the set bits"),
    ] {
        text += &format!("| {} | {meaning} |\n", short(access));
    }
    text += &region("Global registers", "offset", global::REGISTERS);
    let base = format!("Slot `n` is at `{:#06x} + n * {:#04x}`; offsets are within the slot.", slot::BASE, slot::STRIDE);
    text += &region("Kernel slots", "offset in slot", slot::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base =
        format!("Entry `n` of {} is at `{:#06x} + n * {:#04x}`; offsets are within the entry.", queue::ENTRIES, queue::BASE, queue::STRIDE);
    text += &region("Launch queue window", "offset in entry", queue::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base = format!(
        "SM `n` is at `{:#06x} + n * {:#04x}`; offsets are within the SM. A snapshot latches the slots that had at least {} requests.",
        memory::BASE,
        memory::STRIDE,
        memory::SAMPLE_REQUESTS
    );
    text += &region("Memory issue and L1 ways", "offset in SM", memory::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base = format!("SM `n` is at `{:#07x} + n * {:#05x}`; offsets are within the SM.", sm::BASE, sm::STRIDE);
    text += &region("SMs", "offset in SM", sm::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base = format!("SM `n` is at `{:#07x} + n * {:#05x}`; offsets are within the SM.", preempt::BASE, preempt::STRIDE);
    text += &region("Preemption", "offset in SM", preempt::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    generated("Registers", "docs", &about, &linked(&(text + &counters() + &fields())))
}

fn region(title: &str, offset: &str, registers: &[Register]) -> String {
    let mut text = format!("\n## {title}\n\n| {offset} | register | access | reset | meaning |\n|---|---|---|---|---|\n");
    for register in registers {
        let last = register.offset + 4 * (register.count - 1);
        let (place, name) = match register.count {
            1 => (format!("`{:#05x}`", register.offset), format!("`{}`", register.name)),
            count => (format!("`{:#05x}` to `{last:#05x}`", register.offset), format!("`{}[{count}]`", register.name)),
        };
        let reset = register.reset.map_or_else(|| "-".to_owned(), |value| format!("`{value:#x}`"));
        text += &format!("| {place} | {name} | {} | {reset} | {} |\n", short(register.access), plain(register.doc));
    }
    text
}

fn short(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "R",
        Access::ReadWrite => "RW",
        Access::WriteOnly => "W",
        Access::WriteOneToClear => "W1C",
        Access::WriteOneToSet => "W1S",
    }
}

fn counters() -> String {
    let mut text = String::from(
        "\n## Counters\n\nElements of `COUNTERS` of an SM, and bits of `SATURATED`. Counters saturate at their width.\n\n\
         | element | offset in SM | counter | bits | meaning |\n|---|---|---|---|---|\n",
    );
    let first = sm::REGISTERS.iter().find(|register| register.name == "COUNTERS").map_or(0, |register| register.offset);
    let entries = groups(COUNTERS).into_iter().find(|group| group.name == "Counter").map(|group| group.entries).unwrap_or_default();
    for (counter, entry) in Counter::ALL.into_iter().zip(entries) {
        let (at, offset) = (counter.index(), first + 4 * counter.index() as u32);
        text += &format!("| {at} | `{offset:#05x}` | `{}` | {} | {} |\n", entry.name, counter.width(), entry.meaning);
    }
    text
}

fn fields() -> String {
    let mut text = String::from("\n## Bits and codes\n");
    text += "\n[Policies and mechanisms](policies.md) has the codes of `STRAP_POLICY`.\n";
    for group in groups(FIELDS) {
        text += &format!("\n### `{}`\n\n{}\n\n| name | value | meaning |\n|---|---|---|\n", group.name, group.meaning);
        for entry in group.entries {
            text += &format!("| `{}` | `{}` | {} |\n", entry.name, entry.value, entry.meaning);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_counter_bit_and_code_is_on_the_page() {
        let page = page();
        for register in global::REGISTERS
            .iter()
            .chain(slot::REGISTERS)
            .chain(sm::REGISTERS)
            .chain(memory::REGISTERS)
            .chain(preempt::REGISTERS)
            .chain(queue::REGISTERS)
        {
            assert!(page.contains(&format!("| `{}", register.name)), "{}", register.name);
        }
        for counter in Counter::ALL {
            assert!(page.contains(&format!("| `{counter:?}` | {} |", counter.width())), "{counter:?}");
        }
        for (number, phase) in regs::PhaseCode::ALL.into_iter().enumerate() {
            assert!(page.contains(&format!("| `{phase:?}` | `{number}` |")), "{phase:?}");
        }
        let constants = FIELDS.lines().filter(|line| line.trim().starts_with("pub const ") && line.contains(": u32 =")).count();
        let listed: usize = groups(FIELDS).iter().map(|group| group.entries.len()).sum();
        assert_eq!(listed, constants + regs::PhaseCode::ALL.len());
    }
}
