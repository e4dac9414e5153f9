//! Hash input that identifies the register map. Programs with equal hashes assign the same meaning
//! to an access.
//!
//! A recording of accesses (`mias firmware replay`) carries such a hash. Names, offsets, access
//! rules and reset values come from the tables of the regions. Bits and codes have no table. They
//! come from the source lines that define them, without comments.

use core::hash::Hasher;

use super::{
    ID_VALUE, KERNEL_COUNT_BITS, KERNEL_SLOTS, MAX_SMS, MAX_WINDOW, PolicyCode, Register, VERSION_VALUE, global, memory, preempt, queue,
    slot, sm,
};
use crate::counters::Counter;

/// Source text that defines bits and codes.
const FIELDS: &str = include_str!("fields.rs");

/// Feeds the whole map to a hasher.
///
/// The result depends on the build and the hasher, so use it for equality only.
pub fn fingerprint(hasher: &mut impl Hasher) {
    let limits = [ID_VALUE, VERSION_VALUE, MAX_SMS as u32, KERNEL_SLOTS as u32, MAX_WINDOW, KERNEL_COUNT_BITS];
    limits
        .into_iter()
        .chain([
            slot::BASE,
            slot::STRIDE,
            sm::BASE,
            sm::STRIDE,
            memory::BASE,
            memory::STRIDE,
            preempt::BASE,
            preempt::STRIDE,
            queue::BASE,
            queue::STRIDE,
        ])
        .for_each(|number| hasher.write_u32(number));
    for register in regions() {
        hasher.write(register.name.as_bytes());
        let reset = register.reset.map_or([0; 2], |value| [1, value]);
        [register.offset, register.count, register.access as u32].into_iter().chain(reset).for_each(|number| hasher.write_u32(number));
    }
    let sizes = [preempt::MAX_PLACES as u32, preempt::MAX_POSITIONS as u32, preempt::UNKNOWN, sm::ACTIVE_WARPS_BITS, sm::MOST_ACTIVE_WARPS];
    [memory::SAMPLE_REQUESTS, memory::COUNT_BITS, memory::IN_FLIGHT_BITS, memory::WAYS_BITS, memory::MOST_WAYS]
        .into_iter()
        .chain(sizes)
        .chain([memory::MOST_WARP_QUOTA, memory::MOST_MISS_WEIGHT, queue::ENTRIES as u32, queue::MOST_PASSED])
        .for_each(|number| hasher.write_u32(number));
    Counter::ALL.into_iter().for_each(|counter| hasher.write_u32(counter.width()));
    definitions().for_each(|line| hasher.write(line.as_bytes()));
}

/// Returns every register of every region.
fn regions() -> impl Iterator<Item = &'static Register> {
    [global::REGISTERS, slot::REGISTERS, sm::REGISTERS, memory::REGISTERS, preempt::REGISTERS, queue::REGISTERS].into_iter().flatten()
}

/// Returns the lines that define a bit or a code: `pub const NAME: u32 = ..;` and `Name = 1,`.
///
/// The codes of policies are in their table.
fn definitions() -> impl Iterator<Item = &'static str> {
    let fields = FIELDS.lines().map(str::trim).filter(|line| {
        let constant = line.starts_with("pub const ") && line.contains(": u32 = ");
        let code = line.ends_with(',') && line.starts_with(|first: char| first.is_ascii_uppercase()) && line.contains(" = ");
        constant || code
    });
    fields.chain(PolicyCode::DEFINITIONS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn every_bit_and_code_is_a_definition_and_no_comment_is() {
        let found: Vec<&str> = definitions().collect();
        for line in ["pub const LAUNCH: u32 = 1 << 0;", "pub const LEAVING_SHIFT: u32 = 8;", "Steady = 6,", "LeftOver = 0,"] {
            assert!(found.contains(&line), "{line}");
        }
        assert!(found.iter().all(|line| !line.contains("//")));
        let others = FIELDS.matches("pub const ALL: [").count() + FIELDS.matches("pub const fn").count();
        let constants = found.iter().filter(|line| line.starts_with("pub const ")).count();
        assert_eq!(FIELDS.matches("pub const ").count(), constants + others);
    }

    /// Hasher that records its input.
    #[derive(Default)]
    struct Fed(Vec<u8>);

    impl Hasher for Fed {
        fn write(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }

        fn finish(&self) -> u64 {
            0
        }
    }

    #[test]
    fn everything_that_an_access_means_is_fed() {
        let mut fed = Fed::default();
        fingerprint(&mut fed);
        let holds = |bytes: &[u8]| fed.0.windows(bytes.len()).any(|window| window == bytes);
        for register in regions() {
            let numbers = [register.offset, register.count, register.access as u32].map(u32::to_ne_bytes);
            assert!(holds(&[register.name.as_bytes(), &numbers.concat()].concat()), "{}", register.name);
        }
        assert!(holds(&[memory::COUNT_BITS, memory::IN_FLIGHT_BITS].map(u32::to_ne_bytes).concat()));
        let widths: Vec<u8> = Counter::ALL.into_iter().flat_map(|counter| counter.width().to_ne_bytes()).collect();
        assert!(holds(&widths));
        for line in PolicyCode::DEFINITIONS.into_iter().chain(["pub const LAUNCH: u32 = 1 << 0;"]) {
            assert!(holds(line.as_bytes()), "{line}");
        }
        let places = [memory::BASE, memory::STRIDE, preempt::BASE, preempt::STRIDE, queue::BASE, queue::STRIDE];
        assert!(holds(&places.map(u32::to_ne_bytes).concat()));
        assert!(holds(&[slot::BASE, slot::STRIDE, sm::BASE, sm::STRIDE].map(u32::to_ne_bytes).concat()));
    }
}
