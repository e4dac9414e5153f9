//! The file as a parser reads it, compared with the map: every register, bit and code, with its
//! meaning.

use svd_parser::svd::MaybeArray;

use super::*;
use crate::util::root;

/// Parses the file as a tool does.
fn read() -> Device {
    svd_parser::parse(&file().expect("the map can be described")).expect("the file is SVD")
}

#[test]
fn the_file_is_current() {
    let written = std::fs::read_to_string(root().join(FILE)).unwrap_or_default();
    assert!(written == file().unwrap(), "{FILE} is not what the map says; write it with `cargo xtask docs`");
}

#[test]
fn a_parser_reads_what_was_described() {
    assert_eq!(read(), device().unwrap());
}

/// Compares a register with its count and stride in the file and in the map.
fn check(found: &svd_rs::Register, expected: &Register, region: &str, groups: &[Group]) {
    let name = format!("{region} {}", expected.name);
    let (count, distance) = match found {
        MaybeArray::Single(_) => (1, 4),
        MaybeArray::Array(_, dim) => (dim.dim, dim.dim_increment),
    };
    assert_eq!((count, distance), (expected.count, 4), "{name}");
    assert_eq!(found.name.trim_end_matches("[%s]"), expected.name);
    assert_eq!(found.description.as_deref(), Some(&*text(&plain(expected.doc))), "{name}");
    assert_eq!(found.address_offset, expected.offset, "{name}");
    assert_eq!(found.properties.reset_value, expected.reset.map(u64::from), "{name}");
    assert_eq!(found.properties.reset_mask, if expected.reset.is_some() { None } else { Some(0) }, "{name}");
    let access = found.properties.access.expect("every register has an access rule");
    assert_eq!(access.can_read(), expected.access.readable(), "{name}");
    assert_eq!(access != Access::ReadOnly, expected.access.writable(), "{name}");
    let clears = found.modified_write_values == Some(ModifiedWriteValues::OneToClear);
    assert_eq!(clears, expected.access == regs::Access::WriteOneToClear, "{name}");
    let contents = CONTENTS.iter().find(|(of, register, _)| (*of, *register) == (region, expected.name));
    let group = contents.map(|(_, _, group)| groups.iter().find(|known| known.name == *group).expect(group));
    check_fields(found, group);
}

/// Compares bits and codes, with their meanings.
fn check_fields(found: &RegisterInfo, group: Option<&Group>) {
    let fields: Vec<_> = found.fields().collect();
    let Some(group) = group else { return assert!(fields.is_empty(), "{}", found.name) };
    let is_code = matches!(&fields[..], [only] if only.name == "CODE");
    let listed: Vec<_> = if is_code {
        let codes = fields[0].enumerated_values[0].values.iter();
        codes.map(|code| (code.name.clone(), code.description.clone(), code.value.unwrap().to_string())).collect()
    } else {
        let bit = |field: &&Field| (field.name.clone(), field.description.clone(), format!("1 << {}", field.bit_offset()));
        assert!(fields.iter().all(|field| field.bit_width() == 1));
        fields.iter().map(bit).collect()
    };
    // A constant of several bits is no field.
    let entries = group.entries.iter().filter(|entry| is_code || entry.value.starts_with("1 << "));
    let expected: Vec<_> = entries.map(|entry| (entry.name.clone(), Some(text(&entry.meaning)), entry.value.clone())).collect();
    assert_eq!(listed, expected, "{}", found.name);
}

#[test]
fn every_register_is_where_and_what_the_map_says() {
    let (device, groups) = (read(), all_groups());
    let block = &device.peripherals[0];
    assert_eq!(u64::from(BASE), block.base_address);
    let all = |found: Vec<&svd_rs::Register>, expected: &[Register], region| {
        assert_eq!(found.len(), expected.len());
        found.into_iter().zip(expected).for_each(|(found, expected)| check(found, expected, region, &groups));
    };
    all(block.registers().collect(), global::REGISTERS, "global");
    let clusters: Vec<_> = block.clusters().collect();
    assert_eq!(clusters.len(), 5);
    for (cluster, (region, registers, count, base, stride)) in clusters.into_iter().zip([
        ("slot", slot::REGISTERS, regs::KERNEL_SLOTS, slot::BASE, slot::STRIDE),
        ("queue", queue::REGISTERS, queue::ENTRIES, queue::BASE, queue::STRIDE),
        ("memory", memory::REGISTERS, regs::MAX_SMS, memory::BASE, memory::STRIDE),
        ("sm", sm::REGISTERS, regs::MAX_SMS, sm::BASE, sm::STRIDE),
        ("preempt", preempt::REGISTERS, regs::MAX_SMS, preempt::BASE, preempt::STRIDE),
    ]) {
        all(cluster.registers().collect(), registers, region);
        assert_eq!(cluster.address_offset, base);
        let Cluster::Array(_, dim) = cluster else { panic!("not an array") };
        assert_eq!((dim.dim as usize, dim.dim_increment), (count, stride));
    }
}

/// Values are compared with the constants themselves instead of their source text.
#[test]
fn bits_and_codes_have_the_values_of_the_constants() {
    let device = read();
    let block = &device.peripherals[0];
    let register = |name: &str| block.registers().find(|register| register.name == name).expect(name);
    let bit = |of: &str, field: &str| register(of).get_field(field).expect(field).bit_range.offset;
    assert_eq!(1 << bit("INT_STATUS", "PROFILE_DONE"), regs::interrupt::PROFILE_DONE);
    assert_eq!(1 << bit("FAULT", "NO_SAMPLES"), regs::fault::NO_SAMPLES);
    assert_eq!(1 << bit("STRAP_OPTIONS", "WARP_IPC"), regs::option::WARP_IPC);
    let codes = &register("STRAP_POLICY").get_field("CODE").expect("codes").enumerated_values[0];
    let found: Vec<_> = codes.values.iter().map(|code| (code.name.clone(), code.value)).collect();
    let expected: Vec<_> = regs::PolicyCode::ALL.iter().map(|code| (format!("{code:?}"), Some(*code as u64))).collect();
    assert_eq!(found, expected);
}
