//! Tests of valid plans, and of error messages for invalid ones.

mod decisions;
mod field;
mod precision;
mod report;
mod requests;
mod sharing;

use super::*;
use crate::experiment::gpu_runner::End;
use crate::experiment::gpu_runner::Options;
use crate::experiment::policy::{Counted, Transition};

const SOUND: &str = include_str!("../../../../tests/data/pairs.toml");

fn parse(file: &str, text: &str) -> Result<Plan, PlanError> {
    super::parse(file, text, &Policies::default())
}

fn load(name_or_path: &str) -> Result<Plan, PlanError> {
    super::load(name_or_path, &Policies::default())
}

fn refused(text: &str) -> String {
    parse("my.toml", text).unwrap_err().to_string()
}

/// Replaces one text of the valid plan and returns the error, which must point at the line of the
/// new text.
fn refused_with(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    let text = SOUND.replacen(from, to, 1);
    let line = text[..text.find(to).unwrap()].matches('\n').count() + to.matches('\n').count() + 1;
    let first = line - to.matches('\n').count();
    let message = refused(&text);
    assert!((first..=line).any(|line| message.starts_with(&format!("my.toml:{line}:"))), "{message}");
    message
}

#[test]
fn built_in_plans_are_sound() {
    for name in names() {
        assert_eq!(load(name).unwrap().name, name);
    }
    // sources.md D7 and D9: 7 kernels, 21 pairs, 5,000,000 cycles.
    let thesis = load("thesis").unwrap();
    assert_eq!((thesis.experiments[0].kernels.len(), thesis.experiments[0].groups.len()), (7, 21));
    assert_eq!(thesis.experiments[0].settings[0].options.end, End::Cycles(5_000_000));
    // Dai et al. 2018, section 2.3: 13 kernels, 78 pairs, 286 triples, 2,000,000 cycles; figure 9:
    // 25 by 25 limits.
    let dai = load("dai").unwrap();
    let of = |name: &str| dai.experiments.iter().find(|experiment| experiment.name == name).unwrap();
    assert_eq!(["alone", "pairs", "triples"].map(|name| of(name).groups.len()), [13, 78, 286]);
    assert_eq!((of("limits").groups.len(), of("limits").settings.len()), (3, 625));
    assert_eq!(of("pairs").settings[0].options.end, End::Cycles(2_000_000));
    // Quick form: a quarter of the GPU, 300,000 cycles, 12 pairs, 8 triples, 5 by 5 limits.
    let quick = load_quick("dai", &Policies::default()).unwrap();
    let of = |name: &str| quick.experiments.iter().find(|experiment| experiment.name == name).unwrap();
    assert_eq!(["alone", "pairs", "triples"].map(|name| of(name).groups.len()), [13, 12, 8]);
    assert_eq!((of("limits").groups.len(), of("limits").settings.len()), (3, 25));
    for setting in quick.experiments.iter().flat_map(|experiment| &experiment.settings).filter(|setting| setting.gpu.name == "dai18-lines")
    {
        assert_eq!((setting.gpu.sm.count, setting.gpu.dram.channels, setting.options.end), (4, 4, End::Cycles(300_000)));
    }
    let triples = load("extended").unwrap().experiments.into_iter().find(|experiment| experiment.name == "triples").unwrap();
    assert_eq!(triples.groups.len(), 35);
}

/// Zhao et al. 2018, section 6: 14 kernels, 91 pairs, 49 of them mixed, 21 memory-intensive, 24
/// SMs, 2,000,000 cycles, first runs; 23 splits of a pair.
#[test]
fn the_plan_zhao_is_that_of_its_paper() {
    let zhao = load("zhao").unwrap();
    let of = |name: &str| zhao.experiments.iter().find(|experiment| experiment.name == name).unwrap();
    assert_eq!(["alone", "pairs", "splits", "fewer", "corners", "four"].map(|name| of(name).groups.len()), [14, 91, 49, 21, 6, 40]);
    assert_eq!(["splits", "fewer", "corners"].map(|name| of(name).settings.len()), [23, 12, 144]);
    // Mixed pairs combine one of the first seven kernels of table 1 (compute-bound) with one of the
    // last seven.
    assert!(of("splits").groups.iter().all(|pair| pair[0] < 7 && (7..14).contains(&pair[1])));
    for setting in zhao.experiments.iter().flat_map(|experiment| &experiment.settings) {
        assert_eq!((setting.options.end, setting.options.counted), (End::Cycles(2_000_000), Counted::FirstRun));
        assert!(
            matches!((setting.gpu.name.as_str(), setting.gpu.sm.count), ("zhao18-lines", 24 | 30) | ("p100", 56)),
            "{}",
            setting.gpu_name
        );
    }
    // Bandwidth of a GPU over that of `pairs`, in percent.
    let khz = |name: &str| of(name).settings[0].gpu.clocks.dram_khz;
    let percent = |name: &str| 100 * khz(name) / khz("pairs");
    assert_eq!(["bandwidth-75", "bandwidth-125", "bandwidth-150"].map(percent), [75, 125, 150]);
    // The quick form keeps the GPU.
    let quick = load_quick("zhao", &Policies::default()).unwrap();
    let of = |name: &str| quick.experiments.iter().find(|experiment| experiment.name == name).unwrap();
    assert_eq!(["alone", "pairs", "splits", "fewer"].map(|name| of(name).groups.len()), [14, 12, 3, 1]);
    assert!(quick.experiments.iter().flat_map(|experiment| &experiment.settings).all(|setting| setting.gpu.sm.count == 24));
}

/// DRAM timings are no shorter in nanoseconds than at the paper's bandwidth, and longer by less
/// than a cycle. Bursts are in cycles (sources.md D177).
#[test]
fn more_bandwidth_takes_as_long_for_a_row() {
    let timing = |setting: &Setting| {
        let value = toml::Value::try_from(&setting.gpu.dram.timing).unwrap();
        value
            .as_table()
            .unwrap()
            .iter()
            .map(|(key, cycles)| (key.clone(), u64::try_from(cycles.as_integer().unwrap()).unwrap()))
            .collect::<Vec<_>>()
    };
    for plan in ["zhao", "zhao-elsewhere"] {
        let plan = load(plan).unwrap();
        let of = |name: &str| &plan.experiments.iter().find(|experiment| experiment.name == name).unwrap().settings[0];
        let (base, khz) = (timing(of("pairs")), |name: &str| u64::from(of(name).gpu.clocks.dram_khz));
        for name in ["bandwidth-75", "bandwidth-125", "bandwidth-150"] {
            for ((key, before), (_, now)) in base.iter().zip(timing(of(name))) {
                let wanted = if key.starts_with("t_ccd") { *before } else { (before * khz(name)).div_ceil(khz("pairs")) };
                assert_eq!(now, wanted, "{name}: {key}");
            }
        }
    }
}

/// 21 pairs and 35 triples of the thesis' seven kernels, and 91 pairs of the fourteen.
#[test]
fn the_plan_inside_or_beside_has_both_papers_kernels() {
    let groups = |plan: &Plan| plan.experiments.iter().map(|experiment| experiment.groups.len()).collect::<Vec<_>>();
    assert_eq!(groups(&load("inside-or-beside").unwrap()), [21 + 35, 91]);
    assert_eq!(groups(&load_quick("inside-or-beside", &Policies::default()).unwrap()), [24, 14]);
}

#[test]
fn defaults_are_all_pairs_and_the_thesis_window() {
    let plan = parse("my.toml", &SOUND.replace("cycles = 20_000", "")).unwrap();
    let experiment = &plan.experiments[0];
    assert_eq!(experiment.groups, [vec![0, 1], vec![0, 2], vec![1, 2]]);
    assert_eq!(
        experiment.policies,
        [Policy::LeftOver, Policy::Spatial, Policy::Null, Policy::MiasIpc, Policy::MiasFactor],
        "in the order of reports"
    );
    assert!(experiment.configurations);
    let setting = &experiment.settings[0];
    assert_eq!(setting.options, Options::new(End::Cycles(DEFAULT_CYCLES)));
    assert!(setting.labels.is_empty() && setting.gpu_name == "rtx2060");
}

#[test]
fn parameters_are_combined() {
    let parameters = "cycles = 20_000\nprofile-cycles = { from = 1_000, to = 3_500, step = 1_000 }\ntransition = [\"drain\", \"ideal\"]\n\
        [experiment.gpu-settings]\nsm.count = [2, 3]\nsm.warp_scheduler = \"lrr\"\n";
    let plan = parse("my.toml", &SOUND.replace("cycles = 20_000", parameters)).unwrap();
    let settings = &plan.experiments[0].settings;
    assert_eq!(settings.len(), 3 * 2 * 2);
    let profile: Vec<u32> = settings.iter().map(|setting| setting.options.profile_cycles).collect();
    assert_eq!(profile[..5], [1_000, 1_000, 1_000, 1_000, 2_000], "the first parameter changes slowest");
    assert_eq!(settings[2].options.transition, Transition::Ideal);
    assert_eq!((settings[0].gpu.sm.count, settings[1].gpu.sm.count), (2, 3));
    assert_eq!(settings[1].gpu_name, "rtx2060 sm.count=3 sm.warp_scheduler=lrr");
    let labels: Vec<&str> = settings[0].labels.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(labels, ["profile-cycles", "transition", "sm.count"], "what does not vary is no label");
}

#[test]
fn arrivals_are_settings() {
    let with = |lines: &str| parse("my.toml", &SOUND.replace("cycles = 20_000", lines)).unwrap().experiments.remove(0).settings;
    let arrive = |settings: &[Setting]| settings.iter().map(|setting| setting.arrive).collect::<Vec<_>>();
    assert_eq!(arrive(&with("cycles = 20_000")), [0]);
    let both = with("cycles = 20_000\narrive = [0, 19_999]");
    assert_eq!(arrive(&both), [0, 19_999]);
    assert_eq!(both[1].labels, [("arrive".to_owned(), "19999".to_owned())]);
    assert_eq!(arrive(&with("cycles = 20_000\narrive = { from = 0, to = 9_000, step = 4_500 }")), [0, 4_500, 9_000]);
    assert_eq!(arrive(&with("until = \"done\"\narrive = 1_000_000_000")), [1_000_000_000], "no window ends before");
}

#[test]
fn a_field_that_is_as_in_the_gpus_file_changes_nothing() {
    let text = SOUND.to_owned() + "[experiment.gpu-settings]\nsm.warp_scheduler = [\"gto\", \"lrr\"]\n";
    let plan = parse("my.toml", &text).unwrap();
    let gpus: Vec<&str> = plan.experiments[0].settings.iter().map(|setting| setting.gpu_name.as_str()).collect();
    assert_eq!(gpus, ["rtx2060", "rtx2060 sm.warp_scheduler=lrr"]);
}

/// Options that are off are absent from the GPU's document, but can be set.
#[test]
fn options_that_are_off_can_be_set() {
    let with = |fields: &str| parse("my.toml", &format!("{SOUND}[experiment.gpu-settings]\n{fields}"));
    let plan =
        with("dram.row_hit_cap = [0, 4]\ndram.timing.t_refi = { from = 6_825, to = 6_825, step = 1 }\ndram.timing.t_rfc = 455\n").unwrap();
    let [off, on] = &plan.experiments[0].settings[..] else { panic!("two settings") };
    assert_eq!((off.gpu.dram.row_hit_cap, on.gpu.dram.row_hit_cap), (0, 4));
    assert_eq!((on.gpu.dram.timing.t_refi, on.gpu.dram.timing.t_rfc), (6_825, 455));
    assert_eq!(off.gpu_name, "rtx2060 dram.timing.t_refi=6825 dram.timing.t_rfc=455", "0 is what it was");
    // One of two options that require each other.
    let message = with("dram.timing.t_rfc = 455\n").unwrap_err().to_string();
    assert!(message.contains("must both be given"), "{message}");
    let message = with("dram.timming.t_faw = 16\n").unwrap_err().to_string();
    assert!(message.contains("unknown field `timming`; did you mean `timing`?"), "{message}");
    let message = with("sm.count.of = 3\n").unwrap_err().to_string();
    assert!(message.contains("GPU `rtx2060`: no such field: sm.count.of"), "{message}");
}

/// A GPU without energies accepts all of them, or none.
#[test]
fn a_table_that_is_not_in_the_gpus_file_can_be_given() {
    let text = mias_gpus::text("rtx2060").unwrap();
    let (without, energy) = text.split_once("[energy]\n").unwrap();
    let (energy, lane) = energy.split_once("[energy.lane]\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plain.toml");
    std::fs::write(&file, without).unwrap();
    let plan = SOUND.replace("\"rtx2060\"", &format!("{:?}", file.display().to_string()));
    let given = format!("{plan}[experiment.gpu-settings.energy]\n{energy}[experiment.gpu-settings.energy.lane]\n{lane}");
    let setting = parse("my.toml", &given).unwrap().experiments.remove(0).settings.remove(0);
    assert_eq!(setting.gpu.energy, gpus::load("rtx2060").unwrap().energy);
    let message = refused(&format!("{plan}[experiment.gpu-settings]\nenergy.fetch_fj = 1\n"));
    assert!(message.contains("missing field"), "{message}");
}

#[test]
fn listed_groups_and_sizes() {
    let with =
        |line: &str| parse("my.toml", &SOUND.replace("policies", &format!("{line}\npolicies"))).unwrap().experiments.remove(0).groups;
    assert_eq!(with("groups = [[\"bopt:8\", \"mm:64\"], [\"mm:64\", \"mm:64\"]]"), [vec![2, 1], vec![1, 1]]);
    assert_eq!(with("together = [3]"), [vec![0, 1, 2]]);
    assert_eq!(with("together = [1, 2]").len(), 3 + 3);
}

#[test]
fn mistakes_are_shown_where_they_are() {
    for (from, to, parts) in [
        ("policies =", "polices =", &["unknown key `polices`; did you mean `policies`?"][..]),
        ("[\"mias-ipc\", \"mias-factor\", \"left-over\", \"spatial\", \"null\"]", "[]", &["policies: the list is empty"]),
        ("\"mias-ipc\"", "\"mias-ipx\"", &["unknown policy `mias-ipx`; did you mean `mias-ipc`?"]),
        ("\"fwt:4096\"", "\"ftw:4096\"", &["unknown kernel `ftw`; did you mean `fwt`?"]),
        ("\"fwt:4096\"", "\"mm:64\"", &["`mm:64` is listed twice"]),
        ("\"rtx2060\"", "\"rtx2600\"", &["unknown GPU `rtx2600`; did you mean `rtx2060`?"]),
        ("cycles = 20_000", "cycles = 0", &["cycles: must be at least 1"]),
        ("cycles = 20_000", "cycles = \"long\"", &["cycles: expected a whole number, found string"]),
        ("cycles = 20_000", "cycels = 1", &["unknown key `cycels`; did you mean `cycles`?"]),
        ("cycles = 20_000", "cycles = []", &["the list is empty"]),
        ("cycles = 20_000", "cycles = { from = 9, to = 1, step = 1 }", &["the range from 9 to 1 is empty"]),
        ("cycles = 20_000", "cycles = { from = 1, to = 9_000_000_000, step = 1 }", &["more than 1000 values"]),
        ("cycles = 20_000", "cycles = { from = 1, to = 2 }", &["a range has no `step`"]),
        ("cycles = 20_000", "profile-cycles = 200_000", &["200000 must be 1 to 131071"]),
        ("cycles = 20_000", "transition = \"drained\"", &["unknown value `drained`; did you mean `drain`?"]),
        ("cycles = 20_000", "until = \"end\"", &["unknown value `end`; known: done"]),
        ("cycles = 20_000", "cycles = 1_000_000_000_001", &["1000000000001 must be 1 to 1000000000000"]),
        ("cycles = 20_000", "until = \"done\"\ncycles = 20_000", &["cycles: give `cycles` or `until`, not both"]),
        ("cycles = 20_000", "until = \"done\"\nrelaunch = true", &["relaunch: with `until` no kernel starts again"]),
        (
            "cycles = 20_000",
            "cycles = [20_000, 40_000]\narrive = [0, 20_000]",
            &["arrive: 20000: the window ends at cycle 20000; use an earlier arrival or larger `cycles`"],
        ),
        ("cycles = 20_000", "arrive = 5_000_000", &["arrive: 5000000: the window ends at cycle 5000000"]),
        ("cycles = 20_000", "until = \"done\"\narrive = 1_000_000_001", &["arrive: 1000000001 must be 0 to 1000000000"]),
        ("cycles = 20_000", "cycles = 20_000\narrive = -1", &["arrive: -1 must be at least 0"]),
        ("policies", "together = [2, 2]\npolicies", &["together: `2` is listed twice"]),
        (
            "policies",
            "groups = [[\"mm:64\", \"bopt:8\"], [\"bopt:8\", \"mm:64\"], [\"mm:64\", \"bopt:8\"]]\npolicies",
            &["groups: the group of mm:64 and bopt:8 is listed twice"],
        ),
        ("name = \"pairs\"", "name = \"Pa irs\"", &["lowercase letters, digits and hyphens"]),
        ("name = \"small\"", "name = \"a/b\"", &["name: lowercase letters, digits and hyphens only"]),
        ("title = \"Pairs\"", "", &["[[experiment]] has no `title`"]),
        ("name = \"small\"", "", &["a plan has no `name`"]),
        ("cycles = 20_000", "cycles = 20_000\n[experiment.gpu-settings]\nsm.cuont = 3", &["unknown field `cuont`; did you mean `count`?"]),
        ("cycles = 20_000", "cycles = 20_000\n[experiment.gpu-settings]\nsm.count = \"three\"", &["GPU `rtx2060`"]),
        ("cycles = 20_000", "cycles = 20_000\n[experiment.gpu-settings]\nsm.count = 0", &["sm.count = 0: must be at least 1"]),
        ("name = \"small\"", "include = [\"thesiz\"]\nname = \"small\"", &["unknown plan `thesiz`; did you mean `thesis`?"]),
    ] {
        let message = if to.is_empty() { refused(&SOUND.replacen(from, to, 1)) } else { refused_with(from, to) };
        for part in parts {
            assert!(message.contains(part), "{to}: {message}");
        }
    }
}

#[test]
fn a_policy_that_needs_more_sms_than_there_are_is_refused() {
    let text = SOUND.replace("cycles = 20_000", "cycles = 20_000\n[experiment.gpu-settings]\nsm.count = 1");
    assert!(refused(&text).contains("spatial needs 2 SMs for 2 kernels, `rtx2060` has 1"), "{}", refused(&text));
}

#[test]
fn more_sms_than_there_are_cannot_be_open() {
    let with = |sms: &str| SOUND.replace("cycles = 20_000", &format!("cycles = 20_000\nsms = {sms}"));
    assert!(refused(&with("31")).contains("31 exceeds the 30 SMs of `rtx2060`; use 30 or fewer"), "{}", refused(&with("31")));
    assert!(refused(&with("0")).contains("must be at least 1"));
    let plan = parse("my.toml", &with("[30, 7]")).unwrap();
    let open: Vec<Option<u32>> = plan.experiments[0].settings.iter().map(|setting| setting.options.open_sms).collect();
    assert_eq!(open, [Some(30), Some(7)]);
}

/// The error about too many combinations points to the table that most of them come from.
#[test]
fn too_many_combinations_are_shown_where_they_are() {
    let many = "{ from = 1, to = 40, step = 1 }";
    let with = |parameters: &str, gpu: &str| {
        refused(&SOUND.replace("cycles = 20_000", &format!("{parameters}\n\n[experiment.gpu-settings]\n{gpu}")))
    };
    let header = SOUND[..SOUND.find("[experiment.parameters]").unwrap()].matches('\n').count() + 1;
    let message = with(&format!("cycles = {many}\nprofile-cycles = {many}"), "sm.count = [2, 3]");
    assert!(message.contains("3200 combinations of parameters; the limit is 1000"), "{message}");
    assert!(message.starts_with(&format!("my.toml:{header}:")) && message.contains("parameters: "), "{message}");
    let message = with("cycles = 20_000", &format!("sm.count = {many}\ndram.channels = {many}"));
    assert!(message.starts_with(&format!("my.toml:{}:", header + 3)) && message.contains("gpu-settings: 1600 combinations"), "{message}");
}

#[test]
fn two_experiments_of_one_name_are_refused() {
    let twice = SOUND.to_owned() + &SOUND[SOUND.find("[[experiment]]").unwrap()..];
    assert!(refused(&twice).contains("duplicate experiment `pairs`"));
    assert!(refused("name = \"n\"\ndescription = \"d\"\n").contains("no [[experiment]]"));
    assert!(load("thesiss").unwrap_err().to_string().starts_with("unknown plan `thesiss`; did you mean `thesis`?"));
    assert!(load("no/such.toml").unwrap_err().to_string().starts_with("cannot read the plan no/such.toml: "));
}

/// Writes the valid plan into a folder with the files that `lines` name, and returns the plan's
/// path.
fn plan_in(folder: &std::path::Path, change: &dyn Fn(String) -> String) -> String {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join("my.toml");
    std::fs::write(&path, change(SOUND.to_owned())).unwrap();
    path.display().to_string()
}

/// Paths do not depend on the working directory: tests run in the folder of the crate.
#[test]
fn paths_are_relative_to_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let (gpu, graph) = (folder.path().join("half.toml"), folder.path().join("small.gr"));
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::write(&gpu, mias_gpus::text("dai18").unwrap()).unwrap();
    std::fs::copy(root.join("examples/saxpy/saxpy.toml"), folder.path().join("saxpy.toml")).unwrap();
    std::fs::write(&graph, "").unwrap();
    let beside = plan_in(folder.path(), &|text| {
        let text = text.replace("\"rtx2060\"", "[\"rtx2060\", \"half.toml\"]");
        let text = text.replace("\"bopt:8\"]", "\"saxpy.toml\", \"bfs:graph=small.gr\"]\ngroups = [[\"saxpy.toml\", \"mm:64\"]]");
        text.replacen("name = \"pairs\"", "name = \"own\"", 1)
    });
    let including = plan_in(&folder.path().join("below"), &|text| "include = [\"../my.toml\", \"sensitivity\"]\n".to_owned() + &text);
    let plan = load(&including).unwrap();
    let own = &plan.experiments[0];
    assert_eq!((own.name.as_str(), plan.experiments.len()), ("own", 2 + load("sensitivity").unwrap().experiments.len()));
    let gpus: Vec<&str> = own.settings.iter().map(|setting| setting.gpu.name.as_str()).collect();
    assert_eq!(gpus, ["rtx2060", "dai18"]);
    let (word, saxpy) = &own.kernels[2];
    assert_eq!((saxpy.name(word).as_str(), own.groups.as_slice()), ("saxpy", &[vec![2, 1]][..]));
    let read = own.kernels[3].1.spec().unwrap().input.get("graph").unwrap();
    assert_eq!((own.kernels[3].0.as_str(), std::fs::canonicalize(read).unwrap()), ("bfs:graph=small.gr", graph.canonicalize().unwrap()));

    // The same word for another file.
    let twice = plan_in(&folder.path().join("below"), &|text| {
        "include = [\"../my.toml\"]\n".to_owned() + &text.replace("\"bopt:8\"", "\"bfs:graph=small.gr\"")
    });
    let message = load(&twice).unwrap_err().to_string();
    assert!(message.contains("`bfs:graph=small.gr` is another file in a plan that this one includes"), "{message}");
    // A misspelled name is no path.
    let slip = plan_in(folder.path(), &|text| text.replace("\"rtx2060\"", "\"rtx2600\""));
    assert!(load(&slip).unwrap_err().to_string().contains("did you mean `rtx2060`?"));
    assert_eq!(beside, slip);
}

#[test]
fn a_plan_that_includes_itself_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = plan_in(folder.path(), &|text| "include = [\"my.toml\"]\n".to_owned() + &text);
    assert!(load(&path).unwrap_err().to_string().contains("remove circular includes"));
}

/// Everything except sizes is as in the plan itself, and nothing is longer.
#[test]
fn a_quick_form_asks_the_same_of_less() {
    for name in names() {
        let (full, quick) = (load(name).unwrap(), load_quick(name, &Policies::default()).unwrap());
        assert_eq!(quick.name, format!("{name}-quick"));
        assert_ne!(quick.text, full.text);
        let left_out = full.text.lines().filter(|line| *line == "quick = false").count();
        assert_eq!(quick.experiments.len() + left_out, full.experiments.len());
        // The plan defines its own quick form.
        let own = full.text.contains("[experiment.quick]");
        for small in &quick.experiments {
            let large = full.experiments.iter().find(|large| large.name == small.name).unwrap();
            assert!(own || (&small.groups, &small.policies) == (&large.groups, &large.policies));
            assert!(small.groups.len() <= large.groups.len() && small.policies.iter().all(|policy| large.policies.contains(policy)));
            assert!(own || small.settings.len() == large.settings.len(), "{name}: no setting is lost");
            for (small, large) in small.settings.iter().zip(&large.settings) {
                let cycles = |setting: &Setting| if let End::Cycles(cycles) = setting.options.end { Some(cycles) } else { None };
                assert_eq!(cycles(small).is_some(), cycles(large).is_some());
                assert!(cycles(small) <= cycles(large) && cycles(small).is_none_or(|cycles| cycles <= 600_000));
                assert!(small.options.profile_cycles <= large.options.profile_cycles);
                assert!(small.gpu.sm.count <= large.gpu.sm.count);
                assert!(own || small.options.transition == large.options.transition);
                assert!(own || small.labels.len() == large.labels.len());
            }
        }
    }
}

/// The plan `quick` has the thesis' pairs in quick form, except for ideal transitions and decision
/// time.
#[test]
fn the_thesis_quick_form_has_the_sizes_of_quick() {
    let (form, quick) = (load_quick("thesis", &Policies::default()).unwrap(), load("quick").unwrap());
    let (form, quick) = (&form.experiments[0], &quick.experiments[0]);
    let words = |experiment: &Experiment| experiment.kernels.iter().map(|(word, _)| word.clone()).collect::<Vec<_>>();
    assert_eq!(words(form), words(quick));
    assert_eq!(form.settings[0].gpu, quick.settings[0].gpu);
    assert_eq!(form.settings[0].options.end, quick.settings[0].options.end);
    assert_eq!(form.settings[0].options.profile_cycles, quick.settings[0].options.profile_cycles);
}

/// Inputs and GPU settings of the plan stay.
#[test]
fn a_quick_form_leaves_what_is_given() {
    let text = include_str!("../../../../tests/data/pairs.toml").to_owned() + "\n[experiment.gpu-settings]\nsm.count = 2\n";
    let (full, quick) = (parse("a.toml", &text).unwrap(), parse_as("a.toml", &text, &Policies::default(), true).unwrap());
    let (full, quick) = (&full.experiments[0], &quick.experiments[0]);
    assert_eq!(format!("{:?}", full.kernels), format!("{:?}", quick.kernels));
    assert_eq!(full.settings[0].gpu, quick.settings[0].gpu);
    assert_eq!(full.settings[0].gpu_name, quick.settings[0].gpu_name);
}

#[test]
fn what_is_for_traces_needs_one() {
    for key in ["share-memory", "warm-l2"] {
        let parameter = format!("{key} = [false, true]");
        let message = refused_with("cycles = 20_000", &format!("cycles = 20_000\n{parameter}"));
        assert!(message.contains(key) && message.contains("none of `kernels` is a trace; leave it out"), "{message}");
        let off = SOUND.replacen("cycles = 20_000", &format!("cycles = 20_000\n{key} = false"), 1);
        parse("my.toml", &off).unwrap();
    }
}
