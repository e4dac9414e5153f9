//! Groups with a late arrival of the last kernel, on the GPU with closed-form results.

use super::super::results::StudyResult;
use super::*;

/// The last of each pair arrives late. No run with it equals one with simultaneous arrival, and
/// each arrival has its own isolated run.
#[test]
fn a_late_arrival_is_another_run() {
    let together = plan();
    let plan = plan_with("arrive = [0, 5_000]\n");
    let (traces, text) = (traces(), |studies: &Studies<'_>| {
        serde_json::to_string(&studies.jobs.values().map(|job| &job.identity).collect::<Vec<_>>()).unwrap()
    });
    let (before, both) = (Studies::of(&together, &traces).unwrap(), Studies::of(&plan, &traces).unwrap());
    assert!(!text(&before).contains("arrivals"), "off is off");
    assert!(before.jobs.keys().all(|key| both.jobs.contains_key(key)), "runs without a late arrival keep their keys");
    // Late: mm and bopt alone; per pair left-over (now a run of its own), spatial, two measuring
    // policies and three configurations.
    let late: Vec<&Job> = both.jobs.values().filter(|job| !before.jobs.contains_key(&job.identity.key())).collect();
    assert_eq!(late.len(), 2 + 3 * (1 + 1 + 2 + 3));
    for job in late {
        let arrivals: Vec<u64> = job.workloads.iter().map(|workload| workload.arrival_cycle).collect();
        assert_eq!(job.identity.arrivals, arrivals);
        assert_eq!(arrivals, if arrivals.len() == 1 { vec![5_000] } else { vec![0, 5_000] });
        assert!(job.identity.describe().contains(" (at cycle 5000): "), "{}", job.identity.describe());
    }
    // Null places the faster kernel of each pair only.
    let evaluation = run_plan(&plan, tempfile::tempdir().unwrap().path(), 2, usize::MAX).1.unwrap();
    let [off, on] = &evaluation.studies[..] else { panic!("two settings") };
    assert_eq!((off.arrive, on.arrive), (0, 5_000));
    let kernels: Vec<(&str, u64)> = on.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.arrival_cycle)).collect();
    assert_eq!(kernels, [("fwt:4096", 0), ("mm:64", 0), ("mm:64", 5_000), ("bopt:8", 5_000)]);
    let still = |study: &StudyResult, policy: &str| summary::find(&study.summary, summary::ALL, policy).unwrap().kernels_without_progress;
    assert_eq!((still(off, "null"), still(on, "null"), still(on, "mias-ipc")), (None, Some(3), Some(0)));
    assert_eq!(still(on, summary::S_NULL), None);
}
