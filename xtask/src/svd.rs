//! `docs/mias.svd`: the register map for debuggers and register viewers, in CMSIS-SVD 1.3. Written from the same tables as the
//! map's page, and read back by a parser in the tests.

use anyhow::{Context, Result};
use mias_firmware::regs::{self, Access, Register, global, slot, sm};

use crate::docs::{FIELDS, Group, groups, plain, policy_codes};
use crate::util::root;

/// The file, relative to the root.
const FILE: &str = "docs/mias.svd";

/// Where the images expect the block (`firmware/images/src/bin/image/`): Cortex-M's. Assumption there.
const BASE: u32 = 0xA000_0000;

/// Which bits or codes a register holds: region, register, module or enumeration in `fields.rs`.
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
    ("global", "PREEMPT", "preempt"),
];

/// Writes the file.
pub(crate) fn write() -> Result<()> {
    std::fs::write(root().join(FILE), file()).with_context(|| format!("cannot write {FILE}"))?;
    println!("wrote {FILE}");
    Ok(())
}

/// The whole file.
fn file() -> String {
    let mut groups = groups(FIELDS);
    groups.push(policy_codes());
    let mut text = format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<!-- Written by `cargo xtask docs` from firmware/src/regs/; a test fails when it is not current. -->
<device schemaVersion="1.3" xmlns:xs="http://www.w3.org/2001/XMLSchema-instance" xs:noNamespaceSchemaLocation="CMSIS-SVD.xsd">
  <name>MIAS</name>
  <version>{major}.{minor}</version>
  <description>Register block of the MIAS thread-block scheduler</description>
  <addressUnitBits>8</addressUnitBits>
  <width>32</width>
  <size>32</size>
  <resetValue>0</resetValue>
  <resetMask>0xFFFFFFFF</resetMask>
  <peripherals>
    <peripheral>
      <name>MIAS</name>
      <description>Thread-block scheduler</description>
      <baseAddress>{BASE:#X}</baseAddress>
      <addressBlock><offset>0</offset><size>{end:#X}</size><usage>registers</usage></addressBlock>
      <interrupt><name>MIAS</name><description>High while INT_PENDING is not 0</description><value>0</value></interrupt>
      <registers>
"#,
        major = regs::VERSION_VALUE >> 16,
        minor = regs::VERSION_VALUE & 0xFFFF,
        end = regs::MAP_END,
    );
    text += &registers("global", global::REGISTERS, 8, &groups);
    text +=
        &cluster("SLOT", "A launched kernel", regs::MAX_SLOTS, slot::BASE, slot::STRIDE, &registers("slot", slot::REGISTERS, 10, &groups));
    text += &cluster("SM", "A streaming multiprocessor", regs::MAX_SMS, sm::BASE, sm::STRIDE, &registers("sm", sm::REGISTERS, 10, &groups));
    text + "      </registers>\n    </peripheral>\n  </peripherals>\n</device>\n"
}

fn cluster(name: &str, meaning: &str, count: usize, base: u32, stride: u32, registers: &str) -> String {
    format!(
        "        <cluster>\n          <dim>{count}</dim>\n          <dimIncrement>{stride:#X}</dimIncrement>\n          <name>{name}[%s]</name>\n          \
         <description>{meaning}</description>\n          <addressOffset>{base:#X}</addressOffset>\n{registers}        </cluster>\n"
    )
}

fn registers(region: &str, registers: &[Register], indent: usize, groups: &[Group]) -> String {
    let pad = " ".repeat(indent);
    let mut text = String::new();
    for register in registers {
        let (array, dim) = match register.count {
            1 => ("", String::new()),
            count => ("[%s]", format!("<dim>{count}</dim><dimIncrement>4</dimIncrement>")),
        };
        let (access, written) = access(register.access);
        text += &format!("{pad}<register>{dim}\n{pad}  <name>{}{array}</name>\n", register.name);
        text += &format!("{pad}  <description>{}</description>\n", escaped(&plain(register.doc)));
        text += &format!("{pad}  <addressOffset>{:#X}</addressOffset>\n{pad}  <access>{access}</access>\n", register.offset);
        match register.reset {
            Some(value) => text += &format!("{pad}  <resetValue>{value:#X}</resetValue>\n"),
            None => text += &format!("{pad}  <resetMask>0</resetMask>\n"),
        }
        text += &written.map_or_else(String::new, |written| format!("{pad}  <modifiedWriteValues>{written}</modifiedWriteValues>\n"));
        // Reading this one latches its other half.
        if region == "global" && register.offset == global::CYCLE_LOW {
            text += &format!("{pad}  <readAction>modify</readAction>\n");
        }
        let contents = CONTENTS.iter().find(|(of, name, _)| *of == region && *name == register.name);
        if let Some(group) = contents.and_then(|(_, _, name)| groups.iter().find(|group| group.name == *name)) {
            text += &fields(group, &pad);
        }
        text += &format!("{pad}</register>\n");
    }
    text
}

/// One field per bit, or one field with its codes.
fn fields(group: &Group, pad: &str) -> String {
    let bits: Vec<_> = group.entries.iter().filter_map(|entry| Some((entry, entry.value.strip_prefix("1 << ")?))).collect();
    let mut text = format!("{pad}  <fields>\n");
    for (entry, bit) in &bits {
        text += &format!(
            "{pad}    <field><name>{}</name><description>{}</description><bitOffset>{bit}</bitOffset><bitWidth>1</bitWidth></field>\n",
            entry.name,
            escaped(&entry.meaning)
        );
    }
    if bits.is_empty() {
        text +=
            &format!("{pad}    <field><name>CODE</name><bitOffset>0</bitOffset><bitWidth>32</bitWidth>\n{pad}      <enumeratedValues>\n");
        for entry in &group.entries {
            text += &format!(
                "{pad}        <enumeratedValue><name>{}</name><description>{}</description><value>{}</value></enumeratedValue>\n",
                entry.name,
                escaped(&entry.meaning),
                entry.value
            );
        }
        text += &format!("{pad}      </enumeratedValues>\n{pad}    </field>\n");
    }
    text + &format!("{pad}  </fields>\n")
}

/// SVD's name of an access rule, and what a write does where that is not a plain write.
fn access(access: Access) -> (&'static str, Option<&'static str>) {
    match access {
        Access::ReadOnly => ("read-only", None),
        Access::ReadWrite => ("read-write", None),
        Access::WriteOnly => ("write-only", None),
        Access::WriteOneToClear => ("read-write", Some("oneToClear")),
        Access::WriteOneToSet => ("read-write", Some("oneToSet")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('`', "").replace("\\|", "|").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use svd_parser::svd::{Access as SvdAccess, Device, RegisterInfo};

    use super::*;

    fn device() -> Device {
        svd_parser::parse(&file()).expect("the file is SVD")
    }

    #[test]
    fn the_file_is_current() {
        let written = std::fs::read_to_string(root().join(FILE)).unwrap_or_default();
        assert!(written == file(), "{FILE} is not what the map says; write it with `cargo xtask docs`");
    }

    fn check(found: &[&RegisterInfo], expected: &[Register]) {
        assert_eq!(found.len(), expected.len());
        for (found, register) in found.iter().zip(expected) {
            assert_eq!(found.name.trim_end_matches("[%s]"), register.name);
            assert_eq!(found.address_offset, register.offset, "{}", register.name);
            let access = found.properties.access.expect("every register has an access rule");
            assert_eq!(access.can_read(), register.access.readable(), "{}", register.name);
            assert_eq!(access != SvdAccess::ReadOnly, register.access.writable(), "{}", register.name);
            assert_eq!(found.properties.reset_value, register.reset.map(u64::from), "{}", register.name);
        }
    }

    #[test]
    fn a_parser_finds_every_register_where_the_map_has_it() {
        let device = device();
        let block = &device.peripherals[0];
        assert_eq!(u64::from(BASE), block.base_address);
        check(&block.registers().map(|register| &**register).collect::<Vec<_>>(), global::REGISTERS);
        let clusters: Vec<_> = block.clusters().collect();
        assert_eq!(clusters.len(), 2);
        for (cluster, (registers, base, stride)) in
            clusters.into_iter().zip([(slot::REGISTERS, slot::BASE, slot::STRIDE), (sm::REGISTERS, sm::BASE, sm::STRIDE)])
        {
            check(&cluster.registers().map(|register| &**register).collect::<Vec<_>>(), registers);
            assert_eq!(cluster.address_offset, base);
            let svd_parser::svd::Cluster::Array(_, dim) = cluster else { panic!("not an array") };
            assert_eq!(dim.dim_increment, stride);
        }
    }

    #[test]
    fn bits_and_codes_are_where_the_map_has_them() {
        let device = device();
        let block = &device.peripherals[0];
        let register = |name: &str| block.registers().find(|register| register.name == name).expect(name);
        let bit = |of: &str, field: &str| register(of).get_field(field).expect(field).bit_range.offset;
        assert_eq!(1 << bit("INT_STATUS", "PROFILE_DONE"), regs::interrupt::PROFILE_DONE);
        assert_eq!(1 << bit("FAULT", "NO_SAMPLES"), regs::fault::NO_SAMPLES);
        assert_eq!(1 << bit("STRAP_OPTIONS", "WARP_IPC"), regs::option::WARP_IPC);
        let codes = &register("STRAP_POLICY").get_field("CODE").expect("codes").enumerated_values[0];
        assert_eq!(codes.values.len(), regs::PolicyCode::ALL.len());
        assert!(codes.values.iter().any(|code| code.name == "MiasFactor" && code.value == Some(4)));
    }
}
