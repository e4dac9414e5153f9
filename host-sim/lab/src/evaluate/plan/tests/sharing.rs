//! Tests of mechanisms, of GPUs for shared runs, and of overrides in an experiment's quick form.

use super::*;
use mias_hw_model::config::{DramOrder, InFlightLimit, MemoryIssueFrom, StaticLimit, Unlimited, WarpLimit};

/// Returns the valid plan on a GPU without mechanisms, with additional lines at its end.
fn with(lines: &str) -> String {
    format!("{SOUND}{lines}")
}

fn settings(lines: &str) -> Vec<Setting> {
    parse("my.toml", &with(lines)).unwrap().experiments.remove(0).settings
}

/// Every limit of the first kernel is combined with every limit of the second, on GPUs that
/// differ only in shared runs.
#[test]
fn limits_are_varied_where_kernels_share_the_gpu() {
    let lines = "[experiment.sharing.sm.memory_issue]\nin_flight = \"static\"\nlimits.0 = [1, 2, \"inf\"]\nlimits.1 = [1, \"inf\"]\n";
    let settings = settings(lines);
    let alone = gpus::load("rtx2060").unwrap();
    assert!(settings.iter().all(|setting| setting.gpu == alone && setting.gpu_name == "rtx2060"));
    let (one, inf) = (StaticLimit::Most(1), StaticLimit::Any(Unlimited::Inf));
    let limits = |setting: &Setting| setting.sharing.gpu.sm.memory_issue.clone().unwrap().limits;
    assert_eq!([0, 1, 4, 5].map(|at| limits(&settings[at])), [vec![one, one], vec![one, inf], vec![inf, one], vec![inf, inf]]);
    assert_eq!(settings.len(), 6);
    let labels: Vec<String> = settings[3].labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(labels, ["sm.memory_issue.limits.0=2", "sm.memory_issue.limits.1=inf"]);
}

/// Limits of active warps of both kernels are combined, on GPUs that differ only in shared
/// runs.
#[test]
fn active_warps_are_varied_where_kernels_share_the_gpu() {
    let settings = settings("[experiment.sharing]\nsm.active_warps.0 = [4, \"inf\"]\nsm.active_warps.1 = 24\n");
    let (inf, most) = (WarpLimit::Any(Unlimited::Inf), WarpLimit::Most);
    assert_eq!(
        settings.iter().map(|setting| setting.sharing.gpu.sm.active_warps.clone()).collect::<Vec<_>>(),
        [[most(4), most(24)], [inf, most(24)]]
    );
    assert!(settings.iter().all(|setting| setting.gpu.sm.active_warps.is_empty()));
    let message = refused(&with("[experiment.sharing]\nsm.active_warps.0 = 64\n"));
    assert!(message.contains("sm.active_warps = 64: must be 1 to 63 warps, or \"inf\""), "{message}");
}

/// Orders of DRAM requests differ only in shared runs, with shares if the order has any.
#[test]
fn orders_of_dram_requests_are_varied_where_kernels_share_the_gpu() {
    let orders = settings("[experiment.sharing.dram.scheduler]\nby = [\"fr-fcfs\", \"kernel-cap\", \"batch\"]\n");
    let by = |setting: &Setting| setting.sharing.gpu.dram.scheduler.as_ref().map(|scheduler| scheduler.by);
    assert_eq!(orders.iter().map(by).collect::<Vec<_>>(), [None, Some(DramOrder::KernelCap), Some(DramOrder::Batch)], "the usual is off");
    assert!(orders.iter().all(|setting| setting.gpu.dram.scheduler.is_none()));
    let shares = settings("[experiment.sharing.dram.scheduler]\nby = \"shares\"\nshares.0 = [256, 512]\nshares.1 = 512\n");
    let given = |setting: &Setting| setting.sharing.gpu.dram.scheduler.clone().unwrap().shares;
    assert_eq!(shares.iter().map(given).collect::<Vec<_>>(), [[256, 512], [512, 512]]);
    for (lines, says) in [
        ("by = \"shares\"\nshares.0 = 1_000\nshares.1 = 25", "dram.scheduler.shares = 1025: in sum must be at most 1024"),
        ("by = \"batch\"\ncap = 0", "dram.scheduler.cap = 0: must be 1 to 255"),
        ("by = \"par-bs\"", "unknown value `par-bs`; known: fr-fcfs, fcfs, kernel-cap, batch, shares"),
        ("by = \"shares\"\nshares.0 = 1\nshares.1 = 1\nshares.2 = 1", "has 3 numbers for groups of at most 2 kernels"),
    ] {
        let message = refused(&with(&format!("[experiment.sharing.dram.scheduler]\n{lines}\n")));
        assert!(message.contains(says), "{message}");
    }
}

/// `from` is also a key of ranges.
#[test]
fn a_field_may_be_called_from() {
    for field in ["sm.memory_issue.from = \"decision\"", "sm.memory_issue = { from = \"decision\", order = \"quota\" }"] {
        let [one] = &settings(&format!("[experiment.sharing]\n{field}\n"))[..] else { panic!("one setting") };
        assert_eq!(one.sharing.gpu.sm.memory_issue.as_ref().unwrap().from, MemoryIssueFrom::Decision);
    }
}

#[test]
fn what_cannot_be_together_is_refused_where_it_stands() {
    let limits = "[experiment.sharing.sm.memory_issue]\nin_flight = \"static\"\nlimits.0 = 0\n";
    let message = refused(&with(limits));
    assert!(message.contains("sharing: GPU `rtx2060`: sm.memory_issue.limits = 0: must be 1 to 127 instructions"), "{message}");
    let behind = "[experiment.sharing.sm.memory_issue]\nin_flight = \"static\"\nlimits.1 = 3\n";
    let message = refused(&with(behind));
    assert!(message.contains("sm.memory_issue.limits.1: the list has 0 elements; set the preceding ones first"), "{message}");
    // A mechanism that finds its own limits conflicts with given ones.
    let both = with(&limits.replace("= 0", "= 3")).replace("\"mias-ipc\"", "\"warped-slicer+dmil\"");
    let message = refused(&both);
    let twice =
        "policies: sm.memory_issue.in_flight conflicts with warped-slicer+dmil, which already sets it: leave it out, or use warped-slicer";
    assert!(message.contains(twice), "{message}");
    for (preset, table, field) in [
        ("warped-slicer+qbmi", "sharing", "sm.memory_issue.order = \"round-robin\""),
        ("smk+warp-quota", "sharing", "sm.memory_issue.warp_quota.0 = 100"),
        ("warped-slicer+l1-ucp", "gpu-settings", "l1.partition.by = \"ucp-rate\""),
        ("warped-slicer+equal-misses", "gpu-settings", "l1.miss_resources.by = \"equal\""),
    ] {
        let text = with(&format!("[experiment.{table}]\n{field}\n")).replace("\"mias-ipc\"", &format!("\"{preset}\""));
        let message = refused(&text);
        let key = field.split(' ').next().unwrap();
        assert!(message.contains(&format!("policies: {key} conflicts with {preset}, which already sets it")), "{message}");
    }
    // Numbers for a third kernel conflict with pairs.
    for field in
        ["limits.0 = 1\nlimits.1 = 1\nlimits.2 = 1\nin_flight = \"static\"", "warp_quota.0 = 9\nwarp_quota.1 = 9\nwarp_quota.2 = 9"]
    {
        let message = refused(&with(&format!("[experiment.sharing.sm.memory_issue]\n{field}\n")));
        assert!(message.contains("has 3 numbers for groups of at most 2 kernels: use at most one per kernel"), "{message}");
    }
    let slip = SOUND.replace("\"mias-ipc\"", "\"warped-slicer+dmill\"");
    assert!(refused(&slip).contains("unknown mechanism `dmill`; did you mean `dmil`?"), "{}", refused(&slip));
}

/// Policies are in the order of reports, each once; those with mechanisms follow their bases.
#[test]
fn compositions_are_policies() {
    let text = SOUND.replace("\"mias-ipc\"", "\"smk+warp-quota\", \"warped-slicer\", \"mias-ipc\", \"warped-slicer\"");
    let policies = parse("my.toml", &text).unwrap().experiments.remove(0).policies;
    let names: Vec<&str> = policies.iter().map(|policy| policy.name()).collect();
    assert_eq!(names, ["left-over", "spatial", "null", "mias-ipc", "mias-factor", "warped-slicer", "smk+warp-quota"]);
    assert!(settings("").iter().all(|setting| setting.sharing.gpu.sm.memory_issue.is_none()), "off is off");
    assert!(
        settings("").iter().all(|setting| setting.sharing.gpu.sm.memory_issue.as_ref().is_none_or(|m| m.in_flight == InFlightLimit::None))
    );
}

/// Overrides of the quick form precede the rules for all plans; in tables, field by field.
#[test]
fn a_quick_form_may_say_what_it_has_instead() {
    let quick = "[experiment.gpu-settings]\nsm.warp_scheduler = \"lrr\"\nl1.mshrs = [64, 128]\n\
        [experiment.quick]\ngroups = [[\"mm:64\", \"bopt:8\"]]\npolicies = [\"spatial\"]\n\
        [experiment.quick.parameters]\ncycles = 300_000\n[experiment.quick.gpu-settings]\nsm.count = 4\nl1.mshrs = 64\n";
    let (full, small) = (parse("my.toml", &with(quick)).unwrap(), parse_as("my.toml", &with(quick), &Policies::default(), true).unwrap());
    let (full, small) = (&full.experiments[0], &small.experiments[0]);
    assert_eq!((full.groups.len(), full.policies.len(), full.settings.len()), (3, 5, 2));
    assert_eq!((&small.groups[..], &small.policies[..], small.settings.len()), (&[vec![1, 2]][..], &[Policy::Spatial][..], 1));
    assert_eq!(small.settings[0].options.end, End::Cycles(300_000));
    assert_eq!(small.settings[0].gpu_name, "rtx2060 l1.mshrs=64 sm.warp_scheduler=lrr sm.count=4", "the GPU is as large as it says");
    assert_eq!(full.settings[0].gpu_name, "rtx2060 l1.mshrs=64 sm.warp_scheduler=lrr");
}

#[test]
fn a_quick_form_may_leave_an_experiment_out() {
    let second = SOUND[SOUND.find("[[experiment]]").unwrap()..].replace("\"pairs\"", "\"long\"");
    let text = with(&second).replacen("title = \"Pairs\"\ngpu", "title = \"Pairs\"\nquick = false\ngpu", 1);
    let names = |quick| {
        let plan = parse_as("my.toml", &text, &Policies::default(), quick).unwrap();
        plan.experiments.into_iter().map(|experiment| experiment.name).collect::<Vec<_>>()
    };
    assert_eq!((names(false), names(true)), (vec!["pairs".to_owned(), "long".into()], vec!["long".to_owned()]));
    // The override is checked in either form.
    let message = refused(&with("[experiment.quick]\npolices = [\"spatial\"]\n"));
    assert!(message.contains("[experiment.quick]: unknown key `polices`; did you mean `policies`?"), "{message}");
}
