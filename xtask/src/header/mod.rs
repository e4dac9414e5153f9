//! Register map for C and C++: `docs/generated/mias.h`. It is generated from the same tables as the
//! map's page and the SVD file. Offsets, bits and codes are macros; the block is a structure, whose
//! layout the compiler checks against the macros.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use mias_registers::counters::Counter;
use mias_registers::{self as regs, Access, Register, global, memory, preempt, queue, slot, sm};

use crate::source_docs::{Group, all_groups, plain};
use crate::util::write_file;

/// Path of the file, relative to the root.
const FILE: &str = "docs/generated/mias.h";

/// Columns of a comment line, without its delimiters.
const WIDTH: usize = 100;

/// Region: the prefix of its macros, its structure, and its registers.
struct Region {
    prefix: &'static str,
    name: &'static str,
    meaning: &'static str,
    registers: &'static [Register],
}

const GLOBAL: Region = Region { prefix: "", name: "mias_block", meaning: "The register block.", registers: global::REGISTERS };
const SLOT: Region = Region { prefix: "SLOT_REG_", name: "mias_slot", meaning: "A launched kernel.", registers: slot::REGISTERS };
const MEMORY: Region = Region {
    prefix: "MEMORY_REG_",
    name: "mias_memory",
    meaning: "Memory issue of a streaming multiprocessor.",
    registers: memory::REGISTERS,
};
const SM: Region = Region { prefix: "SM_REG_", name: "mias_sm", meaning: "A streaming multiprocessor.", registers: sm::REGISTERS };
const QUEUE: Region = Region {
    prefix: "QUEUE_REG_",
    name: "mias_queue_entry",
    meaning: "A launch that waits, in the window of the queue.",
    registers: queue::REGISTERS,
};
const PREEMPT: Region = Region {
    prefix: "PREEMPT_REG_",
    name: "mias_preempt",
    meaning: "Preemption of a streaming multiprocessor.",
    registers: preempt::REGISTERS,
};

/// Writes the file.
pub(crate) fn write() -> Result<()> {
    write_file(FILE, file()?)
}

/// Returns the whole file.
fn file() -> Result<String> {
    let mut text = String::from(
        "/* Register block of the MIAS thread-block scheduler, for C99, C11 and C++11.
 *
 * Written by `cargo xtask docs` from firmware/registers/src/; a test fails when it is not current. Do not edit it.
 *
 * Every register is 32 bits wide, little endian, at a byte offset that is a multiple of four. docs/reference/registers.md has the access rules.
 * For a block that is mapped into memory: struct mias_block. For one behind a serial bus: the offsets.
 */
#ifndef MIAS_H
#define MIAS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

",
    );
    for (name, value, meaning) in [
        ("ID_VALUE", regs::ID_VALUE, "What ID holds: \"MIAS\", most significant byte first."),
        ("VERSION_VALUE", regs::VERSION_VALUE, "What VERSION holds: major in the upper half, minor in the lower."),
        ("MAX_SMS", u32::try_from(regs::MAX_SMS)?, "SMs that the map has room for."),
        ("KERNEL_SLOTS", u32::try_from(regs::KERNEL_SLOTS)?, "Kernel slots that the map has room for."),
        ("MAX_WINDOW", regs::MAX_WINDOW, "Longest profiling window in cycles."),
        ("MAP_END", regs::MAP_END, "First byte offset beyond the map."),
        ("SLOT_BASE", slot::BASE, "Byte offset of slot 0."),
        ("SLOT_STRIDE", slot::STRIDE, "Bytes from slot to slot."),
        ("QUEUE_BASE", queue::BASE, "Byte offset of entry 0 of the window of the queue."),
        ("QUEUE_STRIDE", queue::STRIDE, "Bytes from entry to entry."),
        ("QUEUE_WINDOW", u32::try_from(queue::ENTRIES)?, "Entries of the window."),
        ("MEMORY_BASE", memory::BASE, "Byte offset of memory issue of SM 0."),
        ("MEMORY_STRIDE", memory::STRIDE, "Bytes from SM to SM in memory issue."),
        ("SM_BASE", sm::BASE, "Byte offset of SM 0."),
        ("SM_STRIDE", sm::STRIDE, "Bytes from SM to SM."),
        ("PREEMPT_BASE", preempt::BASE, "Byte offset of preemption of SM 0."),
        ("PREEMPT_STRIDE", preempt::STRIDE, "Bytes from SM to SM in preemption."),
    ] {
        define(&mut text, name, value, meaning);
    }
    offsets(&mut text, "Global registers: byte offsets in the block. Elements of an array are 4 bytes apart.", &GLOBAL);
    offsets(&mut text, "Registers of a slot: byte offsets in the slot.", &SLOT);
    offsets(&mut text, "Registers of an entry of the queue's window: byte offsets in the entry.", &QUEUE);
    offsets(&mut text, "Registers of memory issue: byte offsets in those of an SM.", &MEMORY);
    offsets(&mut text, "Registers of an SM: byte offsets in the SM.", &SM);
    offsets(&mut text, "Registers of preemption: byte offsets in those of an SM.", &PREEMPT);
    text += "\n/* Elements of an SM's COUNTERS, and bits of its SATURATED. */\n";
    for counter in Counter::ALL {
        let meaning = format!("{} bits; saturates.", counter.width());
        define(&mut text, &format!("COUNTER_{}", upper(&format!("{counter:?}"))), u32::try_from(counter.index())?, &meaning);
    }
    for group in all_groups() {
        bits_or_codes(&mut text, &group)?;
    }
    structure(&mut text, &SLOT, &[], slot::STRIDE);
    structure(&mut text, &QUEUE, &[], queue::STRIDE);
    structure(&mut text, &MEMORY, &[], memory::STRIDE);
    structure(&mut text, &SM, &[], sm::STRIDE);
    structure(&mut text, &PREEMPT, &[], preempt::STRIDE);
    let memory = (memory::BASE, regs::MAX_SMS, memory::STRIDE, "mias_memory memory");
    let preempt = (preempt::BASE, regs::MAX_SMS, preempt::STRIDE, "mias_preempt preempt");
    let sms = (sm::BASE, regs::MAX_SMS, sm::STRIDE, "mias_sm sm");
    let queue = (queue::BASE, queue::ENTRIES, queue::STRIDE, "mias_queue_entry queue");
    let parts = [(slot::BASE, regs::KERNEL_SLOTS, slot::STRIDE, "mias_slot slot"), queue, memory, sms, preempt];
    structure(&mut text, &GLOBAL, &parts, regs::MAP_END);
    checks(&mut text);
    Ok(text + "\n#endif\n")
}

/// Adds a macro with its comment.
fn define(text: &mut String, name: &str, value: u32, meaning: &str) {
    comment(text, "", meaning);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "#define MIAS_{name} UINT32_C({value:#x})");
}

fn offsets(text: &mut String, title: &str, region: &Region) {
    text.push('\n');
    comment(text, "", title);
    for register in region.registers {
        define(text, &format!("{}{}", region.prefix, register.name), register.offset, &described(register));
    }
}

/// Adds the bits of a register, or its codes.
fn bits_or_codes(text: &mut String, group: &Group) -> Result<()> {
    text.push('\n');
    comment(text, "", &unmarked(&group.meaning));
    for entry in &group.entries {
        let value = number(&entry.value).with_context(|| format!("{} {} is {:?}", group.name, entry.name, entry.value))?;
        define(text, &format!("{}_{}", upper(&group.name), upper(&entry.name)), value, &unmarked(&entry.meaning));
    }
    Ok(())
}

/// Parses the value of a constant in the source: `1 << n`, hexadecimal, or decimal.
fn number(source: &str) -> Option<u32> {
    if let Some(bit) = source.strip_prefix("1 << ") {
        return 1_u32.checked_shl(bit.parse().ok()?);
    }
    match source.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => source.parse().ok(),
    }
}

/// Adds a structure of `bytes`: a region's registers, and nested structures, each an array at an
/// offset with a stride.
fn structure(text: &mut String, region: &Region, parts: &[(u32, usize, u32, &str)], bytes: u32) {
    text.push('\n');
    comment(text, "", region.meaning);
    let _ = writeln!(text, "struct {} {{", region.name);
    let mut at = 0;
    for register in region.registers {
        gap(text, &mut at, register.offset);
        comment(text, "    ", &described(register));
        let constant = if register.access == Access::ReadOnly { "const " } else { "" };
        let count = if register.count == 1 { String::new() } else { format!("[{}]", register.count) };
        let _ = writeln!(text, "    {constant}volatile uint32_t {}{count};", register.name.to_lowercase());
        at += 4 * register.count;
    }
    for &(base, count, stride, part) in parts {
        gap(text, &mut at, base);
        let _ = writeln!(text, "    struct {part}[{count}];");
        at += count as u32 * stride;
    }
    gap(text, &mut at, bytes);
    text.push_str("};\n");
}

/// Adds padding up to the next register.
fn gap(text: &mut String, at: &mut u32, next: u32) {
    if *at < next {
        let _ = writeln!(text, "    uint32_t reserved_{at:x}[{}];", (next - *at) / 4);
        *at = next;
    }
}

/// Adds assertions that structures and macros agree.
fn checks(text: &mut String) {
    text.push_str(
        "\n/* The structures are as the offsets say; C99 cannot ask. */\n#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L\n",
    );
    let mut check = |left: &str, right: &str| {
        let _ = writeln!(text, "static_assert({left} == MIAS_{right}, \"MIAS_{right}\");");
    };
    for region in [&GLOBAL, &SLOT, &SM, &PREEMPT] {
        for register in region.registers {
            let member = register.name.to_lowercase();
            check(&format!("offsetof(struct {}, {member})", region.name), &format!("{}{}", region.prefix, register.name));
        }
    }
    check("offsetof(struct mias_block, slot)", "SLOT_BASE");
    check("offsetof(struct mias_block, sm)", "SM_BASE");
    check("offsetof(struct mias_block, preempt)", "PREEMPT_BASE");
    check("sizeof(struct mias_slot)", "SLOT_STRIDE");
    check("sizeof(struct mias_sm)", "SM_STRIDE");
    check("sizeof(struct mias_preempt)", "PREEMPT_STRIDE");
    check("sizeof(struct mias_block)", "MAP_END");
    text.push_str("#endif\n");
}

/// Returns access and meaning of a register, and the length of an array.
fn described(register: &Register) -> String {
    let access = match register.access {
        Access::ReadOnly => "Read only.",
        Access::ReadWrite => "Read and write.",
        Access::WriteOnly => "Write only.",
        Access::WriteOneToClear => "Write 1 to clear.",
        Access::WriteOneToSet => "Write 1 to set.",
    };
    let count = if register.count == 1 { String::new() } else { format!(" {} of them.", register.count) };
    format!("{access}{count} {}", unmarked(&plain(register.doc)))
}

/// Converts Markdown to the text of a comment.
fn unmarked(markdown: &str) -> String {
    markdown.replace(['`', '\\'], "").replace("*/", "* /")
}

/// Adds a comment, wrapped into lines.
fn comment(text: &mut String, indent: &str, meaning: &str) {
    let mut line = format!("{indent}/*");
    for word in meaning.split_whitespace() {
        if line.len() + word.len() > WIDTH {
            text.push_str(&line);
            line = format!("\n{indent} *");
        }
        line.push(' ');
        line += word;
    }
    text.push_str(&line);
    text.push_str(" */\n");
}

/// Converts `PhaseCode` to `PHASE`, `LeftOver` to `LEFT_OVER`, `sm_status` to `SM_STATUS`.
fn upper(name: &str) -> String {
    let name = name.strip_suffix("Code").unwrap_or(name);
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && text.ends_with(|before: char| before.is_lowercase() || before.is_ascii_digit()) {
            text.push('_');
        }
        text.push(letter);
    }
    text.to_uppercase()
}

#[cfg(test)]
mod tests;
