//! The header is current, and agrees with the map on every register, bit and code: checked line by
//! line, and by a C compiler.

use super::*;
use crate::util::root;
use mias_registers::{PhaseCode, PolicyCode};
use std::collections::BTreeMap;
use std::process::Command;

fn written() -> String {
    std::fs::read_to_string(root().join(FILE)).unwrap_or_default()
}

/// Returns every macro with a value; the include guard has none.
fn macros(text: &str) -> BTreeMap<&str, u32> {
    let values = text.lines().filter_map(|line| {
        let (name, value) = line.strip_prefix("#define MIAS_")?.split_once(' ')?;
        let digits = value.strip_prefix("UINT32_C(0x")?.strip_suffix(')')?;
        Some((name, u32::from_str_radix(digits, 16).expect("a number")))
    });
    let all: Vec<_> = values.collect();
    let map = BTreeMap::from_iter(all.iter().copied());
    assert_eq!(map.len(), all.len(), "a name stands twice");
    map
}

#[test]
fn the_header_is_current() {
    assert!(written() == file().unwrap(), "{FILE} is not what the map says; write it with `cargo xtask docs`");
}

/// Each macro is accounted for by the tables and constants of the map, independently of the
/// generator.
#[test]
fn every_macro_is_the_maps() {
    let text = written();
    let mut found = macros(&text);
    let mut take = |name: &str, value: u32| assert_eq!(found.remove(name), Some(value), "MIAS_{name}");
    for (prefix, registers) in [
        ("", global::REGISTERS),
        ("SLOT_REG_", slot::REGISTERS),
        ("SM_REG_", sm::REGISTERS),
        ("MEMORY_REG_", memory::REGISTERS),
        ("PREEMPT_REG_", preempt::REGISTERS),
        ("QUEUE_REG_", queue::REGISTERS),
    ] {
        registers.iter().for_each(|register| take(&format!("{prefix}{}", register.name), register.offset));
    }
    for (name, value) in [
        ("ID_VALUE", 0x4D49_4153),
        ("VERSION_VALUE", regs::VERSION_VALUE),
        ("MAX_SMS", 256),
        ("KERNEL_SLOTS", 8),
        ("MAX_WINDOW", 131_071),
        ("MAP_END", 0x2_0000 + 256 * 0x500),
        ("SLOT_BASE", 0x800),
        ("SLOT_STRIDE", 0x40),
        ("QUEUE_BASE", 0x1000),
        ("QUEUE_STRIDE", 0x40),
        ("QUEUE_WINDOW", 16),
        ("MEMORY_BASE", 0x2000),
        ("MEMORY_STRIDE", 0xE0),
        ("SM_BASE", 0x1_0000),
        ("SM_STRIDE", 0x100),
        ("PREEMPT_BASE", 0x2_0000),
        ("PREEMPT_STRIDE", 0x500),
        ("COUNTER_CYCLES", 0),
        ("COUNTER_ISSUE_CYCLES", 1),
        ("COUNTER_MEMORY_STALL_CYCLES", 2),
        ("COUNTER_L1_RESERVATION_FAILS", 8),
        ("INTERRUPT_LAUNCH", regs::interrupt::LAUNCH),
        ("INTERRUPT_ALL", regs::interrupt::ALL),
        ("FAULT_NO_SAMPLES", regs::fault::NO_SAMPLES),
        ("FAULT_ALL", regs::fault::ALL),
        ("MODE_IDEAL", regs::mode::IDEAL),
        ("OPTION_UNSCALED_PROFILE", regs::option::UNSCALED_PROFILE),
        ("SM_CONTROL_SNAPSHOT", regs::sm_control::SNAPSHOT),
        ("SLOT_STATUS_COMPLETED", regs::slot_status::COMPLETED),
        ("PREEMPT_COMMAND_BUSY", regs::preempt_command::BUSY),
        ("TECHNIQUE_SWITCH", regs::technique::SWITCH),
        ("PHASE_STEADY", PhaseCode::Steady as u32),
        ("POLICY_LEFT_OVER", PolicyCode::LeftOver as u32),
        ("POLICY_MIAS_IPM_IPC", PolicyCode::MiasIpmIpc as u32),
    ] {
        take(name, value);
    }
    // The remaining macros match the map in number. Bits and codes are checked by their sums over a
    // group, so that none is missing or wrong.
    let mut group = |prefix: &str| -> (usize, u64) {
        let names: Vec<_> = found.keys().copied().filter(|name| name.starts_with(prefix)).collect();
        let sum = names.iter().filter_map(|name| found.remove(name)).map(u64::from).sum();
        (names.len(), sum)
    };
    let counters = group("COUNTER_");
    assert_eq!(counters, (Counter::ALL.len() - 4, (0..Counter::ALL.len() as u64).sum::<u64>() - 11));
    let policies = PolicyCode::ALL.len() as u64;
    let taken = PolicyCode::LeftOver as u64 + PolicyCode::MiasIpmIpc as u64;
    assert_eq!(group("POLICY_"), (policies as usize - 2, (0..policies).sum::<u64>() - taken));
    assert_eq!(group("PHASE_"), (PhaseCode::ALL.len() - 1, (0..6).sum()));
    assert_eq!(group("INTERRUPT_"), (11, 0xFFE));
    // All bits, including those raised by firmware alone.
    let all = u64::from(regs::fault::ALL - regs::fault::NO_SAMPLES + regs::fault::BY_FIRMWARE);
    assert_eq!(group("FAULT_"), (13, all));
    assert_eq!(group("MODE_"), (2, 2));
    assert_eq!(group("OPTION_"), (17, 0b11_1111_1111_1011_1111));
    assert_eq!(group("FEATURE_"), (12, 0b1111_1111_1111));
    // A mask and a bit; a mask, two bits, a position and three classes.
    assert_eq!(group("CONTEXT_BOUND_"), (2, 0x1FF));
    assert_eq!(group("CONTEXT_ALLOWED_"), (7, 0x3FF + 10 + (1 + 2 + 3)));
    assert_eq!(group("DRAM_ORDER_"), (5, (0..5).sum()));
    assert_eq!(group("MEMORY_ACTIVE_"), (3, 1 + 2));
    // Two masks; three orders and four kinds of limits.
    assert_eq!(group("MEMORY_MODE_"), (9, 0x33 + (1 + 2) + (0x10 + 0x20 + 0x30)));
    // A mask and a position.
    assert_eq!(group("MONITOR_"), (2, 0x3FF + 16));
    assert_eq!(group("SM_STATE_"), (5, 1 + 2 + 3 + 4));
    assert_eq!(group("SM_STATUS_"), (3, 0b111));
    assert_eq!(group("SM_CONTROL_"), (2, 0b11));
    assert_eq!(group("SLOT_STATUS_"), (2, 0b11));
    assert_eq!(group("SLOT_CONTROL_"), (2, 0b11));
    assert_eq!(group("TECHNIQUE_"), (3, 1 + 2));
    // Two bits and two positions.
    assert_eq!(group("PREEMPT_TB_"), (4, 0b11 + 4 + 8));
    // Three positions, two bits next to the one above, and four reasons.
    assert_eq!(group("PREEMPT_COMMAND_"), (9, 8 + 8 + (0x20 + 0x40) + (1 + 2 + 3 + 4)));
    assert_eq!(group("PREEMPT_RESERVE_"), (2, 0x1F));
    assert_eq!(group("PREEMPT_SCHEME_"), (8, 28));
    // Two bits, two masks and a position.
    assert_eq!(group("SEARCH_FOUND_"), (5, (1 << 31) + (1 << 17) + 0xFF + 0x1FF + 8));
    assert!(found.is_empty(), "{found:?}");
}

/// Returns the members of a structure with their sizes in bytes, in order; `sizes` are those of
/// nested structures.
fn members<'a>(text: &'a str, name: &str, sizes: &BTreeMap<&str, u32>) -> Vec<(&'a str, u32)> {
    let body = text.split_once(&format!("struct {name} {{\n")).expect(name).1.split_once("\n};").expect(name).0;
    let member = |line: &'a str| {
        let code = line.trim();
        let declaration = if code.starts_with(['/', '*']) { None } else { code.strip_suffix(';') };
        let words: Vec<_> = declaration?.split(' ').collect();
        let (declared, kind) = (*words.last()?, words[words.len() - 2]);
        let (member, count) =
            declared.split_once('[').map_or((declared, 1), |(member, rest)| (member, rest.trim_end_matches(']').parse().unwrap()));
        Some((member, count * if kind == "uint32_t" { 4 } else { sizes[kind] }))
    };
    body.lines().filter_map(member).collect()
}

/// Offsets of registers in the structures, without a compiler: every member is whole words, so that
/// there is no padding.
#[test]
fn the_structures_have_every_register_where_the_map_has_it() {
    let text = written();
    let mut sizes = BTreeMap::new();
    for (name, registers, bytes) in [
        ("mias_slot", slot::REGISTERS, slot::STRIDE),
        ("mias_queue_entry", queue::REGISTERS, queue::STRIDE),
        ("mias_memory", memory::REGISTERS, memory::STRIDE),
        ("mias_sm", sm::REGISTERS, sm::STRIDE),
        ("mias_preempt", preempt::REGISTERS, preempt::STRIDE),
        ("mias_block", global::REGISTERS, regs::MAP_END),
    ] {
        let members = members(&text, name, &sizes);
        let mut at = 0;
        let mut places = BTreeMap::new();
        for (member, bytes) in members {
            places.insert(member.to_uppercase(), at);
            at += bytes;
        }
        assert_eq!(at, bytes, "bytes of {name}");
        for register in registers {
            assert_eq!(places.get(register.name), Some(&register.offset), "{name} {}", register.name);
        }
        sizes.insert(name, bytes);
    }
}

/// If a compiler is available, it agrees: the header asserts its own layout. It is C and C++, and
/// may be included twice.
#[test]
fn a_compiler_takes_it() {
    let Ok(version) = Command::new("cc").arg("--version").output() else {
        eprintln!("no C compiler: only read, by the tests beside this one");
        return;
    };
    assert!(version.status.success());
    let folder = tempfile::tempdir().unwrap();
    let header = root().join(FILE);
    let source = folder.path().join("main.c");
    let include = format!("#include \"{}\"\n", header.display());
    std::fs::write(&source, format!("{include}{include}uint32_t id(struct mias_block *block) {{ return block->id - MIAS_ID_VALUE; }}\n"))
        .unwrap();
    let compile = |source: &std::path::Path| {
        Command::new("cc").args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]).arg(source).output().unwrap()
    };
    let output = compile(&source);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The check is effective: with a register moved, the header does not compile.
    let moved = written().replacen("#define MIAS_VERSION UINT32_C(0x4)", "#define MIAS_VERSION UINT32_C(0x8)", 1);
    let wrong = folder.path().join("wrong.c");
    std::fs::write(&wrong, moved).unwrap();
    assert!(!compile(&wrong).status.success());
}

#[test]
fn names_and_numbers_are_c() {
    let names = ["PhaseCode", "LeftOver", "sm_status", "L1Accesses", "MiasIpmIpc"].map(upper);
    assert_eq!(names, ["PHASE", "LEFT_OVER", "SM_STATUS", "L1_ACCESSES", "MIAS_IPM_IPC"]);
    assert_eq!(["1 << 31", "0xFF", "12", "x", "1 << 32"].map(number), [Some(1 << 31), Some(255), Some(12), None, None]);
}
