//! Header and checksums around the runs, as in `docs/reference/recording-format.md`, "The file".

use super::error::{Place, Problem};
use super::{Limits, Recording, Run, steps};
use crate::fingerprint;
use mias_trace::trace_file::Fault;

/// First bytes of a file, constructed like those of a trace file (PNG, RFC 2083, section 12.11).
const MAGIC: [u8; 8] = *b"\x89mrc\r\n\x1a\n";

/// Version of the format; increases with every change that an older reader would misread.
pub const VERSION: u32 = 1;

/// Maximum bytes of a file (assumption: an interrupt with a decision on 30 SMs takes 2 KiB, so it
/// has capacity for 30,000 of them).
pub const MOST_BYTES: u64 = 1 << 26;

/// Magic, version, hash of the register map, length of the file, number of runs, the limits.
const HEADER_BYTES: usize = 44;

/// CRC-32 after the header.
const CHECKSUM_BYTES: usize = 4;

/// Length and checksum before each run.
const ENTRY_BYTES: usize = 8;

/// Returns whether bytes begin as a recording does.
pub(super) fn is_one(file: &[u8]) -> bool {
    file.starts_with(&MAGIC)
}

/// Number of bytes that identify a recording.
pub(super) const TELLING_BYTES: u64 = MAGIC.len() as u64;

/// Encodes a recording. Equal recordings give equal bytes.
///
/// # Errors
/// [`Problem::TooLong`].
pub fn encode(recording: &Recording) -> Result<Vec<u8>, Problem> {
    let runs: Vec<Vec<u8>> = recording.runs.iter().map(steps::encode).collect();
    let total = HEADER_BYTES + CHECKSUM_BYTES + runs.iter().map(|run| ENTRY_BYTES + run.len()).sum::<usize>();
    if total as u64 > MOST_BYTES {
        return Err(Problem::TooLong(total as u64));
    }
    let Limits { sms, kernels, configs } = recording.maker;
    let mut file = Vec::with_capacity(total);
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&fingerprint::register_map().to_le_bytes());
    file.extend_from_slice(&(total as u64).to_le_bytes());
    [runs.len() as u32, sms, kernels, configs].into_iter().for_each(|word| file.extend_from_slice(&word.to_le_bytes()));
    file.extend_from_slice(&crc32fast::hash(&file).to_le_bytes());
    for run in &runs {
        file.extend_from_slice(&(run.len() as u32).to_le_bytes());
        file.extend_from_slice(&crc32fast::hash(run).to_le_bytes());
        file.extend_from_slice(run);
    }
    Ok(file)
}

/// Decodes a recording.
///
/// # Errors
/// [`Problem`] if the bytes are not a complete, undamaged recording of this version and register
/// map.
pub fn decode(file: &[u8]) -> Result<Recording, Problem> {
    let found = file.len() as u64;
    if !is_one(file) {
        return Err(Problem::NotOurs);
    }
    let cut = Problem::Length { expected: (HEADER_BYTES + CHECKSUM_BYTES) as u64, found };
    let version = word(file, 8).ok_or(cut.clone())?;
    if version != VERSION {
        return Err(Problem::Version(version));
    }
    let (header, checksum) = file.split_at_checked(HEADER_BYTES).ok_or(cut.clone())?;
    if word(checksum, 0).ok_or(cut)? != crc32fast::hash(header) {
        return Err(Problem::Checksum(Place::Header));
    }
    let numbers: Vec<u32> = header[8..].chunks_exact(4).filter_map(|bytes| word(bytes, 0)).collect();
    let &[_, map_low, map_high, length_low, length_high, count, sms, kernels, configs] = numbers.as_slice() else {
        return Err(Problem::NotOurs);
    };
    let map = u64::from(map_high) << 32 | u64::from(map_low);
    if map != fingerprint::register_map() {
        return Err(Problem::Map(map));
    }
    let expected = u64::from(length_high) << 32 | u64::from(length_low);
    if expected != found {
        return Err(Problem::Length { expected, found });
    }
    let runs = runs(&checksum[CHECKSUM_BYTES..], count)?;
    Ok(Recording { maker: Limits { sms, kernels, configs }, runs })
}

fn runs(mut rest: &[u8], count: u32) -> Result<Vec<Run>, Problem> {
    let malformed = |place, fault| Problem::Malformed { place, fault };
    let mut runs = Vec::new();
    while !rest.is_empty() {
        let place = Place::Run(runs.len() + 1);
        let (Some(length), Some(checksum)) = (word(rest, 0), word(rest, 4)) else { return Err(malformed(place, Fault::Short)) };
        let (bytes, after) = rest[ENTRY_BYTES..].split_at_checked(length as usize).ok_or_else(|| malformed(place, Fault::Short))?;
        if crc32fast::hash(bytes) != checksum {
            return Err(Problem::Checksum(place));
        }
        runs.push(steps::decode(bytes, runs.len() + 1)?);
        rest = after;
    }
    if runs.is_empty() || runs.len() as u64 != u64::from(count) {
        let fault = Fault::Value { what: "the number of runs", value: count.into() };
        return Err(malformed(Place::Header, fault));
    }
    Ok(runs)
}

/// Returns the little-endian word at `at`, if there is one.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}
