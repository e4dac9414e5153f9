//! Tests of launches in little memory: their parts are the whole, and no more is held than may be.

use super::*;
use crate::trace_store::listed::tests::{Place, gathers};

const MIB: u64 = 1 << 20;

/// Combines all parts into one trace.
fn together(bounded: &Bounded) -> KernelTrace {
    let mut builder = TraceBuilder::new(bounded.announced().info().clone()).unwrap();
    while builder.tbs() < bounded.announced().tbs() {
        let part = bounded.part_with(builder.tbs()).unwrap();
        assert_eq!(part.first_tb, builder.tbs());
        builder.append(&part.trace).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn a_launch_beyond_its_memory_is_in_parts_and_the_same() {
    let place = Place::new();
    let path = place.write("kernel-1.traceg", gathers(40, 1));
    let whole = Listed::read(&path, 1).unwrap();
    let bytes = whole.trace.memory_bytes() as u64;
    assert!(bytes > MIB, "{bytes} bytes");
    for threads in [1, 3] {
        let bounded = Cache::off().listed_within(&path, threads, 4 * MIB).unwrap();
        assert!(bounded.is_in_parts() && bounded.announced().recorded_tbs() == 0);
        assert_eq!(bounded.announced().statics(), whole.trace.statics());
        // Forwards, and from the beginning again, as a kernel that is launched again asks for them.
        for _ in 0..2 {
            assert!(together(&bounded) == *whole.trace);
        }
        assert_eq!((Cache::off().finish(&path, &bounded), bounded.stream), (whole.hash.clone(), whole.stream));
        let parts = bounded.parts.as_ref().unwrap().lock().unwrap();
        assert!(parts.closed.count() >= 2 && parts.closed.spilled());
        assert!(parts.closed.held_bytes() <= MIB, "{} bytes", parts.closed.held_bytes());
        // A part is full at 1 MiB; what comes at a time adds less than that.
        assert!(parts.last.memory_bytes() as u64 <= 2 * MIB);
    }
    let bounded = Cache::off().listed_within(&path, 2, u64::MAX).unwrap();
    assert!(!bounded.is_in_parts() && bounded.announced() == whole.trace && together(&bounded) == *whole.trace);
    assert_eq!(Cache::off().finish(&path, &bounded), whole.hash);
}

/// A cached launch is loaded if it fits into memory.
#[test]
fn a_kept_launch_is_whole_or_read_again() {
    let place = Place::new();
    let path = place.write("kernel-1.traceg", gathers(104, 2));
    let cache = place.cache();
    let read = cache.listed_within(&path, 2, u64::MAX).unwrap();
    // Nothing is kept before.
    assert!(!cache.listed_within(&path, 2, u64::MAX).unwrap().is_cached);
    let (hash, bytes) = (cache.finish(&path, &read), read.announced().memory_bytes() as u64);
    let again = |most_bytes| cache.listed_within(&path, 2, most_bytes).unwrap();
    let (fits, does_not) = (again(bytes), again(4 * MIB));
    assert!(fits.is_cached && fits.announced() == read.announced());
    assert!(!does_not.is_cached && does_not.is_in_parts());
    assert_eq!((cache.finish(&path, &fits), cache.finish(&path, &does_not)), (hash.clone(), hash));
    assert_eq!(cache.notes(), [""; 0]);
}

#[test]
fn what_is_wrong_is_told_as_ever() {
    let place = Place::new();
    let path = place.write("kernel-1.traceg", gathers(40, 3).replacen("thread block = 30", "thraed block = 30", 1));
    let told = Listed::read(&path, 1).unwrap_err().to_string();
    for threads in [1, 3] {
        assert_eq!(Cache::off().listed_within(&path, threads, 4 * MIB).unwrap_err().to_string(), told);
    }
}
