//! Tests of mechanisms and of GPUs that differ in shared runs: their runs, and quotas from
//! isolated runs.

use super::*;
use crate::evaluate::record::Identity;
use crate::experiment::policy::Latency;

fn plan_of(policies: &str, lines: &str) -> Plan {
    let text =
        PLAN.replace("policies = [\"mias-ipc\", \"mias-factor\", \"left-over\", \"spatial\", \"null\"]", &format!("policies = {policies}"));
    assert_ne!(text, PLAN);
    plan::parse("pairs.toml", &(text + lines), &Policies::default()).unwrap()
}

fn identities(plan: &Plan) -> Vec<Identity> {
    Studies::of(plan, &traces()).unwrap().jobs.into_values().map(|job| job.identity).collect()
}

/// A composed policy equals its base on a GPU with its fields: one run under any name.
#[test]
fn equal_runs_are_one_run() {
    let both = identities(&plan_of("[\"warped-slicer\", \"warped-slicer\"]", ""));
    assert_eq!(both, identities(&plan_of("[\"warped-slicer\"]", "")));
    let sharing = "[experiment.sharing]\nsm.memory_issue.in_flight = \"dynamic\"\n";
    let (preset, set) = (identities(&plan_of("[\"warped-slicer+dmil\"]", "")), identities(&plan_of("[\"warped-slicer\"]", sharing)));
    let of_policy = |runs: &[Identity]| runs.iter().filter(|run| run.control == "warped-slicer").cloned().collect::<Vec<_>>();
    assert_eq!(of_policy(&preset), of_policy(&set));
    let dynamic = |run: &Identity| run.gpu.ends_with("sm.memory_issue.in_flight=dynamic");
    assert_eq!(of_policy(&preset).iter().filter(|run| dynamic(run)).count(), 3, "a run for each pair");
    // Isolated runs use the unchanged GPU; configurations use the GPU for shared runs.
    assert!(set.iter().all(|run| dynamic(run) == (run.kernels.len() > 1)));
    assert!(preset.iter().all(|run| dynamic(run) == (run.control == "warped-slicer")));
}

/// An isolated run replaces left-over only on the same GPU.
#[test]
fn nothing_is_derived_from_another_gpu() {
    let derived = |lines: &str| {
        let plan = plan_of("[\"left-over\"]", lines);
        let studies = Studies::of(&plan, &traces()).unwrap();
        studies.all[0].groups.iter().filter(|group| group.runs[&Control::Policy(Policy::LeftOver)].derived).count()
    };
    assert_eq!((derived(""), derived("[experiment.sharing]\nsm.memory_issue.in_flight = \"dynamic\"\n")), (3, 0));
}

/// The controller of extra TBs belongs to the GPU: each run becomes two, and in firmware it
/// takes time under any policy.
#[test]
fn a_controller_in_firmware_is_another_run_that_takes_time() {
    let oversubscription = "[experiment.gpu-settings]\nsm.oversubscription.mechanism = \"duet\"\nsm.oversubscription.controller = [\"hardware\", \"firmware\"]\n";
    let text = PLAN.replace("gpu = \"rtx2060\"", "gpu = \"lin18\"") + oversubscription;
    let plan = plan::parse("pairs.toml", &text, &Policies::default()).unwrap();
    let studies = Studies::of(&plan, &traces()).unwrap();
    let of = |firmware: bool| {
        let by = move |job: &&Job| {
            job.gpu.sm.oversubscription.is_some_and(|oversubscription| oversubscription.is_controlled_by_firmware()) == firmware
        };
        studies
            .jobs
            .values()
            .filter(by)
            .filter(|job| job.identity.control == "left-over")
            .map(|job| job.options.latency)
            .collect::<Vec<_>>()
    };
    assert!(of(false).len() >= 3 && of(false).len() == of(true).len(), "a run of each pair");
    assert!(of(false).iter().all(|latency| *latency == Latency::Off) && of(true).iter().all(|latency| *latency != Latency::Off));
}

/// Before isolated runs there is no run of SMK-(P+W); then its quotas are proportional to the
/// kernels' issue.
#[test]
fn quotas_wait_for_the_kernels_alone() {
    let plan = plan_of("[\"smk\", \"smk+warp-quota\", \"null\"]", "");
    let mut studies = Studies::of(&plan, &traces()).unwrap();
    assert_eq!((studies.most_waiting(), studies.names_of_waiting().as_str()), (6, "`null` and `smk+warp-quota`"));
    let quotas = |studies: &Studies<'_>| {
        let jobs = studies.jobs.values().filter_map(|job| Some(job.gpu.sm.memory_issue.as_ref()?.warp_quota.clone()));
        jobs.collect::<Vec<_>>()
    };
    assert_eq!(quotas(&studies), Vec::<Vec<u32>>::new());
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Note::of(&plan)).unwrap();
    let cancel = Cancel::default();
    let closed = |_: &Job| -> Box<dyn GpuRunner> { Box::new(Closed { runs: Arc::default(), most: usize::MAX, cancel: cancel.clone() }) };
    execute(&missing(studies.jobs.values(), &store), &store, &closed, &cancel, &Unwatched).unwrap();
    let runs = Runs::load(&studies, &store);
    studies.add_waiting(&|study, group, policy| runs.ran(study, group, policy)).unwrap();
    assert_eq!(quotas(&studies).len(), 3, "a run for each pair");
    execute(&missing(studies.jobs.values(), &store), &store, &closed, &cancel, &Unwatched).unwrap();
    let results = findings(&plan, &studies, &Runs::load(&studies, &store)).unwrap();
    let names: Vec<&str> = results.studies[0].groups[0].policies.iter().map(|result| result.policy).collect();
    assert_eq!(names, ["null", "smk", "smk+warp-quota"]);
}

/// Scalability and memory results are present only on request.
#[test]
fn results_have_more_where_it_is_asked_for() {
    let run = |lines: &str| {
        let text = PLAN.replace("gpu =", &format!("{lines}\ngpu ="));
        let plan = plan::parse("pairs.toml", &text, &Policies::default()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        run_plan(&plan, folder.path(), 2, usize::MAX)
    };
    let (runs, more) = run("together = 1\nscalability = true\nmemory = true");
    assert_eq!(runs.len(), 3 * (4 + 4), "three and the most, and four policies that run something of their own");
    let study = &more.unwrap().studies[0];
    // fwt has 30 instructions per cycle and TB.
    assert_eq!(study.kernels[0].scalability, [(1, 30.0), (2, 60.0), (3, 90.0), (4, 120.0)]);
    assert!(study.kernels.iter().all(|kernel| kernel.memory.is_some() && kernel.series.is_none()));
    assert!(study.groups.iter().flat_map(|group| &group.policies).all(|result| result.memory.is_some()));
    let text = serde_json::to_string(&run("").1.unwrap()).unwrap();
    for key in ["\"scalability\"", "\"memory\"", "\"series\"", "\"l1_miss_rate\"", "\"sample_cycles\""] {
        assert!(!text.contains(key), "{key}");
    }
}
