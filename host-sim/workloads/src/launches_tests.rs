//! Tests of lists that are read as they come: each launch is what its file says, and few are in
//! memory at a time.

use super::*;
use crate::trace_store::Listed;
use crate::trace_store::listed::tests::{Place, gathers};

const MIB: u64 = 1 << 20;

fn in_memory(launches: &Launches) -> usize {
    launches.launches.iter().filter(|launch| matches!(*launch.read.lock().unwrap(), Some(Ok(_)))).count()
}

fn list(place: &Place, count: u64) -> Vec<PathBuf> {
    (0..count).map(|at| place.write(&format!("kernel-{at}.traceg"), gathers(20, at))).collect()
}

#[test]
fn launches_come_and_go_and_come_again() {
    let place = Place::new();
    let paths = list(&place, 6);
    for (streams, budget_bytes) in [(1, 8 * MIB), (2, u64::MAX)] {
        let launches = Launches::new(paths.clone(), streams, Arc::new(Cache::off()), budget_bytes, 2);
        for _ in 0..2 {
            for (at, path) in paths.iter().enumerate() {
                let expected = Listed::read(path, 1).unwrap();
                let source = launches.source(at);
                let announced = source.announced().unwrap();
                assert_eq!(announced.statics(), expected.trace.statics());
                let last = source.part_with(19).unwrap();
                assert_eq!(last.first_tb + last.trace.recorded_tbs(), 20);
                assert_eq!(launches.about(at).unwrap().hash, expected.hash);
            }
        }
        // The present ones and the next, and one that is being read ahead.
        assert!(in_memory(&launches) <= streams + 2, "{}", in_memory(&launches));
    }
}

/// The next launch is read while the present one runs, and none is read twice for that.
#[test]
fn the_next_launch_is_read_ahead() {
    let place = Place::new();
    let launches = Launches::new(list(&place, 3), 1, Arc::new(Cache::off()), u64::MAX, 2);
    assert!(launches.about(0).is_none() && in_memory(&launches) == 0);
    launches.source(0).announced().unwrap();
    // However long it takes.
    while launches.about(1).is_none() {
        thread::yield_now();
    }
    assert!(launches.about(0).is_some() && launches.about(2).is_none());
}

#[test]
fn what_is_wrong_is_told_by_the_first_part() {
    let place = Place::new();
    let mut paths = list(&place, 1);
    paths.push(place.write("kernel-9.traceg", "-kernel name = k\nnonsense\n"));
    let launches = Launches::new(paths.clone(), 1, Arc::new(Cache::off()), u64::MAX, 2);
    assert!(launches.source(0).announced().is_some());
    let wrong = launches.source(1);
    assert!(wrong.announced().is_none());
    let told = Listed::read(&paths[1], 1).unwrap_err().to_string();
    assert!(told.contains("kernel-9.traceg:2: "), "{told}");
    assert_eq!(wrong.part_with(0).unwrap_err(), told);
}
