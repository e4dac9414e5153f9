//! Control block that the TBs of a run share, and their results in it. The slot form (`slot::code`)
//! has the same offsets.
//!
//! ```text
//!    0  TBs that have arrived          u32      128 (1 + k)            next TB of kernel k               u32
//!    8  whether to give up             u32     1024 + 4 (256 k + sm)   tickets of kernel k on an SM      u32
//!   12  whether a kernel is at its end u32     8192 + 64 (32 (256 k + sm) + ticket)    record of a slot, 64 bytes
//!   16  holders that are there        u32      2105344 + 4 sm                          tickets of holders on an SM  u32
//!   20  whether holders let go        u32
//! ```
//!
//! A slot stays if its ticket is below the kernel's number of TBs per SM. On an SM where a kernel
//! must have none, its tickets start at that number.

use std::ops::Range;

/// Number of kernels that can run together.
pub const KERNELS: usize = 4;

/// Capacity in SM numbers.
pub const SMS: usize = 256;

/// Capacity in TBs of a kernel per SM.
pub const SLOTS: usize = 32;

/// Offset of the word that makes all TBs give up.
pub const GIVE_UP: u64 = 8;

/// Offset of the word that shows whether a kernel is at its end.
pub const STOPPED: u64 = 12;

/// Offset of the word that counts the present holders (`holder`).
pub const HELD: u64 = 16;

/// Offset of the word that releases the holders.
pub const RELEASE: u64 = 20;

/// Bytes of a kernel's counter of TBs, which has a cache line of its own. The first follows the
/// words above.
const COUNTER_BYTES: usize = 128;

// Counters, tickets and records are contiguous for the maximum number of kernels.
const _: () = assert!(COUNTER_BYTES * (1 + KERNELS) <= TICKETS as usize && TICKETS as usize + 4 * SMS * KERNELS <= RECORDS);

/// Offset of the tickets of slots.
pub const TICKETS: u64 = 1024;

/// Offset of the tickets of holders.
pub const HOLDERS: u64 = (RECORDS + RECORD_BYTES * SLOTS * SMS * KERNELS) as u64;

const RECORDS: usize = 8192;
const RECORD_BYTES: usize = 64;

/// Size of the block.
pub const BYTES: usize = HOLDERS as usize + 4 * SMS;

/// Returns the table of tickets that keeps kernels with these TBs per SM on these SMs.
pub fn tickets(counts: &[u32], sms: &[Range<u32>]) -> Vec<u8> {
    let mut table = vec![0; 4 * SMS * KERNELS];
    for (kernel, (count, own)) in counts.iter().zip(sms).enumerate() {
        for sm in (0..SMS).filter(|&sm| !own.contains(&(sm as u32))) {
            let at = 4 * (SMS * kernel + sm);
            table[at..at + 4].copy_from_slice(&count.to_le_bytes());
        }
    }
    table
}

/// Result of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// SM of the slot.
    pub sm: usize,
    /// TBs completed within the window.
    pub count: u32,
    /// Whether the slot reached its end by itself.
    pub ended: bool,
    /// SM cycle of the first completed TB.
    pub first: u64,
    /// SM cycle of the last completed TB.
    pub last: u64,
    /// Sum of the cycles of all completed TBs, each from its start to its end.
    pub cycles: u64,
    /// SM cycle and time in nanoseconds when all TBs had arrived.
    pub start: [u64; 2],
    /// SM cycle and time in nanoseconds when the slot ended.
    pub end: [u64; 2],
}

/// Results of a run.
#[derive(Debug)]
pub struct Outcome {
    /// TBs that arrived.
    pub arrived: u32,
    /// Whether any TB gave up.
    pub gave_up: bool,
    /// Whether a kernel reached its end before the window did.
    pub stopped: bool,
    /// Slots of each kernel that started.
    pub slots: [Vec<Record>; KERNELS],
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |bytes| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
}

fn double(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at + 4)) << 32 | u64::from(word(bytes, at))
}

impl Outcome {
    /// Reads the block.
    pub fn read(bytes: &[u8]) -> Self {
        let slots = std::array::from_fn(|kernel| {
            let places = (0..SMS).flat_map(|sm| (0..SLOTS).map(move |ticket| (sm, ticket)));
            let records = places.map(|(sm, ticket)| {
                let at = RECORDS + RECORD_BYTES * (SLOTS * (SMS * kernel + sm) + ticket);
                let pair = |offset| [double(bytes, at + offset), double(bytes, at + offset + 8)];
                let [first, last] = pair(8);
                let (count, ended, cycles) = (word(bytes, at), word(bytes, at + 4) != 0, double(bytes, at + 24));
                Record { sm, count, ended, first, last, cycles, start: pair(32), end: pair(48) }
            });
            records.filter(|record| record.start[1] != 0).collect()
        });
        Outcome { arrived: word(bytes, 0), gave_up: word(bytes, GIVE_UP as usize) != 0, stopped: word(bytes, STOPPED as usize) != 0, slots }
    }
}
