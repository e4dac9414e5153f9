//! `cargo xtask docs`: writes `docs/register-map.md`, the SVD file of `svd/mod.rs` and the C header
//! of `header/mod.rs` from the register map itself, so that they cannot say anything else.
//!
//! Registers come from the tables that `firmware/registers/src/` defines together with the offsets. Bits and codes are plain
//! constants there; their names and meanings are read from the source text (`source_docs.rs`). A test fails when the page is not current.

use anyhow::{Context, Result};
use mias_policies::policy::NAMED;
use mias_registers::counters::Counter;
use mias_registers::{self as regs, Access, PolicyCode, Register, global, memory, preempt, queue, slot, sm};

use crate::header;
use crate::source_docs::{FIELDS, groups, plain};
use crate::svd;
use crate::util::{root, write_file};

/// The page, relative to the root.
const PAGE: &str = "docs/register-map.md";

/// Where the counters' meanings are.
const COUNTERS: &str = include_str!("../../firmware/registers/src/counters.rs");

/// The page on policies, with their codes between two marks; what stands outside of the two is people's.
const POLICIES: &str = "docs/policies.md";
const BEGIN: &str = "<!-- codes: begin -->\n";
const END: &str = "<!-- codes: end -->\n";

/// Writes the page, and the codes of policies into theirs.
pub(crate) fn run() -> Result<()> {
    write_file(PAGE, page())?;
    let document = root().join(POLICIES);
    let text = std::fs::read_to_string(&document).with_context(|| format!("cannot read {POLICIES}"))?;
    let text = with_codes(&text).with_context(|| format!("{POLICIES} has no lines `{}` and `{}`", BEGIN.trim(), END.trim()))?;
    write_file(POLICIES, text)?;
    svd::write()?;
    header::write()
}

/// The page on policies with the codes as the table has them; none without the marks.
fn with_codes(document: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let mut codes = String::from("\n| code | name | what it stands for | `--policy` |\n|---|---|---|---|\n");
    for code in PolicyCode::ALL {
        let names: Vec<String> = NAMED.iter().filter(|named| named.code == code).map(|named| format!("`{}`", named.name)).collect();
        let names = if names.is_empty() { "-".to_owned() } else { names.join(", ") };
        codes += &format!("| `{}` | `{code:?}` | {} | {names} |\n", code as u32, plain(code.meaning()));
    }
    Some(format!("{before}{BEGIN}{codes}\n{END}{after}"))
}

/// The whole page.
fn page() -> String {
    let mut text = format!(
        "# Register map

Written by `cargo xtask docs` from `firmware/registers/src/`; a test fails when it is not current. Do not edit it: change the map.
The access rules, the profiling window and the order in which to clear events are in `firmware/registers/src/lib.rs`.

All registers are 32 bits wide, little endian, at byte offsets that are multiples of four. The map ends at `{end:#x}`. It has
room for {sms} SMs and {slots} kernel slots whatever the machine has, so that offsets never move; those beyond the machine's
count are unmapped. A reset value of `-` depends on the machine. Interrupts: one line, high while `INT_PENDING` is not 0; its
bits are those of `interrupt`. Layout version `{version:#010x}`, identification `{id:#010x}`.

| access | meaning |
|---|---|
",
        end = regs::MAP_END,
        sms = regs::MAX_SMS,
        slots = regs::KERNEL_SLOTS,
        version = regs::VERSION_VALUE,
        id = regs::ID_VALUE,
    );
    for (access, meaning) in [
        (Access::ReadOnly, "firmware reads"),
        (Access::ReadWrite, "firmware reads and writes"),
        (Access::WriteOnly, "firmware writes; the write is a command"),
        (Access::WriteOneToClear, "reads show pending bits; writing a one clears that bit"),
        (Access::WriteOneToSet, "writing a one sets that bit; reads show the bits set"),
    ] {
        text += &format!("| {} | {meaning} |\n", short(access));
    }
    text += &region("Global registers", "offset", global::REGISTERS);
    let base = format!("Slot `n` is at `{:#06x} + n * {:#04x}`; offsets are within the slot.", slot::BASE, slot::STRIDE);
    text += &region("Kernel slots", "offset in slot", slot::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base =
        format!("Entry `n` of {} is at `{:#06x} + n * {:#04x}`; offsets are within the entry.", queue::ENTRIES, queue::BASE, queue::STRIDE);
    text += &region("Window of the queue", "offset in entry", queue::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base = format!(
        "What is of SM `n` is at `{:#06x} + n * {:#04x}`; offsets are within it. Latched are the slots with {} requests at least.",
        memory::BASE,
        memory::STRIDE,
        memory::SAMPLE_REQUESTS
    );
    text +=
        &region("Memory issue and ways of the L1", "offset in SM's", memory::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base = format!("SM `n` is at `{:#07x} + n * {:#05x}`; offsets are within the SM.", sm::BASE, sm::STRIDE);
    text += &region("SMs", "offset in SM", sm::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    let base = format!("What is of SM `n` is at `{:#07x} + n * {:#05x}`; offsets are within it.", preempt::BASE, preempt::STRIDE);
    text += &region("Preemption", "offset in SM's", preempt::REGISTERS).replacen("\n\n|", &format!("\n\n{base}\n\n|"), 1);
    text + &counters() + &fields()
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
        "\n## Counters\n\nElements of an SM's `COUNTERS`, and bits of its `SATURATED`. They saturate at their width.\n\n\
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
    text += "\nThe codes of `STRAP_POLICY` are in [policies.md](policies.md#codes).\n";
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
    fn the_page_is_current() {
        let written = std::fs::read_to_string(root().join(PAGE)).unwrap_or_default();
        assert!(written == page(), "{PAGE} is not what the map says; write it with `cargo xtask docs`");
    }

    #[test]
    fn the_codes_of_policies_are_current() {
        let written = std::fs::read_to_string(root().join(POLICIES)).unwrap();
        assert!(with_codes(&written).as_ref() == Some(&written), "{POLICIES} is not what the table says; write it with `cargo xtask docs`");
        for (number, policy) in PolicyCode::ALL.into_iter().enumerate() {
            assert!(written.contains(&format!("| `{number}` | `{policy:?}` |")), "{policy:?}");
        }
    }

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
