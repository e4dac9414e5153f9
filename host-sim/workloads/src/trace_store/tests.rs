//! Tests of the cache on small kernels: what is a hit, and what happens when the folder is not as
//! it was left.

use super::*;
use crate::kernels::{Spec, find, unwatched};
use mias_ptx::lower::record::RecordError;
use mias_trace::accelsim::Warnings;
use mias_trace::fingerprint;
use mias_trace::trace_file::{Launch, TraceFile};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn prepared(name: &str, size: u64, seed: u64) -> Prepared {
    Spec::sized(find(name).unwrap(), size, seed).prepare().unwrap()
}

/// Returns the trace, and whether the kernel was executed for it: TB by TB, where a trace that is
/// loaded is there at once.
fn record(cache: &Cache, prepared: Prepared) -> (Arc<KernelTrace>, bool) {
    let mut told = Vec::new();
    let trace = cache
        .traced(prepared, Needs::Grid, &mut |done, of| {
            told.push(done);
            unwatched(done, of)
        })
        .unwrap()
        .trace;
    (trace, told.len() > 1)
}

/// Prepares `fwt` of 256 TBs, so that executing it takes two steps.
fn fwt(seed: u64) -> Prepared {
    prepared("fwt", 256 * 1024, seed)
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

fn cache(folder: &Path, limit_bytes: u64) -> Cache {
    Cache::of(Store::new(folder.to_owned(), limit_bytes))
}

#[test]
fn a_trace_is_made_once_and_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    let cache = cache(&inner, DEFAULT_LIMIT_BYTES);
    let (made, executed) = record(&cache, fwt(1));
    assert!(executed);
    let (loaded, executed) = record(&cache, fwt(1));
    assert!(!executed);
    assert_eq!(made, loaded);
    assert_eq!(fingerprint::kernel(&made), fingerprint::kernel(&loaded));
    assert_eq!(*made, fwt(1).record().unwrap());
    assert_eq!(names(&inner).len(), 1);
    let (_, executed) = record(&Cache::off(), fwt(1));
    assert!(executed);
    assert_eq!(cache.notes(), [""; 0]);
}

/// The progress callback is called after each step. Partial execution is discarded and not cached.
#[test]
fn who_watches_may_stop_it() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path(), DEFAULT_LIMIT_BYTES);
    for needs in [Needs::Grid, Needs::Window { budget_bytes: 1 << 30, printer: None }] {
        let mut asked = 0;
        let stopped = cache.traced(fwt(1), needs, &mut |_, _| {
            asked += 1;
            ControlFlow::Break(())
        });
        let Err(KernelError::Record(RecordError::Stopped { recorded, tbs: 256 })) = stopped else { panic!("{stopped:?}") };
        assert!((1..256).contains(&recorded) && asked == 1, "{recorded} TBs, asked {asked} times");
        assert_eq!(names(folder.path()).len(), 0);
    }
}

/// The key contains every input of a trace, and nothing else.
#[test]
fn other_input_is_another_trace() {
    let base = || prepared("bfs", 1024, 1);
    let mut keys = vec![key(&base())];
    assert_eq!(keys[0], key(&base()));
    assert!(keys[0].len() == 32 && keys[0].bytes().all(|byte| byte.is_ascii_hexdigit()));
    let mut other = |change: &dyn Fn(&mut Prepared)| {
        let mut prepared = base();
        change(&mut prepared);
        keys.push(key(&prepared));
    };
    other(&|p| p.info.name = "other".into());
    other(&|p| p.info.registers_per_thread += 1);
    other(&|p| p.info.shared_bytes += 4);
    other(&|p| p.instance.launch.grid[0] += 1);
    other(&|p| p.instance.launch.args.swap(0, 1));
    other(&|p| p.program.shared_bytes += 4);
    other(&|p| drop(p.program.insts.pop()));
    other(&|p| {
        p.instance.memory.allocate([0]);
    });
    other(&|p| *p = prepared("bfs", 1024, 2));
    other(&|p| *p = prepared("bfs", 2048, 1));
    other(&|p| *p = prepared("mm", 64, 1));
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
    let mut renamed = base();
    renamed.program.file = "elsewhere.ptx".into();
    assert_eq!(key(&renamed), key(&base()));
    // One bit of the input.
    let bits = |word| {
        let mut prepared = base();
        prepared.instance.memory.allocate([word]);
        key(&prepared)
    };
    assert_ne!(bits(0), bits(1));
}

/// A trace is loaded in exactly the memory that it takes, and not in less.
#[test]
fn a_cached_trace_beyond_the_budget_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path(), DEFAULT_LIMIT_BYTES);
    let (made, _) = record(&cache, fwt(1));
    let bytes = made.memory_bytes() as u64;
    let [file] = &names(folder.path())[..] else { panic!("one trace") };
    assert_eq!(mias_trace::trace_file::read_within(file, bytes).unwrap().launches[0].trace, made);
    for less in [0, 1, bytes / 4, bytes / 2, bytes - 1] {
        let error = mias_trace::trace_file::read_within(file, less).unwrap_err();
        assert!(matches!(error.problem, mias_trace::trace_file::Problem::MemoryLimit), "{error}");
    }
    let window = |budget_bytes| Needs::Window { budget_bytes, printer: None };
    assert_eq!(*cache.traced(fwt(1), window(bytes), &mut unwatched).unwrap().trace, *made);
    assert_eq!(cache.notes(), [""; 0]);
    let grown = cache.traced(fwt(1), window(bytes - 1), &mut unwatched).unwrap();
    let notes = cache.notes();
    assert!(notes[0].starts_with("`fwt` is executed again: its cached trace takes more than the "), "{notes:?}");
    assert!(notes[1].starts_with("`fwt` is executed in up to 64.0 MiB of memory, more than the ") && notes.len() == 2, "{notes:?}");
    // Small parts: the last of them begins in the middle of the grid.
    let last = grown.source.unwrap().part_with(255).unwrap();
    assert_eq!((grown.trace.tbs(), last.first_tb + last.trace.recorded_tbs()), (256, 256));
    assert!(last.first_tb > 0 && last.trace.memory_bytes() < made.memory_bytes() / 2);
}

#[test]
fn a_damaged_file_is_made_again_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let cache = cache(folder.path(), DEFAULT_LIMIT_BYTES);
    let (made, _) = record(&cache, fwt(1));
    let [file] = &names(folder.path())[..] else { panic!("one trace") };
    let whole = std::fs::read(file).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let foreign = trace_file_of("mm", 64);
    for bytes in [vec![], whole[..whole.len() / 2].to_vec(), flipped(0), flipped(whole.len() / 2), flipped(whole.len() - 1), foreign] {
        std::fs::write(file, bytes).unwrap();
        let (again, executed) = record(&cache, fwt(1));
        assert!(executed);
        assert_eq!(again, made);
        let notes = cache.notes();
        assert!(notes.len() == 1 && notes[0].starts_with("rebuilding the cached trace of `fwt`:"), "{notes:?}");
        assert!(std::fs::read(file).unwrap() == whole, "the file is whole again");
    }
}

/// Returns a whole trace file, of another kernel.
fn trace_file_of(name: &str, size: u64) -> Vec<u8> {
    let trace = Arc::new(prepared(name, size, 1).record().unwrap());
    let launches = vec![Launch { stream: 0, trace }];
    mias_trace::trace_file::encode(&TraceFile { name: name.into(), warnings: Warnings::new(), launches })
}

/// Ages the traces by an hour each, the first the oldest.
fn age(files: &[&PathBuf]) {
    for (at, file) in files.iter().enumerate() {
        let age = Duration::from_secs(3600 * (files.len() - at) as u64 + 60);
        std::fs::File::options().append(true).open(file).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }
}

#[test]
fn the_least_recently_used_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let unbounded = cache(folder.path(), DEFAULT_LIMIT_BYTES);
    let file = |seed| folder.path().join(format!("{}.mtrace", key(&fwt(seed))));
    (1..=3).for_each(|seed| drop(record(&unbounded, fwt(seed))));
    let files = [file(1), file(2), file(3)];
    let bytes = std::fs::metadata(&files[0]).unwrap().len();
    assert!(files.iter().all(|file| std::fs::metadata(file).unwrap().len() == bytes), "other values, the same trace");
    age(&[&files[0], &files[1], &files[2]]);
    // 1 is used: 2 is now the oldest.
    assert!(!record(&unbounded, fwt(1)).1);
    // Files left by a killed process, long ago and now; and foreign files.
    let part = |number| folder.path().join(format!("{}.77.{number}.part", key(&fwt(9))));
    std::fs::write(part(1), "left").unwrap();
    age(&[&part(1)]);
    std::fs::write(part(2), "at work").unwrap();
    let foreign = ["thesis.tex", "0123.mtrace", "kernelslist.g"].map(|name| folder.path().join(name));
    foreign.iter().for_each(|file| std::fs::write(file, "precious").unwrap());
    let room_for_three = Store::new(folder.path().to_owned(), 3 * bytes + 10);
    record(&Cache::of(room_for_three.clone()), fwt(4));
    assert_eq!([1, 2, 3, 4].map(|seed| file(seed).exists()), [true, false, true, true]);
    assert_eq!((part(1).exists(), part(2).exists()), (false, true));
    assert_eq!(room_for_three.usage().unwrap(), Usage { traces: 3, bytes: 3 * bytes + 7 });
    // A trace larger than the whole cache is not stored, and evicts nothing.
    record(&cache(folder.path(), bytes - 1), fwt(5));
    assert!(!file(5).exists() && file(4).exists());
    assert_eq!(room_for_three.clean().unwrap(), Usage { traces: 3, bytes: 3 * bytes + 7 });
    let mut left = foreign.to_vec();
    left.sort();
    assert_eq!(names(folder.path()), left);
    assert_eq!(room_for_three.usage().unwrap(), Usage::default());
    assert_eq!(Store::new(folder.path().join("none"), 1).clean().unwrap(), Usage::default());
}

/// A file where the folder should be costs a note: no user can write there.
#[test]
fn a_place_that_cannot_be_used_costs_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let cache = cache(&file.join("cache"), DEFAULT_LIMIT_BYTES);
    for _ in 0..2 {
        assert!(record(&cache, fwt(1)).1);
    }
    let notes = cache.notes();
    assert!(notes.iter().any(|note| note.contains("traces are not cached: cannot write")), "{notes:?}");
    assert!(notes.len() <= 2, "each thing once: {notes:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

/// Several threads use one folder at once, with a bound so small that they evict each other's
/// traces.
#[test]
fn many_may_use_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    record(&cache(folder.path(), DEFAULT_LIMIT_BYTES), fwt(1));
    let bytes = std::fs::metadata(&names(folder.path())[0]).unwrap().len();
    let expected = fwt(1).record().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (folder, expected) = (folder.path(), &expected);
            scope.spawn(move || {
                let cache = cache(folder, 2 * bytes + 1);
                for round in 0..4 {
                    let (trace, _) = record(&cache, fwt((worker + round) % 3 + 1));
                    assert_eq!(trace.warp_insts(), expected.warp_insts());
                }
                assert_eq!(cache.notes(), [""; 0]);
            });
        }
    });
    assert!(names(folder.path()).iter().all(|file| file.extension().is_some_and(|extension| extension == "mtrace")));
    assert!(!names(folder.path()).is_empty());
}

/// Not a test of traces, but a reminder: when one of these fingerprints changes and no key did,
/// cached traces are out of date, and [`TRACE_VERSION`] must grow. The fingerprints are taken from
/// a run, as there is no other source of them.
#[test]
fn what_traces_are_made_of_has_a_version() {
    let sizes = [("mm", 64), ("fwt", 4096), ("nbdy", 512), ("blk", 256), ("bopt", 1), ("bfs", 1024), ("dxtc", 4)];
    let of = |(name, size): (&str, u64)| fingerprint::kernel(&prepared(name, size, 1).record().unwrap());
    let found = (TRACE_VERSION, sizes.map(of).concat());
    let expected = (
        2,
        String::from("1322fa4e3ad6a5657259b2274dc4ef6655147a03e9dd631fca5dd5ccb4c13c2db01311965ca06d0c8e486de57c0cea53156cfcc50cfa21b6"),
    );
    assert_eq!(found, expected, "raise TRACE_VERSION, then note the fingerprints here");
}
