//! Sides against arithmetic: groups whose better side follows from a counter, and groups where nothing does.

use super::*;
use proptest::prelude::*;

/// A group of one kernel, with one number for every counter, and a value for either side.
fn group(name: &str, number: f64, inside: f64, beside: f64) -> Group {
    Group {
        experiment: "e".into(),
        kernels: vec![name.into()],
        best: [Some(("smk", inside)), Some(("spatial", beside)), None],
        counters: vec![[Some(number); COUNTERS.len()]],
    }
}

#[test]
fn every_policy_is_of_one_side_or_of_none() {
    let of = ["smk", "mias-ipm-ipc", "warped-slicer", "spatial", "cd-search+power", "maestro+search", "cd-search+maestro", "left-over"]
        .map(Side::of);
    let (inside, beside, both) = (Some(Side::Inside), Some(Side::Beside), Some(Side::Both));
    assert_eq!(of, [inside, inside, inside, beside, beside, both, both, None]);
}

/// Above 0.5 beside is worth twice as much, below it half: one threshold is right everywhere, and each side alone loses a quarter in the mean.
#[test]
fn a_threshold_that_is_there_is_found() {
    let groups: Vec<Group> = [("a", 0.1), ("b", 0.3), ("c", 0.7), ("d", 0.9)]
        .map(|(name, number)| if number > 0.5 { group(name, number, 1.0, 2.0) } else { group(name, number, 2.0, 1.0) })
        .to_vec();
    let all: Vec<&Group> = groups.iter().collect();
    let rule = learn(&all).expect("there are groups");
    assert!((rule.threshold - 0.5).abs() < 1e-9 && rule.of == Some((0, 0)), "{rule:?}");
    assert!(
        rule.say().starts_with("beside if the largest of L1 misses over accesses is above 0.500") || rule.above == Side::Inside,
        "{}",
        rule.say()
    );
    let chosen: Vec<(&Group, Side)> = all.iter().map(|group| (*group, rule.side(group))).collect();
    assert_eq!(Attained::of(&chosen), Attained { right: 4, groups: 4, share: 1.0 });
    let inside: Vec<(&Group, Side)> = all.iter().map(|group| (*group, Side::Inside)).collect();
    assert_eq!(Attained::of(&inside), Attained { right: 2, groups: 4, share: 0.75 });
}

/// Where one side is always better no counter is asked.
#[test]
fn what_is_always_so_needs_no_counter() {
    let groups = [group("a", 0.1, 1.0, 3.0), group("b", 0.9, 1.0, 2.0)];
    let rule = learn(&groups.iter().collect::<Vec<_>>()).expect("there are groups");
    assert_eq!((rule.of, rule.above, rule.say().as_str()), (None, Side::Beside, "always beside"));
    assert_eq!(learn(&[]), None);
}

#[test]
fn names_of_one_kernel_are_one_family() {
    let of = |names: [&str; 2]| Group { kernels: names.map(str::to_owned).to_vec(), ..group("x", 0.0, 1.0, 1.0) };
    assert_eq!(of(["bino:512", "dxtc:64"]).families(), BTreeSet::from(["bopt", "dxtc"]));
    assert!(!of(["bopt", "mm"]).families().is_disjoint(&of(["bino:9", "fwt"]).families()));
}

proptest! {
    /// A rule attains no less than either side alone on what taught it, and never more than all.
    #[test]
    fn a_rule_is_no_worse_than_either_side_on_its_own_groups(
        groups in prop::collection::vec((0.0..1.0_f64, 0.1..3.0_f64, 0.1..3.0_f64), 1..12)
    ) {
        let groups: Vec<Group> = groups.into_iter().map(|(number, inside, beside)| group("a", number, inside, beside)).collect();
        let all: Vec<&Group> = groups.iter().collect();
        let attained = |side: &dyn Fn(&Group) -> Side| Attained::of(&all.iter().map(|group| (*group, side(group))).collect::<Vec<_>>());
        let rule = learn(&all).unwrap();
        let learned = attained(&|group| rule.side(group)).share;
        prop_assert!(learned <= 1.0 + 1e-12);
        for side in [Side::Inside, Side::Beside] {
            prop_assert!(learned >= attained(&|_| side).share - 1e-12);
        }
    }
}
