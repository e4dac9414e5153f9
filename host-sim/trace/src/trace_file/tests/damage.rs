//! Damaged, cut, foreign and forged files: one error each, never a panic, never memory for what is
//! not there.

use super::super::{Fault, Launch, Part, Problem, TraceFile, container, decode, encode, read};
use super::{file, small};
use crate::accelsim::Warnings;
use proptest::prelude::*;

#[test]
fn every_byte_matters() {
    let bytes = encode(&small());
    for at in 0..bytes.len() {
        for flip in 1..=255u8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            assert!(decode(&damaged).is_err(), "byte {at} changed by {flip:#x} went unnoticed");
        }
    }
}

#[test]
fn every_truncation_and_addition_is_told() {
    let bytes = encode(&small());
    for length in 0..bytes.len() {
        let error = decode(&bytes[..length]).expect_err("cut short");
        let expected = if length < 8 { "not a trace file" } else { "bytes and has" };
        assert!(error.to_string().contains(expected), "{length}: {error}");
    }
    assert!(matches!(decode(&[&bytes[..], &[0]].concat()), Err(Problem::Length { .. })));
}

#[test]
fn messages_name_file_section_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.mtrace");
    let message = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        read(&path).unwrap_err().to_string()
    };
    let bytes = encode(&small());
    let mut version = bytes.clone();
    version[8] = 9;
    let mut last = bytes.clone();
    *last.last_mut().unwrap() ^= 1;
    let mut entry = bytes.clone();
    entry[30] ^= 1;
    for (bytes, parts) in [
        (&b"kernel-1.traceg\n"[..], ["not a trace file of mias", "`mias trace convert LIST FILE`"]),
        (b"", ["not a trace file of mias", "`mias trace convert LIST FILE`"]),
        (&version, ["format version 9, this mias reads version 1", "`mias trace convert`"]),
        (&last, ["launch 1, section `memory`: the checksum does not match", "`mias trace convert`"]),
        (&entry, ["section `directory`: the checksum does not match", "`mias trace convert`"]),
    ] {
        let message = message(bytes);
        for part in [&["k.mtrace: "][..], &parts].concat() {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("none: No such file"));
}

/// Returns the sections of a file, to be changed and packed again with right checksums.
fn sections(file: &TraceFile) -> (Vec<u8>, Vec<[Vec<u8>; 6]>) {
    let bytes = encode(file);
    let sections = container::unpack(&bytes).unwrap();
    let launch = |parts: &[&[u8]]| std::array::from_fn(|part| parts[part].to_vec());
    (sections[0].to_vec(), sections[1..].chunks_exact(Part::ALL.len()).map(launch).collect())
}

#[test]
fn forged_counts_allocate_nothing() {
    // A count of 2^60 with nothing after it.
    let many = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10];
    for part in [Part::Statics, Part::Shapes, Part::Patterns] {
        let (list, mut launches) = sections(&small());
        launches[0][part as usize] = many.to_vec();
        let error = decode(&container::pack(&list, &launches)).expect_err("forged");
        assert!(matches!(&error, Problem::Malformed { fault: Fault::Short, .. }), "{error}");
    }
    // A grid of 2^31 TBs without warps, and a product beyond 32 bits.
    for (grid, message) in [([0xff, 0xff, 0xff, 0xff, 7, 1, 1], "`warps`"), ([0xff, 0xff, 0xff, 0xff, 7, 4, 1], "geometry")] {
        let (list, mut launches) = sections(&small());
        launches[0][Part::Launch as usize].splice(3..6, grid);
        let error = decode(&container::pack(&list, &launches)).expect_err("forged").to_string();
        assert!(error.contains(message), "{error}");
    }
    let (list, launches) = sections(&small());
    let error = decode(&container::pack(&[&[0xff, 0xff, 0xff, 0x7f][..], &list].concat(), &launches)).expect_err("forged");
    assert!(error.to_string().contains("section `list`"), "{error}");
    assert!(matches!(decode(&container::pack(&list, &[])), Err(Problem::Malformed { .. })), "no launch");
}

#[test]
fn indices_out_of_range_name_their_section() {
    for (part, bytes, message) in [
        (Part::Launch, vec![1, 1, b'k', 2, 1, 1, 32, 1, 1, 16, 0], "section `launch`: the stream cannot be 1"),
        (Part::Shapes, vec![1, 6, 5 << 2 | 3], "section `shapes`: an instruction cannot be 2"),
        (Part::Shapes, vec![1, 6, 6 << 2 | 3], "section `shapes`: a run or copy cannot be 7"),
        (Part::Shapes, vec![1, 6, 2, 1], "section `shapes`: a distance cannot be 1"),
        (Part::Shapes, vec![1, 6, 1, 33], "section `shapes`: lanes and passes cannot be 33"),
        (Part::Shapes, vec![1, 6, 1 << 2], "section `shapes`: a step between instructions"),
        (Part::Warps, vec![1, 1], "section `warps`: a shape cannot be 1"),
        (Part::Warps, vec![4], "section `warps`: a run past the end"),
        (Part::Patterns, vec![0], "launch 1: memory reference 0 names pattern 0, there are 0"),
        (Part::Patterns, vec![1, 1, 1 << 2], "launch 1: the sectors of pattern 0"),
        (Part::Memory, vec![3 << 1, 0, 0], "section `memory`: it is truncated"),
        (Part::Memory, vec![12 << 1], "section `memory`: a run past the end"),
        (Part::Memory, vec![11 << 1, 0], "section `memory`: 1 bytes too many"),
    ] {
        let (list, mut launches) = sections(&small());
        launches[0][part as usize] = bytes;
        let error = decode(&container::pack(&list, &launches)).expect_err(message).to_string();
        assert!(error.contains(message), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Sections with any bytes at all, checksums right: read as something or refused, and what is
    /// read can be written.
    #[test]
    fn forgery_never_panics(
        file in file(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (list, mut launches) = sections(&file);
        let parts = launches.len() * Part::ALL.len();
        for (section, at, byte) in damage {
            let section = section.index(parts);
            let bytes = &mut launches[section / Part::ALL.len()][section % Part::ALL.len()];
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        if let Ok(read) = decode(&container::pack(&list, &launches)) {
            prop_assert_eq!(decode(&encode(&read)).unwrap(), read);
        }
    }

    #[test]
    fn garbage_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), ours in any::<bool>()) {
        let bytes = if ours { [&container::MAGIC[..], &bytes].concat() } else { bytes };
        prop_assert!(decode(&bytes).is_err());
    }
}

/// The warnings of a conversion are those of every run.
#[test]
fn warnings_are_kept() {
    let mut warnings = Warnings::new();
    warnings.unknown_opcode("FROB", 3);
    let launches: Vec<Launch> = small().launches;
    let read = decode(&encode(&TraceFile { name: String::new(), warnings, launches })).unwrap();
    assert_eq!(read.warnings.to_string(), "unknown opcodes timed as integer: FROB (3 executed)");
}
