//! What Shieh 2016 says of its schemes (sections 4.2 to 4.4): means over its nineteen kernels on its machine. It stands beside results of these only.

use mias_lab::evaluate::requests::ALL;
use mias_lab::evaluate::results::StudyResult;

/// Its kernels (table 4.2), by the names that they have in the library.
const KERNELS: [&str; 19] =
    ["pf", "hs", "sc", "dwt", "dwtc", "ks", "km", "stc", "sr1", "sr2", "btr", "bt", "nw1", "nw2", "bfs1", "bfs2", "bpl", "bpa", "hw"];

/// Its urgent task.
const URGENT: &str = "preempt";

/// What names of its machine (table 4.1) begin with.
const MACHINE: &str = "shieh16";

/// Whether a study is of its machine, or of a part of it, with its kernels and its urgent task.
pub(super) fn is_of(study: &StudyResult) -> bool {
    let bare = |name: &str| name.split(':').next().unwrap_or(name).to_owned();
    let mut ran: Vec<String> = study.requests.iter().filter(|row| row.kernel != ALL).map(|row| bare(&row.kernel)).collect();
    ran.sort_unstable();
    ran.dedup();
    let mut kernels = KERNELS.map(str::to_owned).to_vec();
    kernels.sort_unstable();
    study.gpu.starts_with(MACHINE) && ran == kernels && study.kernels.iter().any(|kernel| bare(&kernel.name) == URGENT)
}

/// Limits of its section 4.4 in nanoseconds.
const LIMITS_NS: [u64; 4] = [2_000, 3_000, 4_000, 5_000];

/// The core clock of its machine (table 4.1): cycles in 1,000 ns.
const CYCLES_PER_US: u64 = 1_400;

/// Violations in percent, and overhead over flushing in percent, at these limits.
const SCHEMES: [(&str, [f64; 4], [f64; 4]); 2] =
    [("chimera", [14.03, 7.95, 1.93, 1.28], [67.0, 55.3, 50.1, 40.5]), ("shieh", [8.36, 1.30, 0.0, 0.0], [50.1, 38.2, 26.6, 15.9])];

/// The oracle's violations at 2 us.
const ORACLE: f64 = 6.9;

fn at(limit_cycles: u64) -> Option<usize> {
    LIMITS_NS.iter().position(|ns| ns * CYCLES_PER_US / 1_000 == limit_cycles)
}

/// Share of requests that missed their deadline.
pub(super) fn violations(scheme: &str, limit_cycles: u64) -> Option<f64> {
    let at = at(limit_cycles)?;
    if scheme == "oracle" {
        return (at == 0).then_some(ORACLE / 100.0);
    }
    SCHEMES.iter().find(|(name, ..)| *name == scheme).map(|(_, violations, _)| violations[at] / 100.0)
}

/// Instructions lost over what flushing loses.
pub(super) fn overhead(scheme: &str, limit_cycles: u64) -> Option<f64> {
    let at = at(limit_cycles)?;
    SCHEMES.iter().find(|(name, ..)| *name == scheme).map(|(.., overhead)| overhead[at] / 100.0)
}
