//! Address mapping: channel, L2 slice, bank and row of an address (sources.md D68).
//!
//! Channel = (address >> shift) mod channels. The rest, without the channel, is divided into row,
//! bank and column. The lowest bank bits select the slice of the channel. An L2 slice identifies a
//! sector by its *local* number, from which channel and slice are removed, and its set index is
//! computed from that.
//!
//! By option the slices of all channels, a power of two of them, are hashed (sources.md D115): the
//! number made of quotient, channel and slice of the channel, highest first, gives the slice like a
//! line's number gives its set (`cache/set_index.rs`). For one quotient that is a bijection on the
//! slices, so no two sectors share a location.

use crate::cache::SetIndexer;
use crate::config::{AddressMap, DramConfig, L2Config, SetIndex};

/// Field scattered over an address, as runs of adjacent bits: (position in the address, position in
/// the field, mask).
#[derive(Clone, Debug)]
struct Field {
    runs: Vec<(u32, u32, u64)>,
}

impl Field {
    /// Creates a field of `bits`: positions in the address, lowest of the field first.
    fn new(bits: &[u8]) -> Self {
        let mut runs: Vec<(u32, u32, u64)> = Vec::new();
        for (to, &from) in bits.iter().enumerate() {
            match runs.last_mut() {
                Some((start, _, mask)) if *start + mask.count_ones() == u32::from(from) => *mask = *mask << 1 | 1,
                _ => runs.push((u32::from(from), to as u32, 1)),
            }
        }
        Field { runs }
    }

    #[inline]
    fn take(&self, address: u64) -> u64 {
        self.runs.iter().fold(0, |field, &(from, to, mask)| field | (address >> from & mask) << to)
    }
}

/// Logarithm of a sector's bytes. No field of the map contains these bits, and there are at most
/// 2^4 slices per channel (`GpuConfig::check`).
const SECTOR_BITS: u32 = 5;

/// Location of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// L2 slice over the whole chip: channel x slices per channel + slice of the channel.
    pub(super) slice: u32,
    /// Sector number within the slice.
    pub(super) sector: u64,
}

/// Address map.
#[derive(Clone, Debug)]
pub(super) struct AddressMapper {
    channels: u64,
    shift: u32,
    slices_per_channel: u32,
    slice: Field,
    /// Hash over the slices of all channels, and the bits of a slice's number.
    hash: Option<(SetIndexer, u32)>,
    /// Bit positions of the slice, ascending, for their removal.
    slice_bits: Vec<u32>,
    /// Bank and row, by the bits of a local sector's address with the slice's number in its lowest
    /// bits.
    bank: Field,
    row: Field,
}

impl AddressMapper {
    pub(super) fn new(dram: &DramConfig, l2: &L2Config) -> Self {
        let AddressMap { channel_shift, row_bits, bank_bits, index, .. } = &dram.address;
        let slices = dram.channels * l2.slices_per_channel;
        let chosen = &bank_bits[..l2.slices_per_channel.trailing_zeros() as usize];
        let mut slice_bits: Vec<u32> = chosen.iter().map(|&b| u32::from(b)).collect();
        slice_bits.sort_unstable();
        // Position of a bit of the rest in a local sector's address, which has the slice's number
        // instead of the bits within the sector.
        let found = |&bit: &u8| match chosen.iter().position(|&slice_bit| slice_bit == bit) {
            Some(of_slice) => of_slice as u8,
            None => bit - chosen.iter().filter(|&&slice_bit| slice_bit < bit).count() as u8,
        };
        let found_of = |bits: &[u8]| Field::new(&bits.iter().map(found).collect::<Vec<_>>());
        AddressMapper {
            channels: u64::from(dram.channels),
            shift: *channel_shift,
            slices_per_channel: l2.slices_per_channel,
            slice: Field::new(chosen),
            hash: (*index == SetIndex::Ipoly).then(|| (SetIndexer::new(*index, slices), slices.trailing_zeros())),
            slice_bits,
            bank: found_of(bank_bits),
            row: found_of(row_bits),
        }
    }

    /// Channel, slice and local sector of a sector (byte address / 32).
    #[inline]
    pub(super) fn locate(&self, sector: u64) -> Location {
        let address = sector << 5;
        let upper = address >> self.shift;
        let (quotient, channel) = (upper / self.channels, upper % self.channels);
        let rest = quotient << self.shift | address & ((1 << self.shift) - 1);
        let mut local = rest;
        for &bit in self.slice_bits.iter().rev() {
            local = local >> (bit + 1) << bit | local & ((1 << bit) - 1);
        }
        let mut slice = channel as u32 * self.slices_per_channel + self.slice.take(rest) as u32;
        if let Some((hash, bits)) = &self.hash {
            slice = hash.set(quotient << bits | u64::from(slice)) as u32;
        }
        Location { slice, sector: local >> 5 }
    }

    /// Bank and row of a local sector in slice `slice` of its channel.
    #[inline]
    pub(super) fn bank_and_row(&self, sector: u64, slice: u32) -> (u32, u32) {
        let rest = sector << SECTOR_BITS | u64::from(slice);
        (self.bank.take(rest) as u32, self.row.take(rest) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::config;
    use proptest::prelude::*;

    proptest! {
        /// The map equals that of the reference, written out field by field.
        #[test]
        fn is_the_map_of_the_reference(address in 0u64..1 << 31) {
            let config = config();
            let map = AddressMapper::new(&config.dram, &config.l2);
            let channel = (address >> 8) % 12;
            let rest = (address >> 8) / 12 * 256 + address % 256;
            let bank = (rest >> 12 & 7) * 2 + (rest >> 7 & 1);
            let row = rest >> 15 & 0x1fff;
            let location = map.locate(address / 32);
            prop_assert_eq!(u64::from(location.slice), channel * 2 + bank % 2);
            prop_assert_eq!(location.sector, (rest / 256 * 128 + rest % 128) / 32);
            prop_assert_eq!(map.bank_and_row(location.sector, location.slice % 2), (bank as u32, row as u32));
        }
    }

    /// Reference GPU with 16 channels and hashed slices.
    fn hashed() -> (AddressMapper, AddressMapper) {
        let mut config = config();
        config.dram.channels = 16;
        let linear = AddressMapper::new(&config.dram, &config.l2);
        config.dram.address.index = SetIndex::Ipoly;
        assert_eq!(config.check(), Ok(()));
        (linear, AddressMapper::new(&config.dram, &config.l2))
    }

    proptest! {
        /// 16 channels of two slices: x^5 + x^2 + 1. The contribution of the quotient equals the
        /// long division; the position within the slice does not change.
        #[test]
        fn the_hash_is_the_remainder(address in 0u64..1 << 27) {
            let (linear, hashed) = hashed();
            let (plain, location) = (linear.locate(address / 32), hashed.locate(address / 32));
            let mut value = (address >> 12) << 5 | u64::from(plain.slice);
            for bit in (5..64).rev() {
                if value >> bit & 1 == 1 {
                    value ^= 0b10_0101 << (bit - 5);
                }
            }
            prop_assert_eq!(u64::from(location.slice), value);
            prop_assert_eq!(location.sector, plain.sector);
        }

        /// Aligned strides of powers of two from the channels' 256 bytes up: 32 steps access each
        /// of the 32 slices once. With the linear map they access at most 16, and one if they
        /// change only the quotient.
        #[test]
        fn the_hash_spreads_strides(stride in 12u32..23, base in 0u64..1 << 30) {
            let (linear, hashed) = hashed();
            let base = base >> (stride + 5) << (stride + 5);
            let slices = |map: &AddressMapper| {
                let mut slices: Vec<u32> = (0..32).map(|i| map.locate((base + (i << stride)) / 32).slice).collect();
                slices.sort_unstable();
                slices.dedup();
                slices.len()
            };
            prop_assert_eq!(slices(&hashed), 32);
            prop_assert_eq!(slices(&linear), 1);
        }
    }

    #[test]
    fn no_two_sectors_share_a_place_when_hashed() {
        let (_, map) = hashed();
        let mut places: Vec<(u32, u64)> = (0..100_000).map(|s| map.locate(s)).map(|l| (l.slice, l.sector)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 100_000);
        assert!(places.iter().all(|place| place.0 < 32));
    }

    #[test]
    fn slices_are_hashed_where_their_number_is_a_power_of_two() {
        let mut config = config();
        config.dram.address.index = SetIndex::Ipoly;
        assert_eq!(config.check().unwrap_err().key, "dram.channels");
    }

    #[test]
    fn consecutive_lines_alternate_between_the_slices_of_a_channel() {
        let config = config();
        let map = AddressMapper::new(&config.dram, &config.l2);
        let slices: Vec<u32> = (0..26).map(|line| map.locate(line * 4).slice).collect();
        assert_eq!(slices, (0..24).chain(0..2).collect::<Vec<_>>());
    }

    #[test]
    fn no_two_sectors_share_a_place() {
        let config = config();
        let map = AddressMapper::new(&config.dram, &config.l2);
        let mut places: Vec<(u32, u64)> = (0..100_000).map(|s| map.locate(s)).map(|l| (l.slice, l.sector)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 100_000);
    }
}
