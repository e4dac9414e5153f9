//! Plans of the decision benchmark: families and mixes follow from the seed by the rule of
//! sources.md D192. No mix has kernels of both sets, splits are multiples of an eighth, and the
//! quick form is small.

use super::*;
use crate::choice::Choice;
use crate::evaluate::decisions::{Kernels, Set};
use mias_workloads::kernels::{self, KernelType};
use mias_workloads::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Families of the thesis' kernels and of our own, which belong to the making set for any seed.
const GIVEN: [&str; 8] = [
    "matrix-product",
    "walsh-transform",
    "n-body",
    "black-scholes",
    "binomial-tree",
    "breadth-first-search",
    "texture-compression",
    "urgent-task",
];

/// Number of other families that join them.
const JOINING: usize = 9;

/// Classes of mixes, with the number of each.
const CLASSES: [(&str, usize); 10] =
    [("CC", 4), ("MC", 4), ("MM", 4), ("CCC", 2), ("MCC", 2), ("MMC", 2), ("MMM", 2), ("MCCC", 1), ("MMCC", 2), ("MMMC", 1)];

/// Classes of mixes on the large GPU: the first of each.
const ON_THE_LARGE: [&str; 6] = ["CC", "MC", "MM", "MCC", "MMC", "MMCC"];

/// GPUs of both sets, with SMs of their quick forms.
const GPUS: [&str; 2] = ["rtx2060", "dai18-lines"];

fn below(random: &mut Random, end: usize) -> usize {
    ((u128::from(random.bits()) * end as u128) >> 64) as usize
}

/// Fisher and Yates' shuffle, from the end.
fn shuffle<T>(random: &mut Random, list: &mut [T]) {
    (1..list.len()).rev().for_each(|at| list.swap(at, below(random, at + 1)));
}

/// Mixes with their classes, in the order in which they are drawn.
type Drawn = Vec<(&'static str, Vec<String>)>;

/// Draws mixes from these families. Each letter of a class takes a kernel of that type, of a family
/// not yet in the mix, with the fewest mixes so far. Then the launch order is shuffled. A duplicate
/// mix is drawn again.
fn draw(random: &mut Random, families: &BTreeMap<String, Vec<String>>) -> Drawn {
    let family = |kernel: &str| families.iter().find(|(_, kernels)| kernels.iter().any(|name| name == kernel)).map(|(family, _)| family);
    let pool: Vec<&str> = kernels::names().filter(|name| family(name).is_some()).collect();
    let letter = |kernel: &str| if kernels::find(kernel).unwrap().kernel_type() == Some(KernelType::Memory) { 'M' } else { 'C' };
    let letters: Vec<char> = pool.iter().map(|kernel| letter(kernel)).collect();
    let mut uses = vec![0; pool.len()];
    let mut drawn: Drawn = Vec::new();
    let mut seen: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
    for (class, count) in CLASSES {
        let until = drawn.len() + count;
        while drawn.len() < until {
            let mut mix: Vec<usize> = Vec::new();
            for wanted in class.chars() {
                let other_family = |at: usize| mix.iter().all(|&before| family(pool[before]) != family(pool[at]));
                let can: Vec<usize> = (0..pool.len()).filter(|&at| letters[at] == wanted && other_family(at)).collect();
                let least = can.iter().map(|&at| uses[at]).min().unwrap();
                let can: Vec<usize> = can.into_iter().filter(|&at| uses[at] == least).collect();
                mix.push(can[below(random, can.len())]);
            }
            shuffle(random, &mut mix);
            if seen.insert(mix.iter().copied().collect()) {
                mix.iter().for_each(|&at| uses[at] += 1);
                drawn.push((class, mix.iter().map(|&at| pool[at].to_owned()).collect()));
            }
        }
    }
    drawn
}

/// Returns both draws, from one stream, after that of the families.
fn drawn() -> [Drawn; 2] {
    let file = Kernels::built_in();
    let mut random = Random::new(file.seed);
    let every = file.making.keys().chain(file.judged.keys());
    let mut others: Vec<&str> = every.map(String::as_str).filter(|family| !GIVEN.contains(family)).collect();
    others.sort_unstable();
    shuffle(&mut random, &mut others);
    let joining: BTreeSet<&str> = others[..JOINING].iter().copied().chain(GIVEN).collect();
    assert_eq!(file.making.keys().map(String::as_str).collect::<BTreeSet<_>>(), joining, "plans/decisions/kernels.toml");
    [Set::Making, Set::Judged].map(|set| draw(&mut random, file.families(set)))
}

fn words(experiment: &Experiment) -> Vec<Vec<String>> {
    let word = |kernel: &usize| experiment.kernels[*kernel].0.clone();
    experiment.groups.iter().map(|group| group.iter().map(word).collect()).collect()
}

fn first(drawn: &Drawn, classes: &[&str]) -> Vec<Vec<String>> {
    classes.iter().map(|class| drawn.iter().find(|(of, _)| of == class).unwrap().1.clone()).collect()
}

fn of_size(mixes: &[Vec<String>], size: usize) -> Vec<Vec<String>> {
    mixes.iter().filter(|mix| mix.len() == size).cloned().collect()
}

/// Returns the experiments of a GPU and a set: all policies, draining transitions, and the
/// splits by size.
fn expected(gpu: &str, set: &str, mixes: &[Vec<String>]) -> Vec<(String, Vec<Vec<String>>)> {
    let mut experiments = vec![(format!("{gpu}-{set}"), mixes.to_vec()), (format!("{gpu}-{set}-drain"), mixes.to_vec())];
    experiments.extend((2..=4).map(|size| (format!("{gpu}-{set}-splits-{size}"), of_size(mixes, size))));
    experiments
}

#[test]
fn mixes_are_what_the_seed_gives() {
    let [making, judged] = drawn();
    let all = |drawn: &Drawn| drawn.iter().map(|(_, mix)| mix.clone()).collect::<Vec<_>>();
    let mut wanted: Vec<(String, Vec<Vec<String>>)> = GPUS.iter().flat_map(|gpu| expected(gpu, "making", &all(&making))).collect();
    let found = |name: &str| load(name).unwrap().experiments.iter().map(|one| (one.name.clone(), words(one))).collect::<Vec<_>>();
    assert_eq!(found("decisions-making"), wanted);
    wanted.extend(GPUS.iter().flat_map(|gpu| expected(gpu, "judged", &all(&judged))));
    wanted.extend(expected("a100", "judged", &first(&judged, &ON_THE_LARGE)));
    assert_eq!(found("decisions"), wanted);
    // Parts of GPUs: judged mixes of some sizes.
    let mut small = Vec::new();
    for (gpu, sizes) in [("rtx2060", &[2, 3][..]), ("dai18-lines", &[2])] {
        let mixes: Vec<Vec<String>> = all(&judged).into_iter().filter(|mix| sizes.contains(&mix.len())).collect();
        small.push((format!("{gpu}-small"), mixes.clone()));
        small.extend(sizes.iter().map(|&size| (format!("{gpu}-small-splits-{size}"), of_size(&mixes, size))));
    }
    assert_eq!(found("decisions-small"), small);
    // Twice as many as one set has.
    let count = |size: usize| [&making, &judged].map(|drawn| of_size(&all(drawn), size).len()).iter().sum::<usize>();
    assert_eq!([count(2), count(3), count(4)], [24, 16, 8]);
}

/// The making set contains no judged kernel, and no mix has kernels of both sets.
#[test]
fn no_mix_is_of_both_sets() {
    let file = Kernels::built_in();
    for (name, judged) in [("decisions-making", false), ("decisions", true), ("decisions-small", true)] {
        let plan = load(name).unwrap();
        let sets: Vec<Option<Set>> = plan.experiments.iter().flat_map(words).map(|mix| file.set_of(&mix)).collect();
        assert!(sets.iter().all(|set| *set == Some(Set::Making) || (judged && *set == Some(Set::Judged))), "{name}");
        assert_eq!(sets.contains(&Some(Set::Judged)), judged);
    }
}

fn only(name: &str) -> BTreeSet<String> {
    BTreeSet::from([name.to_owned()])
}

/// Three windows, with and without DMIL. The existing policies and MIAS-Duel preempt, with every
/// configuration, or drain. Splits have bounds of whole eighths, rounded down.
#[test]
fn every_experiment_asks_its_question() {
    let existing: BTreeSet<String> = Kernels::built_in().existing.into_iter().collect();
    for experiment in &load("decisions").unwrap().experiments {
        let (name, settings) = (&experiment.name, &experiment.settings);
        let of = |of: fn(&Setting) -> String| settings.iter().map(of).collect::<BTreeSet<_>>();
        let windows = of(|setting| format!("{:?}", setting.options.end));
        assert_eq!(windows.len(), 3, "{name}");
        assert_eq!(
            of(|setting| setting.sharing.gpu.sm.memory_issue.as_ref().map_or_else(String::new, |m| format!("{:?}", m.in_flight))).len(),
            2
        );
        let transition = if name.ends_with("drain") { "drain" } else { "preempt:switch" };
        assert_eq!(of(|setting| setting.options.transition.name().to_owned()), only(transition));
        assert_eq!(of(|setting| setting.options.latency.name().to_owned()), only("worst"));
        let policies: BTreeSet<String> = experiment.policies.iter().map(|policy| policy.name().into()).collect();
        let Some((_, size)) = name.split_once("-splits-") else {
            let drains = name.ends_with("drain");
            let mut wanted = existing.clone();
            wanted.extend(["mias-duel", "mias-trial"].map(str::to_owned));
            wanted.retain(|name| !drains || !["spatial", "smk"].contains(&name.as_str()));
            assert_eq!((policies, experiment.configurations, settings.len()), (wanted, !drains, 6), "{name}");
            continue;
        };
        let (size, sms): (usize, u32) = (size.parse().unwrap(), settings[0].gpu.sm.count);
        // Ways to write 8 as an ordered sum of 2, 3 or 4 positive parts: 7, 21, 35.
        let splits = [7, 21, 35][size - 2];
        assert_eq!((policies, experiment.configurations, settings.len()), (only("spatial"), false, 6 * splits), "{name}");
        let shares: BTreeSet<Vec<u16>> = settings.iter().map(|setting| setting.options.shares.unwrap().sms().to_vec()).collect();
        assert_eq!(shares.len(), splits);
        for share in shares {
            let mut sum = 0;
            let bounds = share.iter().map(|&part| {
                sum += u32::from(part);
                sum
            });
            assert!(bounds.into_iter().all(|bound| (0..=8).any(|eighths| eighths * sms / 8 == bound)), "{name}: {share:?}");
            assert_eq!(sum, sms);
        }
    }
}

/// On 8 SMs, one pair of each class, and on one GPU two triples. One window; splits without
/// DMIL; no draining, and no large GPU.
#[test]
fn the_quick_form_is_small() {
    let quick = load_quick("decisions", &Policies::default()).unwrap();
    let [making, judged] = drawn();
    let mut runs = 0;
    for experiment in &quick.experiments {
        let (name, groups) = (&experiment.name, words(experiment));
        let drawn = if name.contains("making") { &making } else { &judged };
        let classes: &[&str] = if name.starts_with("rtx2060") { &["CC", "MC", "MM", "MCC", "MMC"] } else { &["CC", "MC", "MM"] };
        let splits = name.split_once("-splits-").map(|(_, size)| size.parse::<usize>().unwrap());
        let wanted = first(drawn, classes);
        assert_eq!(groups, splits.map_or(wanted.clone(), |size| of_size(&wanted, size)), "{name}");
        assert!(!name.starts_with("a100") && !name.ends_with("drain"));
        for setting in &experiment.settings {
            assert_eq!((setting.gpu.sm.count, setting.options.end, setting.options.profile_cycles), (8, End::Cycles(300_000), 20_000));
        }
        assert_eq!(experiment.settings.len(), splits.map_or(2, |size| [7, 21][size - 2]), "{name}");
        runs += groups.len() * experiment.policies.len() * experiment.settings.len();
    }
    assert_eq!(quick.experiments.len(), 10);
    // Without configurations: (5 + 3) mixes of 26 runs, 6 of 7 and 2 of 21, of both sets.
    assert_eq!(runs, 2 * (8 * 26 + 6 * 7 + 2 * 21));
}
