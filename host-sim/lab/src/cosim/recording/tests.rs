//! Tests of the file format: byte by byte against its page (`docs/reference/recording-format.md`),
//! against damage, and by round trip.

use super::*;
use crate::fingerprint;
use mias_hw_model::register_block::Straps;
use mias_registers::{KERNEL_SLOTS, PolicyCode};
use mias_trace::trace_file::Fault;
use proptest::prelude::*;

const MAKER: Limits = Limits { sms: 32, kernels: 4, configs: 64 };

fn gpu(sm_count: u32, policy: PolicyCode) -> GpuDescription {
    GpuDescription {
        sm_count,
        slot_count: 8,
        sm_threads: 1024,
        sm_registers: 65_536,
        sm_shared_bytes: 65_536,
        sm_tbs: 32,
        warp_threads: 32,
        register_granule: 8,
        shared_granule_bytes: 256,
        linear_coefficient_q16: 7,
        sm_schedulers: 0,
        reply_sectors_q16: 0,
        dram_sectors_q16: 0,
        l2_sectors_q16: 0,
        l2_access_bytes: 0,
        sm_wake_cycles: 0,
        features: 1,
        straps: Straps { fixed: [0, 1, 2, 3, 4, 5, 6, 200], ..Straps::new(policy) },
    }
}

/// Creates a recording with a start of two accesses at cycle 5, and an interrupt without any at
/// cycle 300.
fn small() -> Recording {
    let mut run = Run::new(gpu(30, PolicyCode::MiasFactor));
    run.accesses_mut().extend([Access::Read { offset: 0, value: 0x4D49 }, Access::Write { offset: 4, value: 1 }]);
    run.end_step(5);
    run.end_step(300);
    Recording { maker: MAKER, runs: vec![run] }
}

/// Returns the bytes of the run of [`small`], derived by hand from the page.
fn small_run() -> Vec<u8> {
    let mut bytes = vec![30, 8];
    bytes.extend([0x80, 0x08]); // 1,024 threads
    bytes.extend([0x80, 0x80, 0x04, 0x80, 0x80, 0x04]); // 65,536 registers, 65,536 bytes
    bytes.extend([32, 32, 8, 0x80, 0x02, 7, 1]); // TBs, warp, granules, coefficient, features
    bytes.extend([4, 0xc8, 0xdf, 0x02, 0x88, 0x27, 0]); // mias-factor, 45,000, 5,000, no options
    bytes.extend([0, 1, 2, 3, 4, 5, 6, 0xc8, 0x01]); // fixed
    bytes.push(2); // steps
    bytes.extend([5, 2]); // at cycle 5 two accesses
    bytes.extend([0, 0xc9, 0x9a, 0x01]); // a read where predicted, at 0
    bytes.extend([1, 1]); // a write where predicted, at 4
    bytes.extend([0xa7, 0x02, 0]); // 295 cycles later none
    bytes
}

#[test]
fn the_bytes_are_as_the_page_says() {
    let file = encode(&small()).unwrap();
    assert_eq!(file[..12], *b"\x89mrc\r\n\x1a\n\x01\0\0\0");
    assert_eq!(file[12..20], fingerprint::register_map().to_le_bytes());
    assert_eq!(file[20..28], (file.len() as u64).to_le_bytes());
    assert_eq!(file[28..44], [1, 0, 0, 0, 32, 0, 0, 0, 4, 0, 0, 0, 64, 0, 0, 0]);
    assert_eq!(file[44..48], crc32fast::hash(&file[..44]).to_le_bytes());
    assert_eq!(file[48..52], (small_run().len() as u32).to_le_bytes());
    assert_eq!(file[52..56], crc32fast::hash(&small_run()).to_le_bytes());
    assert_eq!(file[56..], small_run());
    assert_eq!(decode(&file), Ok(small()));
}

/// Replaces the run of the small recording, with a valid checksum.
fn with_run(bytes: &[u8]) -> Vec<u8> {
    let mut file = encode(&small()).unwrap()[..48].to_vec();
    file[20..28].copy_from_slice(&(56 + bytes.len() as u64).to_le_bytes());
    let checksum = crc32fast::hash(&file[..44]);
    file[44..48].copy_from_slice(&checksum.to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file.extend(crc32fast::hash(bytes).to_le_bytes());
    [file, bytes.to_vec()].concat()
}

/// Replaces bytes in the header of the small recording, with a valid checksum.
fn with_header(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = encode(&small()).unwrap();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    let checksum = crc32fast::hash(&file[..44]);
    file[44..48].copy_from_slice(&checksum.to_le_bytes());
    file
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let message = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    let whole = encode(&small()).unwrap();
    assert!(message(b"kernel").starts_with("this is not a recording of mias (make one with `mias run"));
    assert!(message(&with_header(8, &[2])).starts_with("this recording has format version 2, this mias reads version 1; record it again"));
    assert!(message(&with_header(12, &[0; 8])).starts_with("this recording is of another register map (0000000000000000, that of this"));
    assert!(message(&whole[..40]).starts_with("the recording should have 48 bytes and has 40"));
    let cut = format!("the recording should have {} bytes and has {}: it is truncated", whole.len(), whole.len() - 1);
    assert!(message(&whole[..whole.len() - 1]).starts_with(&cut));
    assert!(message(&with_header(28, &[2])).starts_with("header: the number of runs cannot be 2"));
    let mut damaged = whole.clone();
    damaged[40] ^= 1;
    assert!(message(&damaged).starts_with("header: the checksum does not match"));
    damaged = whole;
    damaged[60] ^= 1;
    assert!(message(&damaged).starts_with("run 1: the checksum does not match"));
}

#[test]
fn a_forged_run_is_refused_where_it_goes_wrong() {
    let run = small_run();
    let head = run.len() - 11; // up to the number of steps
    let replaced = |at: usize, bytes: &[u8]| [&run[..at], bytes, &run[at + bytes.len()..]].concat();
    let no_policy = PolicyCode::ALL.len();
    for (bytes, part) in [
        (replaced(0, &[0]), "run 1, byte 1: the number of SMs cannot be 0"),
        (replaced(1, &[9]), "run 1, byte 2: the number of kernel slots cannot be 9"),
        (replaced(17, &[no_policy as u8]), &*format!("run 1, byte 18: the policy cannot be {no_policy}")),
        (replaced(head - 1, &[0]), &format!("run 1, byte {head}: the number of steps cannot be 0")),
        (run[..run.len() - 1].to_vec(), "after its start: it is truncated"),
        ([&run[..], &[0, 0]].concat(), "after interrupt 1: 2 bytes too many"),
        // An offset 2 below the first possible one: zigzag 3, a write.
        (replaced(head + 2, &[3 << 1 | 1]), "an offset's code cannot be 7"),
        ([&run[..head - 1], &[1], &[0xff; 9][..], &[1, 0]].concat(), ""),
        ([&run[..head], &[0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]].concat(), "it is truncated"),
    ] {
        let message = decode(&with_run(&bytes)).err().map(|problem| problem.to_string()).unwrap_or_default();
        assert!(message.contains(part), "{part}: {message}");
    }
    let past_the_end = [&run[..head - 1], &[2], &[0xff; 9][..], &[1, 0, 1, 0]].concat();
    let fault = Fault::Value { what: "a step's distance in cycles", value: 1 };
    assert!(matches!(decode(&with_run(&past_the_end)), Err(Problem::Malformed { fault: found, .. }) if found == fault));
}

#[test]
fn limits_are_compared_one_by_one() {
    let asked = |sms, kernels, configs| MAKER.short_of(Limits { sms, kernels, configs }).map(|short| (short.had(), short.asked));
    assert_eq!(asked(32, 4, 64), None);
    assert_eq!(asked(33, 5, 65), Some(("32 SMs".into(), 33)));
    assert_eq!(asked(1, 5, 65), Some(("4 kernels at a time".into(), 5)));
    assert_eq!(asked(1, 1, 65), Some(("64 configurations".into(), 65)));
    // Two rounds on 30 SMs try at most 60.
    assert_eq!(small().asks_for(), Limits { sms: 30, kernels: 4, configs: 60 });
}

fn access() -> impl Strategy<Value = Access> {
    (any::<bool>(), any::<u32>(), any::<u32>())
        .prop_map(|(write, offset, value)| if write { Access::Write { offset, value } } else { Access::Read { offset, value } })
}

fn run() -> impl Strategy<Value = Run> {
    let step = (0..1_u64 << 50, prop::collection::vec(access(), 0..8));
    (1..=256_u32, prop::sample::select(PolicyCode::ALL.to_vec()), any::<[u8; KERNEL_SLOTS]>(), prop::collection::vec(step, 1..8)).prop_map(
        |(sms, policy, fixed, steps)| {
            let mut gpu = gpu(sms, policy);
            gpu.straps.fixed = fixed;
            let mut run = Run::new(gpu);
            let mut cycle = 0;
            for (later, accesses) in steps {
                cycle += later;
                run.accesses_mut().extend(accesses);
                run.end_step(cycle);
            }
            run
        },
    )
}

proptest! {
    #[test]
    fn a_recording_is_read_as_written(runs in prop::collection::vec(run(), 1..4), sms: u32, kernels: u32, configs: u32) {
        let recording = Recording { maker: Limits { sms, kernels, configs }, runs };
        let file = encode(&recording).unwrap();
        prop_assert_eq!(decode(&file), Ok(recording));
    }

    /// Arbitrary bytes of a run, with a valid checksum, yield a recording or one message, and steps
    /// within the accesses.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), keep in 0..60_usize) {
        let bytes = [&small_run()[..keep.min(small_run().len())], &bytes].concat();
        if let Ok(recording) = decode(&with_run(&bytes)) {
            let accesses: usize = recording.runs.iter().flat_map(|run| run.steps()).map(|step| step.accesses.len()).sum();
            prop_assert_eq!(accesses, recording.runs[0].accesses().len());
        }
    }
}
