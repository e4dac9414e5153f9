//! Register map for debuggers and register viewers, in CMSIS-SVD 1.3: `docs/generated/mias.svd`. It
//! is described by the same tables as the map's page, written by the crate `svd-encoder`, and read
//! back by `svd-parser` in the tests.

use anyhow::{Context, Result};
use mias_registers::{self as regs, Register, global, memory, preempt, queue, slot, sm};
use svd_encoder::encode;
use svd_rs::{
    Access, AddressBlock, AddressBlockUsage, BitRange, Cluster, ClusterInfo, Device, DimElement, EnumeratedValue, EnumeratedValues, Field,
    FieldInfo, Interrupt, ModifiedWriteValues, PeripheralInfo, ReadAction, RegisterCluster, RegisterInfo, RegisterProperties,
    ValidateLevel,
};

use crate::source_docs::{Entry, Group, all_groups, plain};
use crate::util::write_file;

/// Path of the file, relative to the root.
const FILE: &str = "docs/generated/mias.svd";

/// Text before the device in the file.
const HEAD: &str = "<!-- Written by `cargo xtask docs` from firmware/registers/src/; a test fails when it is not current. -->";

/// Base address of the block in the images (`firmware/images/src/bin/image/`): Cortex-M's.
/// Assumption there.
const BASE: u32 = 0xA000_0000;

/// Width of a register in bits.
const WIDTH: u32 = 32;

/// Validation level of the description: names and values that every tool accepts.
const LEVEL: ValidateLevel = ValidateLevel::Strict;

/// Bits or codes of a register: region, register, module or enumeration in `fields.rs`.
const CONTENTS: [(&str, &str, &str); 15] = [
    ("global", "FEATURES", "feature"),
    ("global", "STRAP_POLICY", "PolicyCode"),
    ("global", "STRAP_OPTIONS", "option"),
    ("global", "INT_STATUS", "interrupt"),
    ("global", "INT_ENABLE", "interrupt"),
    ("global", "INT_PENDING", "interrupt"),
    ("global", "MODE", "mode"),
    ("global", "PHASE", "PhaseCode"),
    ("global", "FAULT", "fault"),
    ("global", "FAULT_SET", "fault"),
    ("slot", "STATUS", "slot_status"),
    ("slot", "CONTROL", "slot_control"),
    ("sm", "STATUS", "sm_status"),
    ("sm", "CONTROL", "sm_control"),
    ("global", "STRAP_PREEMPT", "preempt_scheme"),
];

/// Writes the file.
pub(crate) fn write() -> Result<()> {
    write_file(FILE, file()?)
}

/// Returns the whole file.
fn file() -> Result<String> {
    let text = encode(&device()?)?;
    let (declaration, device) = text.split_once('\n').context("the encoder wrote one line")?;
    Ok(format!("{declaration}\n{HEAD}\n{device}\n"))
}

/// Returns the description: one block of global registers, slots, and SMs with separate memory
/// issue registers.
fn device() -> Result<Device> {
    let groups = all_groups();
    let mut children = registers("global", global::REGISTERS, &groups)?;
    for (name, meaning, count, base, stride, region, of) in [
        ("SLOT[%s]", "A launched kernel", regs::KERNEL_SLOTS, slot::BASE, slot::STRIDE, "slot", slot::REGISTERS),
        (
            "QUEUE[%s]",
            "A launch that waits, in the window of the queue",
            queue::ENTRIES,
            queue::BASE,
            queue::STRIDE,
            "queue",
            queue::REGISTERS,
        ),
        (
            "MEMORY[%s]",
            "Memory issue of a streaming multiprocessor",
            regs::MAX_SMS,
            memory::BASE,
            memory::STRIDE,
            "memory",
            memory::REGISTERS,
        ),
        ("SM[%s]", "A streaming multiprocessor", regs::MAX_SMS, sm::BASE, sm::STRIDE, "sm", sm::REGISTERS),
        (
            "PREEMPT[%s]",
            "Preemption of a streaming multiprocessor",
            regs::MAX_SMS,
            preempt::BASE,
            preempt::STRIDE,
            "preempt",
            preempt::REGISTERS,
        ),
    ] {
        let cluster = ClusterInfo::builder().name(name.into()).description(Some(meaning.into())).address_offset(base);
        let cluster = cluster.children(registers(region, of, &groups)?).build(LEVEL)?;
        children.push(RegisterCluster::Cluster(Cluster::Array(cluster, dim(u32::try_from(count)?, stride)?)));
    }
    let area = AddressBlock::builder().offset(0).size(regs::MAP_END).usage(AddressBlockUsage::Registers).build(LEVEL)?;
    let line = Interrupt::builder().name("MIAS".into()).description(Some("High while INT_PENDING is not 0".into())).value(0);
    let block = PeripheralInfo::builder()
        .name("MIAS".into())
        .description(Some("Thread-block scheduler".into()))
        .base_address(BASE.into())
        .address_block(Some(vec![area]))
        .interrupt(Some(vec![line.build(LEVEL)?]))
        .registers(Some(children));
    let usual = RegisterProperties::new().size(Some(WIDTH)).reset_value(Some(0)).reset_mask(Some(u32::MAX.into()));
    let device = Device::builder()
        .schema_version("1.3".into())
        .no_namespace_schema_location("CMSIS-SVD.xsd".into())
        .name("MIAS".into())
        .version(format!("{}.{}", regs::VERSION_VALUE >> 16, regs::VERSION_VALUE & 0xFFFF))
        .description("Register block of the MIAS thread-block scheduler".into())
        .address_unit_bits(8)
        .width(WIDTH)
        .default_register_properties(usual)
        .peripherals(vec![block.build(LEVEL)?.single()]);
    Ok(device.build(LEVEL)?)
}

fn dim(count: u32, stride: u32) -> Result<DimElement> {
    Ok(DimElement::builder().dim(count).dim_increment(stride).build(LEVEL)?)
}

fn registers(region: &str, registers: &[Register], groups: &[Group]) -> Result<Vec<RegisterCluster>> {
    registers.iter().map(|register| described(region, register, groups).with_context(|| format!("{region} {}", register.name))).collect()
}

/// Returns a register, or an array of them.
fn described(region: &str, register: &Register, groups: &[Group]) -> Result<RegisterCluster> {
    let (access, written) = access(register.access);
    let contents = CONTENTS.iter().find(|(of, name, _)| *of == region && *name == register.name);
    let group = contents.and_then(|(_, _, name)| groups.iter().find(|group| group.name == *name));
    // A read of this register latches its other half.
    let latches = region == "global" && register.offset == global::CYCLE_LOW;
    let array = if register.count == 1 { "" } else { "[%s]" };
    let info = RegisterInfo::builder()
        .name(format!("{}{array}", register.name))
        .description(Some(text(&plain(register.doc))))
        .address_offset(register.offset)
        .access(Some(access))
        .reset_value(register.reset.map(u64::from))
        // A value that depends on the GPU has no known bits.
        .reset_mask(register.reset.is_none().then_some(0))
        .modified_write_values(written)
        .read_action(latches.then_some(ReadAction::Modify))
        .fields(group.map(fields).transpose()?)
        .build(LEVEL)?;
    let dim = if register.count == 1 { None } else { Some(dim(register.count, WIDTH / 8)?) };
    Ok(RegisterCluster::Register(info.maybe_array(dim)))
}

/// Returns one field per bit, or one field with its codes.
fn fields(group: &Group) -> Result<Vec<Field>> {
    let bits: Vec<_> = group.entries.iter().filter_map(|entry| Some((entry, entry.value.strip_prefix("1 << ")?))).collect();
    if bits.is_empty() {
        let codes = EnumeratedValues::builder().values(group.entries.iter().map(code).collect::<Result<_>>()?).build(LEVEL)?;
        let field = FieldInfo::builder().name("CODE".into()).bit_range(BitRange::from_offset_width(0, WIDTH));
        return Ok(vec![field.enumerated_values(vec![codes]).build(LEVEL)?.single()]);
    }
    let bit = |(entry, bit): (&Entry, &str)| {
        let field = FieldInfo::builder().name(entry.name.clone()).description(Some(text(&entry.meaning)));
        Ok(field.bit_range(BitRange::from_offset_width(bit.parse()?, 1)).build(LEVEL)?.single())
    };
    bits.into_iter().map(bit).collect()
}

fn code(entry: &Entry) -> Result<EnumeratedValue> {
    let value = entry.value.parse().with_context(|| format!("{} is {:?}, which is not a code", entry.name, entry.value))?;
    let described = EnumeratedValue::builder().name(entry.name.clone()).description(Some(text(&entry.meaning)));
    Ok(described.value(Some(value)).build(LEVEL)?)
}

/// Returns SVD's name of an access rule, and the effect of a write if it is not a plain one.
fn access(access: regs::Access) -> (Access, Option<ModifiedWriteValues>) {
    match access {
        regs::Access::ReadOnly => (Access::ReadOnly, None),
        regs::Access::ReadWrite => (Access::ReadWrite, None),
        regs::Access::WriteOnly => (Access::WriteOnly, None),
        regs::Access::WriteOneToClear => (Access::ReadWrite, Some(ModifiedWriteValues::OneToClear)),
        regs::Access::WriteOneToSet => (Access::ReadWrite, Some(ModifiedWriteValues::OneToSet)),
    }
}

/// Converts Markdown to plain text.
fn text(markdown: &str) -> String {
    markdown.replace('`', "").replace("\\|", "|")
}

#[cfg(test)]
mod tests;
