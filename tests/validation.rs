//! Timing model against the reference numbers, on the traces in `tests/data/reference`. The bounds
//! are those of `mias_lab::validation`, and `cargo xtask validate` writes the document.

use mias_lab::validation::reference::COLUMNS;
use mias_lab::validation::{ByPath, GPU, Launch, Suite, by_path_markdown, coruns, coruns_markdown, mean_error_percent, own_markdown};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference")
}

fn suite() -> &'static Suite {
    static SUITE: OnceLock<Suite> = OnceLock::new();
    SUITE.get_or_init(|| Suite::run(&reference()).unwrap_or_else(|error| panic!("{error}")))
}

/// Returns the traces that `mias trace export` wrote, run by the reference.
fn exports() -> &'static ByPath {
    static EXPORTS: OnceLock<ByPath> = OnceLock::new();
    let folder = reference().join("exports");
    EXPORTS.get_or_init(|| ByPath::run(&folder, Some(&folder.join("exports.csv")), GPU).unwrap_or_else(|error| panic!("{error}")))
}

/// Exported traces, and the allowed deviation of their cycles in percent, launch latency included.
const EXPORTED: [(&str, f64); 6] = [("bfs", 3.0), ("fwt", 5.0), ("mm_160", 3.0), ("mm_176", 3.0), ("mm_192", 3.0), ("mm_96", 4.0)];

/// GPU of the reference with its instruction fetch.
const WITH_FETCH: &str = "rtx2060-fetch";
/// Second GPU of the reference with its instruction fetch.
const SECOND_WITH_FETCH: &str = "rtx3070-fetch";

/// The project's own traces on the reference's GPU with whole-line caches.
const WHOLE_LINES: &str = "rtx2060-lines";

/// Returns our number and the reference's in a column.
fn column(launch: &Launch, name: &str) -> (f64, f64) {
    let at = COLUMNS.iter().position(|(column, _)| *column == name).expect("a column of the reference");
    (launch.ours[at] as f64, launch.reference[at].expect("the project's own reference has every column") as f64)
}

#[test]
fn every_number_is_within_its_bound() {
    let violations = suite().violations();
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    assert!(mean_error_percent(&suite().launches) <= 5.0);
}

/// No comparison is missing: the project holds reference numbers of 18 micro-benchmarks, 3 launches
/// and 2 co-runs.
#[test]
fn everything_is_compared() {
    let suite = suite();
    assert_eq!((suite.micro.len(), suite.launches.len(), suite.corun.len()), (18, 3, 2));
}

#[test]
fn the_document_shows_todays_numbers() {
    let document = include_str!("../docs/results/validation.md");
    assert!(document.contains(&own_markdown(suite())), "docs/results/validation.md is out of date: run `cargo xtask validate`");
    assert!(document.contains(&by_path_markdown(exports())), "docs/results/validation.md is out of date: run `cargo xtask validate`");
}

/// The cycles and counts of each exported trace are within their bounds.
#[test]
fn exported_traces_are_within_their_bounds() {
    let launches = &exports().launches;
    assert!(exports().left_out.is_empty(), "{:?}", exports().left_out);
    assert_eq!(launches.iter().map(|launch| launch.trace.as_str()).collect::<Vec<_>>(), EXPORTED.map(|(trace, _)| trace));
    for (launch, (trace, bound)) in launches.iter().zip(EXPORTED) {
        assert!(launch.violations().is_empty(), "{}", launch.violations().join("\n"));
        let (ours, reference) = column(launch, "cycles");
        let error = 100.0 * (ours / reference - 1.0);
        assert!(error.abs() <= bound, "{trace}: {ours} cycles, reference {reference}, {error:+.1} %, bound {bound} %");
        let (fails, expected) = column(launch, "l1_reservation_fails");
        let room = f64::max(0.25 * expected, 0.005 * column(launch, "l1_accesses").1);
        assert!((fails - expected).abs() <= room, "{trace}: {fails} reservation fails, reference {expected}, bound {room}");
    }
}

/// On the GPU that reproduces the reference's behavior in every cycle, every number of each
/// exported trace is exact. The exception is `bfs`: its cycles are within 0.1 % and its counts
/// within 1 %.
#[test]
fn exported_traces_are_the_references_in_every_cycle() {
    let folder = reference().join("exports");
    let exact = ByPath::run(&folder, Some(&folder.join("exports.csv")), WITH_FETCH).unwrap_or_else(|error| panic!("{error}"));
    assert!(exact.left_out.is_empty(), "{:?}", exact.left_out);
    assert_eq!(exact.launches.iter().map(|launch| launch.trace.as_str()).collect::<Vec<_>>(), EXPORTED.map(|(trace, _)| trace));
    for launch in &exact.launches {
        for (at, (name, _)) in COLUMNS.iter().enumerate() {
            let (ours, reference) = (launch.ours[at], launch.reference[at].expect("every column is given"));
            // One part in this number.
            let near = match (launch.trace.as_str(), *name) {
                ("bfs", "cycles") => 1_000,
                ("bfs", _) => 100,
                _ => u64::MAX,
            };
            assert!(ours.abs_diff(reference) <= reference / near, "{}, {name}: {ours}, reference {reference}", launch.trace);
        }
    }
}

/// With the reference's instruction fetch: cycles, launch latency included, within 1 % each.
#[test]
fn with_its_fetch_cycles_are_within_a_percent() {
    let fetch = ByPath::run(&reference(), Some(&reference().join("accelsim.csv")), WITH_FETCH).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fetch.launches.iter().map(|launch| launch.trace.as_str()).collect::<Vec<_>>(), ["comp", "mem", "shm"]);
    for launch in &fetch.launches {
        let (ours, reference) = column(launch, "cycles");
        assert!((ours - reference).abs() <= 0.01 * reference, "{}: {ours}, reference {reference}", launch.trace);
    }
    assert!(
        include_str!("../docs/results/validation.md").contains(&by_path_markdown(&fetch)),
        "docs/results/validation.md is out of date: run `cargo xtask validate`"
    );
}

/// Two kernels on the GPU that reproduces the reference's behavior in every cycle: either ends
/// within 2 %.
#[test]
fn with_its_fetch_co_runs_end_within_two_percent() {
    let found = coruns(&reference(), WITH_FETCH).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.iter().map(|corun| corun.name.as_str()).collect::<Vec<_>>(), ["comp60_mem", "mm90_fwt"]);
    for corun in &found {
        for (ours, reference) in corun.ours.into_iter().zip(corun.reference) {
            assert!(50 * ours.abs_diff(reference) <= reference, "{}: {ours}, reference {reference}", corun.name);
        }
    }
    assert!(
        include_str!("../docs/results/validation.md").contains(&coruns_markdown(&found)),
        "docs/results/validation.md is out of date: run `cargo xtask validate`"
    );
}

/// The reference's RTX 3070, to whose numbers nothing was fitted: cycles, launch latency included,
/// within 2 % each.
#[test]
fn the_second_gpu_is_within_two_percent() {
    let found =
        ByPath::run(&reference(), Some(&reference().join("rtx3070.csv")), SECOND_WITH_FETCH).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.launches.iter().map(|launch| launch.trace.as_str()).collect::<Vec<_>>(), ["comp", "mem", "shm"]);
    for launch in &found.launches {
        let (ours, reference) = column(launch, "cycles");
        assert!((ours - reference).abs() <= 0.02 * reference, "{}: {ours}, reference {reference}", launch.trace);
    }
    assert!(
        include_str!("../docs/results/validation.md").contains(&by_path_markdown(&found)),
        "docs/results/validation.md is out of date: run `cargo xtask validate`"
    );
}

/// With whole-line caches: cycles, launch latency included, within 1 % each, and every count but
/// retries within 1 %.
#[test]
fn whole_lines_are_within_their_bounds() {
    let lines = ByPath::run(&reference(), Some(&reference().join("lines.csv")), WHOLE_LINES).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lines.launches.iter().map(|launch| launch.trace.as_str()).collect::<Vec<_>>(), ["comp", "mem", "shm"]);
    for launch in &lines.launches {
        for (name, bound) in [
            ("cycles", 0.01),
            ("thread_insts", 0.0),
            ("l1_accesses", 0.01),
            ("l1_misses", 0.01),
            ("l2_accesses", 0.01),
            ("l2_misses", 0.01),
            ("dram_reads", 0.01),
            ("dram_writes", 0.01),
        ] {
            let (ours, reference) = column(launch, name);
            assert!((ours - reference).abs() <= bound * reference, "{}, {name}: {ours}, reference {reference}", launch.trace);
        }
    }
}

/// Dependent loads of one warp with whole-line caches: every cycle and every count equals the
/// reference's. They hit the L1, bypass it and hit the L2, or go to DRAM, one line or 32 at a time.
#[test]
fn loads_through_whole_lines_take_the_references_cycles() {
    let folder = reference().join("micro");
    let loads = ByPath::run(&folder, Some(&folder.join("lines.csv")), WHOLE_LINES).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loads.launches.len(), 8);
    for launch in &loads.launches {
        for (at, (name, _)) in COLUMNS.iter().enumerate() {
            // The reference reports no warp instructions here.
            if let Some(reference) = launch.reference[at] {
                assert_eq!(launch.ours[at] as f64, reference as f64, "{}, {name}", launch.trace);
            }
        }
    }
}
