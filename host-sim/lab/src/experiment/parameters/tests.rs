//! Tests of the table shared by plans and the command line, and of words after `--set`.

use super::*;
use mias_hw_model::config::{StaticLimit, Unlimited};
use std::collections::BTreeSet;

fn all() -> Vec<&'static Parameter> {
    PARAMETERS.iter().chain(&OF_RUN).collect()
}

fn assigned(words: &[&str]) -> Result<Assignments, String> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    Assignments::parse(&words, &all())
}

fn gpu(words: &[&str]) -> Result<mias_hw_model::config::GpuConfig, String> {
    assigned(words)?.gpu(&crate::gpus::load("rtx2060").unwrap())
}

fn parameters(words: &[&str]) -> Result<Parameters, String> {
    let mut parameters = Parameters::new(End::Cycles(300_000));
    assigned(words)?.apply(&mut parameters, &[]).map(|()| parameters)
}

/// No parameter hides a key of a GPU's file.
#[test]
fn names_are_different() {
    let keys: BTreeSet<String> = keys_of_gpu().into_iter().map(|key| key.name).collect();
    let names: BTreeSet<&str> = all().iter().map(|parameter| parameter.name).collect();
    assert_eq!(names.len(), all().len());
    assert!(names.iter().all(|&name| !keys.contains(name) && known::find(&keys_of_gpu(), name).is_none()));
}

#[test]
fn examples_can_be_set() {
    for parameter in all() {
        let mut parameters = Parameters::new(End::Done);
        match parameter.kind {
            Kind::Text { examples, .. } => {
                for example in examples {
                    assert!(parameter.set(&mut parameters, &example.into()).is_ok(), "{} {example}", parameter.name);
                }
            }
            Kind::Named { choices, aliases, .. } => {
                for name in choices().into_iter().map(|(name, _)| name).chain(aliases()) {
                    assert!(parameter.set(&mut parameters, &name.into()).is_ok(), "{} {name}", parameter.name);
                }
            }
            Kind::Whole { least, .. } => assert!(parameter.set(&mut parameters, &(least as i64).into()).is_ok(), "{}", parameter.name),
            Kind::Flag { .. } => assert!(parameter.set(&mut parameters, &true.into()).is_ok(), "{}", parameter.name),
        }
    }
}

#[test]
fn keys_of_the_gpu_are_those_of_its_file() {
    let set = gpu(&["l1.mshrs=128", "sm.memory_issue.in_flight=static", "sm.memory_issue.limits=[3, inf]"]).unwrap();
    let issue = set.sm.memory_issue.unwrap();
    assert_eq!((set.l1.mshrs, issue.limits), (128, vec![StaticLimit::Most(3), StaticLimit::Any(Unlimited::Inf)]));
    let one = gpu(&["sm.memory_issue.in_flight='static'", "sm.memory_issue.limits.0=3"]).unwrap();
    assert_eq!(one.sm.memory_issue.unwrap().limits, [StaticLimit::Most(3)]);
    assert!(gpu(&["sm.preemption.selector={}"]).unwrap().sm.preemption.unwrap().selector.is_some());
    let message = gpu(&["l1.mshrs=0"]).unwrap_err();
    assert!(message.contains("l1.mshrs = 0: must be"), "{message}");
    let message = gpu(&["l1.mshrs=many"]).unwrap_err();
    assert!(message.contains("invalid type: string \"many\""), "{message}");
}

/// Optional tables of a GPU are removed by `off`.
#[test]
fn optional_tables_can_be_taken_away() {
    let with = gpu(&["sm.oversubscription.mechanism=duet", "sm.preemption={}"]);
    let with = with.or_else(|_| gpu(&["sm.oversubscription.mechanism=duet", "sm.preemption={}"])).unwrap();
    let off = assigned(&["sm.preemption=off"]).unwrap().gpu(&with).unwrap();
    assert!(with.sm.preemption.is_some() && off.sm.preemption.is_none());
    let message = assigned(&["l1=off"]).unwrap().gpu(&with).unwrap_err();
    assert!(message.starts_with("--set l1=off: ") && message.contains("missing field"), "{message}");
}

#[test]
fn parameters_are_those_of_plans() {
    let set = parameters(&["profile-cycles=20_000", "shares=6-18", "precision=1.5", "ipc=warp", "warm-l2=true", "limit=5us"]).unwrap();
    let options = set.options;
    assert_eq!((options.profile_cycles, options.ipc, options.warm_l2), (20_000, super::super::policy::IpcUnit::Warp, true));
    assert_eq!(options.shares.unwrap().sms(), [6, 18]);
    assert_eq!((options.precision.unwrap().share(), set.limit.unwrap().to_string()), (0.015, "5us".to_owned()));
}

#[test]
fn what_cannot_be_set_says_why() {
    for (words, part) in [
        (&["l1.mshr=1"][..], "--set `l1.mshr=1`: unknown key `l1.mshr`; did you mean `l1.mshrs`? `mias options` lists all"),
        (&["profile_cycles=1"], "did you mean `profile-cycles`?"),
        (&["profile-cycles"], "expected KEY=VALUE"),
        (&["profile-cycles=0"], "profile-cycles: must be at least 1"),
        (&["profile-cycles=200000"], "profile-cycles: 200000 must be 1 to 131071"),
        (&["profile-cycles=long"], "profile-cycles: expected a whole number, found string"),
        (&["transition=drained"], "unknown value `drained`; did you mean `drain`?"),
        (&["ipc=warp", "ipc=thread"], "`ipc` is set twice"),
        (&["limit=5s"], "limit: `5s` is not a time"),
        (&["until=done", "cycles=5"], "cycles: give `cycles` or `until`, not both"),
        (&["queue.seed=4"], "queue.seed: it is what a queue is drawn by: give `queue.launches`"),
        (&["queue.launches=4", "cycles=1000"], "cycles: a queue runs to its end"),
    ] {
        let message = parameters(words).unwrap_err();
        assert!(message.contains(part), "{words:?}: {message}");
    }
}
