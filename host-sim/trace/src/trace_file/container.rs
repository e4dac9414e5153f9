//! Header, directory and checksums of the file. See `docs/reference/trace-format.md`, "The file".

use super::error::{Fault, Part, Problem, Section};

/// First bytes of a file. As in PNG (RFC 2083, section 12.11), they are a byte outside text, a
/// name, and both line ends with an end of text between. A copy in text mode is detected at once.
pub(super) const MAGIC: [u8; 8] = *b"\x89mtr\r\n\x1a\n";

/// Version of the format; it increases if an older reader would misread a file.
pub const VERSION: u32 = 1;

/// Size of the header in bytes: magic, version, number of launches, length of the file.
const HEADER_BYTES: usize = 24;

/// Size of a directory entry in bytes: length and checksum of one section.
const ENTRY_BYTES: usize = 12;

/// Size of the CRC-32 at the end of the directory.
const CHECKSUM_BYTES: usize = 4;

/// Returns the section at `index` in file order.
pub(super) fn section(index: usize) -> Section {
    match index.checked_sub(1) {
        None => Section::List,
        Some(at) => Section::Launch(at / Part::ALL.len() + 1, Part::ALL[at % Part::ALL.len()]),
    }
}

/// Builds a file from `list` and the parts of each launch.
pub(super) fn pack(list: &[u8], launches: &[[Vec<u8>; Part::ALL.len()]]) -> Vec<u8> {
    let sections: Vec<&[u8]> = std::iter::once(list).chain(launches.iter().flatten().map(Vec::as_slice)).collect();
    let directory = HEADER_BYTES + sections.len() * ENTRY_BYTES + CHECKSUM_BYTES;
    let total = directory + sections.iter().map(|section| section.len()).sum::<usize>();
    let mut file = Vec::with_capacity(total);
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&(launches.len() as u32).to_le_bytes());
    file.extend_from_slice(&(total as u64).to_le_bytes());
    for section in &sections {
        file.extend_from_slice(&(section.len() as u64).to_le_bytes());
        file.extend_from_slice(&crc32fast::hash(section).to_le_bytes());
    }
    file.extend_from_slice(&crc32fast::hash(&file).to_le_bytes());
    sections.iter().for_each(|section| file.extend_from_slice(section));
    file
}

/// Returns the sections of a file with verified checksums: 1 + 6 per launch, and at least one
/// launch.
pub(super) fn unpack(file: &[u8]) -> Result<Vec<&[u8]>, Problem> {
    let found = file.len() as u64;
    let header = file.strip_prefix(&MAGIC).ok_or(Problem::NotOurs)?;
    let short = Problem::Length { expected: HEADER_BYTES as u64, found };
    let (Some(version), Some(launches), Some(length)) = (number(header, 0, 4), number(header, 4, 4), number(header, 8, 8)) else {
        return Err(short);
    };
    if version != u64::from(VERSION) {
        return Err(Problem::Version(version as u32));
    }
    if length != found {
        return Err(Problem::Length { expected: length, found });
    }
    let malformed = |fault| Problem::Malformed { section: Section::Directory, fault };
    // At most 2^32 launches, so no overflow in 64 bits.
    let sections = 1 + launches * Part::ALL.len() as u64;
    let directory = HEADER_BYTES as u64 + sections * ENTRY_BYTES as u64;
    let begin = usize::try_from(directory).ok().filter(|&end| end <= file.len()).ok_or_else(|| malformed(Fault::Short))?;
    let (directory, rest) = file.split_at(begin);
    let checksum = number(rest, 0, CHECKSUM_BYTES).ok_or_else(|| malformed(Fault::Short))?;
    if checksum != u64::from(crc32fast::hash(directory)) {
        return Err(Problem::Checksum(Section::Directory));
    }
    if launches == 0 {
        return Err(malformed(Fault::Value { what: "the number of launches", value: 0 }));
    }
    let mut rest = &rest[CHECKSUM_BYTES..];
    let mut found = Vec::with_capacity(sections as usize);
    for (index, entry) in directory[HEADER_BYTES..].chunks_exact(ENTRY_BYTES).enumerate() {
        let (length, checksum) = (number(entry, 0, 8).unwrap_or(0), number(entry, 8, 4).unwrap_or(0));
        let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let (section_bytes, after) = split.ok_or_else(|| malformed(Fault::Value { what: "the length of a section", value: length }))?;
        if u64::from(crc32fast::hash(section_bytes)) != checksum {
            return Err(Problem::Checksum(section(index)));
        }
        found.push(section_bytes);
        rest = after;
    }
    if rest.is_empty() { Ok(found) } else { Err(malformed(Fault::Long(rest.len()))) }
}

/// Returns the little-endian number of `count` bytes (at most 8) at `at`; `None` beyond the end.
fn number(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + count)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
