//! Mutated files: the answer is a result or one message with the file's name, never a panic.
//!
//! The files are a real trace, a GPU file or a recording, with any change of lines or bytes. The
//! fuzz targets in `fuzz/` test more inputs; these run in CI.

use mias_hw_model::gpu::Gpu;
use mias_hw_model::register_block::Straps;
use mias_lab::cancel::Cancel;
use mias_lab::cosim::recording::{self, generate};
use mias_lab::cosim::replay::{Ready, Target, replay};
use mias_lab::gpus;
use mias_ptx::Program;
use mias_ptx::lower::Lowered;
use mias_registers::PolicyCode;
use mias_trace::accelsim::{Warnings, read_kernel_from, read_list_from};
use proptest::prelude::*;
use proptest::sample::Index;
use std::io::{Cursor, Read};
use std::path::Path;

/// One change of a file.
#[derive(Clone, Debug)]
enum Mutation {
    /// Replaces a byte.
    Byte(Index, u8),
    /// Removes some bytes.
    Cut(Index, u8),
    /// Removes a line.
    Drop(Index),
    /// Duplicates a line.
    Twice(Index),
    /// Swaps two lines.
    Swap(Index, Index),
    /// Replaces a number.
    Number(Index, i64),
    /// Removes everything from here on.
    End(Index),
    /// Swaps two words.
    Words(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let extreme =
        prop::sample::select(vec![0, 1, -1, 3, 31, 33, 64, 255, 256, 21_955, 1 << 20, (1 << 31) - 1, 1 << 32, i64::MAX, i64::MIN]);
    prop_oneof![
        3 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, count)| Mutation::Cut(at, count)),
        2 => any::<Index>().prop_map(Mutation::Drop),
        2 => any::<Index>().prop_map(Mutation::Twice),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::Swap(a, b)),
        4 => (any::<Index>(), extreme).prop_map(|(at, number)| Mutation::Number(at, number)),
        1 => any::<Index>().prop_map(Mutation::End),
        3 => (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Mutation::Words(a, b)),
    ]
}

/// Generates a number for a GPU: small, a power of two, or at or near the maximum of its field.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        0..=16_i64,
        (0..32_u32).prop_map(|bit| 1 << bit),
        (0..32_u32).prop_map(|shift| i64::from(u32::MAX >> shift)),
        0..=i64::from(u32::MAX)
    ]
}

/// Returns the runs of decimal digits.
fn numbers(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if end > at {
            found.push(at..end);
        }
        at = end + 1;
    }
    found
}

fn apply(bytes: Vec<u8>, mutation: &Mutation) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    match mutation {
        Mutation::Byte(at, byte) => {
            let mut bytes = bytes;
            *at.get_mut(&mut bytes) = *byte;
            return bytes;
        }
        Mutation::Cut(at, count) => {
            let start = at.index(bytes.len());
            let end = (start + usize::from(*count)).min(bytes.len());
            return [&bytes[..start], &bytes[end..]].concat();
        }
        Mutation::End(at) => return bytes[..at.index(bytes.len())].to_vec(),
        Mutation::Number(at, number) => {
            let found = numbers(&bytes);
            if found.is_empty() {
                return bytes;
            }
            let range = at.get(&found).clone();
            return [&bytes[..range.start], number.to_string().as_bytes(), &bytes[range.end..]].concat();
        }
        Mutation::Words(a, b) => {
            let mut words: Vec<&[u8]> = bytes.split_inclusive(|byte| !byte.is_ascii_alphanumeric() && !b"_.$%".contains(byte)).collect();
            let (a, b) = (a.index(words.len()), b.index(words.len()));
            words.swap(a, b);
            return words.concat();
        }
        Mutation::Drop(at) => drop(lines.remove(at.index(lines.len()))),
        Mutation::Twice(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at].clone());
        }
        Mutation::Swap(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
    }
    lines.concat()
}

/// Returns two warps of a TB as from a real tracer, with every address mode: the smallest of our
/// own traces, and a list.
fn trace() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/reference/micro/atom_100/kernel-1.traceg.xz");
    let file = std::fs::File::open(path).expect("our own trace");
    let mut text = Vec::new();
    liblzma::read::XzDecoder::new(file).read_to_end(&mut text).expect("xz");
    text
}

macro_rules! texts {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("../../", $path)))),*] };
}

const PTX: [(&str, &str); 18] = texts![
    "kernels/cuda-samples/mm/mm.ptx",
    "kernels/cuda-samples/fwt/fwt.ptx",
    "kernels/cuda-samples/nbdy/nbdy.ptx",
    "kernels/cuda-samples/blk/blk.ptx",
    "kernels/cuda-samples/bopt/bopt.ptx",
    "kernels/rodinia/bfs/bfs.ptx",
    "kernels/cuda-samples/dxtc/dxtc.ptx",
    "host-sim/ptx/tests/data/constants.ptx",
    "host-sim/ptx/tests/data/device_functions.ptx",
    "host-sim/ptx/tests/data/generic.ptx",
    "host-sim/ptx/tests/data/halves.ptx",
    "host-sim/ptx/tests/data/named_barriers.ptx",
    "host-sim/ptx/tests/data/reduce.ptx",
    "host-sim/ptx/tests/data/indirect.ptx",
    "host-sim/ptx/tests/data/pipeline.ptx",
    "host-sim/ptx/tests/data/warp_product.ptx",
    "fuzz/seeds/ptx/asynchronous.ptx",
    "fuzz/seeds/ptx/matrices.ptx",
];

const LIST: &[u8] = b"MemcpyHtoD,0x7f0000000000,4096\nkernel-1.traceg\n\nMemcpyHtoD,0x7f0000010000,64\nkernel-2.traceg.xz\n";

/// Returns a recording of two runs.
fn recording() -> Vec<u8> {
    let request = generate::Request { seed: 1, cases: 2, sms: 4, kernels: 3 };
    recording::encode(&generate::generate(request, &mut || true).expect("a recording")).expect("a short one")
}

/// Repairs the checksums of header and runs, as far as they exist.
fn with_checksums(mut file: Vec<u8>) -> Vec<u8> {
    let length = file.len() as u64;
    if let Some(place) = file.get_mut(20..28) {
        place.copy_from_slice(&length.to_le_bytes());
    }
    let mut at = 48;
    while let Some(word) = file.get(at..at + 4) {
        let bytes = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) as usize;
        let Some(checksum) = file.get(at + 8..at.saturating_add(8).saturating_add(bytes)).map(crc32fast::hash) else { break };
        file[at + 4..at + 8].copy_from_slice(&checksum.to_le_bytes());
        at += 8 + bytes;
    }
    if file.len() >= 48 {
        let checksum = crc32fast::hash(&file[..44]);
        file[44..48].copy_from_slice(&checksum.to_le_bytes());
    }
    file
}

/// Checks that a GPU that passed the checks can be built.
fn build(name: &str, text: &str) {
    match gpus::parse(name, text) {
        Ok(config) => drop(Gpu::new(&config, Straps::new(PolicyCode::LeftOver))),
        Err(error) => assert!(error.to_string().starts_with(name), "{error}"),
    }
}

/// Returns the number of cases of each test: 400, or the number in the variable `MIAS_CASES`.
fn cases() -> ProptestConfig {
    let asked = std::env::var("MIAS_CASES").ok();
    ProptestConfig::with_cases(asked.map_or(400, |text| text.parse().expect("MIAS_CASES is a number")))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_mutated_trace_is_read_or_refused(mutations in prop::collection::vec(mutation(), 1..4)) {
        let bytes = mutations.iter().fold(trace(), apply);
        match read_kernel_from(Cursor::new(bytes), Path::new("kernel-1.traceg"), &mut Warnings::new()) {
            Ok((trace, _)) => prop_assert_eq!(u64::from(trace.tbs()), trace.info().tbs()),
            Err(error) => prop_assert!(error.to_string().starts_with("kernel-1.traceg:"), "{}", error),
        }
    }

    #[test]
    fn a_mutated_list_is_read_or_refused(mutations in prop::collection::vec(mutation(), 1..6)) {
        let bytes = mutations.iter().fold(LIST.to_vec(), apply);
        if let Err(error) = read_list_from(Cursor::new(bytes), Path::new("kernelslist.g"), &|name| Some(name.into())) {
            prop_assert!(error.to_string().starts_with("kernelslist.g:"), "{}", error);
        }
    }

    /// Real PTX of the seven kernels and of the tests: text that is still read can also be lowered.
    #[test]
    fn mutated_ptx_is_refused_or_can_be_lowered(which: Index, entry: Index, mutations in prop::collection::vec(mutation(), 1..4)) {
        let (name, text) = which.get(&PTX);
        let bytes = mutations.iter().fold(text.as_bytes().to_vec(), apply);
        let text = String::from_utf8_lossy(&bytes);
        let entries: Vec<&str> = text.split(".entry ").skip(1).filter_map(|rest| rest.split('(').next()).collect();
        let entry = if entries.is_empty() { "none" } else { *entry.get(&entries) };
        match Program::parse(name, &text, entry) {
            Ok(program) => prop_assert_eq!(Lowered::new(&program).statics.len(), program.insts.len()),
            Err(error) => prop_assert!(error.to_string().starts_with(&format!("{name}:")), "{}", error),
        }
    }

    #[test]
    fn a_mutated_gpu_is_refused_or_can_be_built(mutations in prop::collection::vec(mutation(), 1..4)) {
        let bytes = mutations.iter().fold(mias_gpus::text("rtx2060-accelsim").unwrap().as_bytes().to_vec(), apply);
        build("my.toml", &String::from_utf8_lossy(&bytes));
    }

    /// Some numbers of a GPU are arbitrary, in range or up to the maximum.
    #[test]
    fn a_gpu_of_any_numbers_is_refused_or_can_be_built(numbers in prop::collection::vec((any::<Index>(), number()), 1..6)) {
        let file = mias_gpus::text("rtx2060-accelsim").unwrap().as_bytes().to_vec();
        let bytes = numbers.into_iter().fold(file, |bytes, (at, number)| apply(bytes, &Mutation::Number(at, number)));
        build("my.toml", &String::from_utf8_lossy(&bytes));
    }

    /// Recordings are damaged as files are, or forged so that only the content is wrong: a
    /// recording that is still read can be replayed.
    #[test]
    fn a_mutated_recording_is_refused_or_replayed(forged: bool, mutations in prop::collection::vec(mutation(), 1..4)) {
        let mutated = mutations.iter().fold(recording(), apply);
        let bytes = if forged { with_checksums(mutated) } else { mutated };
        match recording::decode(&bytes) {
            Ok(recording) => {
                if let Ok(ready) = Ready::new(Target::Native, None, &recording) {
                    prop_assert!(replay(&recording, ready, &Cancel::default()).is_some());
                }
                prop_assert!(forged || bytes == self::recording());
            }
            Err(problem) => prop_assert!(!problem.to_string().contains('\n')),
        }
    }
}
