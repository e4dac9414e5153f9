//! Description of a failed access: its distance from the nearest argument, buffer or variable.

use super::error::AccessFault;
use super::exec::access::LaneFault;
use super::exec::memory::Space;
use super::launch::{Arg, Launch};
use super::memory::{DeviceMemory, Near};

/// Addresses from 0 that are considered a null pointer with an offset. Assumption: a field of a
/// structure or a small index.
const NULL_BYTES: u64 = 64 << 10;

/// Distance beyond which an allocation is considered unrelated. Assumption: an index of 32 bits
/// times 16 bytes.
const FAR: u64 = 1 << 36;

/// Describes an access, to follow its address; empty for memory without names.
pub(super) fn describe(fault: &LaneFault, device: &DeviceMemory, launch: &Launch, shared_bytes: u32) -> String {
    match (fault.space, fault.fault) {
        (Space::Shared, AccessFault::OutOfBounds) => format!("; the TB has {} of shared memory", bytes(shared_bytes.into())),
        (Space::Global | Space::Const, _) => global(device, launch, fault.address, fault.bytes.into()),
        _ => String::new(),
    }
}

fn global(device: &DeviceMemory, launch: &Launch, address: u64, width: u64) -> String {
    if address < NULL_BYTES {
        return ", a null pointer or an offset from one".into();
    }
    let Some(near) = device.near(address) else { return "; the kernel has no buffer".into() };
    let (what, end) = (name(&near, launch), near.start.saturating_add(near.bytes));
    if near.distance(address) > FAR {
        return ", far from every buffer and variable: a pointer of the host, or a value that was never set".into();
    }
    if address < near.start {
        return format!(", {} before {what}", bytes(near.start - address));
    }
    match address.checked_sub(end) {
        Some(0) => format!(", right past the end of {what}"),
        Some(distance) => format!(", {} past the end of {what}", bytes(distance)),
        None if address.saturating_add(width) > end => {
            format!(", of which {} are past the end of {what}", bytes(address.saturating_add(width) - end))
        }
        None => format!(", at byte {} of {what}", address - near.start),
    }
}

fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".into() } else { format!("{count} bytes") }
}

/// Returns the name of an allocation in messages: ``argument 2 (`y`, 4096 bytes)``.
fn name(near: &Near<'_>, launch: &Launch) -> String {
    let size = bytes(near.bytes);
    let numbers: Vec<String> =
        (1..).zip(&launch.args).filter(|(_, arg)| points_into(arg, near)).map(|(n, _): (u32, _)| n.to_string()).collect();
    let inner = near.label.map_or_else(|| size.clone(), |label| format!("{label}, {size}"));
    match (numbers.as_slice(), near.label) {
        ([one], _) => format!("argument {one} ({inner})"),
        ([before @ .., last], _) => format!("arguments {} and {last} ({inner})", before.join(", ")),
        ([], Some(label)) => format!("{} {label} ({size})", if near.variable { "variable" } else { "buffer" }),
        ([], None) => format!("a buffer of {size}"),
    }
}

/// Returns whether an argument is, or contains, an address of this memory or of its end.
fn points_into(arg: &Arg, near: &Near<'_>) -> bool {
    let inside = |address: u64| address >= near.start && address - near.start <= near.bytes;
    match arg {
        Arg::U64(value) => inside(*value),
        Arg::Bytes(data) => data.chunks_exact(8).any(|chunk| inside(chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))),
        Arg::U32(_) | Arg::I32(_) | Arg::F32(_) | Arg::F64(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Creates memory of 100 words and, at least 256 bytes after them, 8 bytes. The first is
    /// arguments 2 and 3, the second has a name.
    fn memory() -> (DeviceMemory, Launch, [u64; 2]) {
        let mut memory = DeviceMemory::new();
        let x = memory.allocate([0; 100]);
        let y = memory.allocate_bytes(&[0; 8]);
        memory.label(y, "`y`");
        let args = vec![Arg::U32(5), Arg::U64(x.address), Arg::Bytes((x.address + 400).to_le_bytes().to_vec()), Arg::F64(1.0)];
        let launch = Launch { grid: [1; 3], block: [1; 3], args, shared_bytes: 0, ..Launch::default() };
        (memory, launch, [x.address, y.address])
    }

    fn at(address: u64, width: u64) -> String {
        let (memory, launch, _) = memory();
        global(&memory, &launch, address, width)
    }

    #[test]
    fn the_nearest_is_named_with_the_distance() {
        let [x, y] = memory().2;
        assert_eq!(at(x + 400, 4), ", right past the end of arguments 2 and 3 (400 bytes)");
        assert_eq!(at(x + 412, 4), ", 12 bytes past the end of arguments 2 and 3 (400 bytes)");
        assert_eq!(at(x + 396, 8), ", of which 4 bytes are past the end of arguments 2 and 3 (400 bytes)");
        assert_eq!(at(x + 6, 4), ", at byte 6 of arguments 2 and 3 (400 bytes)");
        assert_eq!(at(y - 1, 1), ", 1 byte before buffer `y` (8 bytes)");
        assert_eq!(at(0, 4), ", a null pointer or an offset from one");
        assert!(at(1 << 20, 4).starts_with(", far from every buffer"));
        assert!(at(u64::MAX - 3, 4).starts_with(", far from every buffer"));
        let (_, launch, _) = memory();
        assert_eq!(global(&DeviceMemory::new(), &launch, x, 4), "; the kernel has no buffer");
    }

    proptest! {
        /// The stated distance is the smallest to any buffer, by a search over both.
        #[test]
        fn the_distance_is_the_least(offset in -5_000i64..10_000) {
            let [x, y] = memory().2;
            let address = x.wrapping_add_signed(offset);
            let distance = |start: u64, end: u64| if address < start { start - address } else { address.saturating_sub(end) };
            let least = distance(x, x + 400).min(distance(y, y + 8));
            let said = at(address, 1);
            if least > 0 {
                prop_assert!(said.contains(&bytes(least)), "{said}");
            }
        }
    }
}
