//! Tests of resumed and refused folders.

use super::super::plan;
use super::*;
use crate::experiment::policies::Policies;
use std::sync::Mutex;

fn note(name: &str) -> Note {
    Note { format: FORMAT, model: MODEL.into(), plan: name.into(), plan_hash: "0123456789abcdef".into() }
}

fn identity(control: &str) -> Identity {
    Identity {
        gpu: "g".into(),
        gpu_hash: "h".into(),
        kernels: vec!["a".into(), "b".into()],
        kernel_hashes: vec!["1".into(), "2".into()],
        arrivals: Vec::new(),
        priorities: Vec::new(),
        latency_limits: Vec::new(),
        control: control.into(),
        cycles: Some(1_000),
        profile_cycles: 100,
        search_cycles: None,
        shares: None,
        transition: "drain".into(),
        latency: "worst".into(),
        ipc: "thread".into(),
        relaunch: true,
        share_memory: false,
        warm_l2: Vec::new(),
        precision: None,
        sample_cycles: None,
        open_sms: None,
        counted: None,
        requests: None,
        levels: None,
        queue: None,
        model: MODEL.into(),
        program: String::new(),
    }
}

fn kept(cycles: u64) -> Kept {
    Kept { cycles, ..Kept::of(&crate::experiment::gpu_runner::Outcome::default()) }
}

fn refused(folder: &Path, note: &Note) -> String {
    Store::open(folder, note).unwrap_err().to_string()
}

#[test]
fn a_run_kept_is_there_in_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/out");
    Store::open(&out, &note("mine")).unwrap().save(&identity("1-3"), &kept(1_000)).unwrap();
    let again = Store::open(&out, &note("mine")).unwrap();
    assert_eq!(again.load(&identity("1-3")), Some(kept(1_000)));
    assert_eq!(again.load(&identity("2-2")), None);
    let whole = vec![Record { run: identity("1-3"), outcome: kept(1_000) }];
    assert_eq!(again.records().unwrap(), Records { whole, unreadable: Vec::new() });
    assert_eq!(Store::existing(&out).unwrap().1, note("mine"));
}

/// Each serialized part, changed alone, changes the key; this includes parts added later.
#[test]
fn every_part_of_an_identity_is_in_the_key() {
    use serde_json::Value;
    let some = || Some("some".to_owned());
    let whole = Identity {
        arrivals: vec![0, 5],
        priorities: vec![0, 1],
        latency_limits: vec![7, 0],
        search_cycles: Some(50),
        shares: some(),
        share_memory: true,
        warm_l2: vec!["3".into()],
        precision: some(),
        sample_cycles: Some(10),
        open_sms: Some(4),
        counted: some(),
        requests: some(),
        levels: some(),
        queue: some(),
        program: "p".into(),
        ..identity("1-3")
    };
    let Value::Object(parts) = serde_json::to_value(&whole).unwrap() else { panic!("an identity is an object") };
    let other = |value: &Value| match value {
        Value::String(text) => Value::from(format!("{text}x")),
        Value::Number(number) => Value::from(number.as_u64().unwrap() + 1),
        Value::Bool(flag) => Value::from(!flag),
        Value::Array(values) => Value::from([&values[..], &values[..1]].concat()),
        value => panic!("no part is {value}: give it a value above"),
    };
    for (name, value) in &parts {
        let mut changed = parts.clone();
        changed[name] = other(value);
        let changed: Identity = serde_json::from_value(changed.into()).unwrap();
        assert_ne!(changed.key(), whole.key(), "{name}");
    }
    assert_eq!(whole.clone().key(), whole.key());
}

#[test]
fn folders_of_something_else_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(folder.path(), &note("mine")).unwrap().save(&identity("1-3"), &kept(1_000)).unwrap();
    let other = refused(folder.path(), &note("yours"));
    assert!(other.contains("holds results of plan `mine`, not of `yours`; set another folder with --out"), "{other}");
    // A forgotten or superfluous --quick requires no removal of files.
    let forms = [
        ("mine", "mine-quick", "leave --quick out"),
        ("mine-quick", "mine", "pass --quick"),
        ("mine", "mine-quick-quick", "`; set another"),
    ];
    for (theirs, ours, remedy) in forms {
        let said = of_another_plan(folder.path(), theirs, ours).to_string();
        assert!(said.contains(remedy) && said.contains("or remove this one"), "{said}");
    }
    let later = Note { model: "9.9.9+0".into(), ..note("mine") };
    assert!(refused(folder.path(), &later).contains(&format!("holds results of version {MODEL}, this is 9.9.9+0")));
    std::fs::write(folder.path().join(NOTE), "{").unwrap();
    let message = refused(folder.path(), &note("mine"));
    assert!(message.contains("is damaged") && message.ends_with("; set another folder with --out"), "{message}");
    let message = Store::existing(folder.path()).unwrap_err().to_string();
    assert!(message.contains("is damaged") && !message.contains("--out"), "who compares has no such option: {message}");

    let later = serde_json::to_string(&Note { format: FORMAT + 1, ..note("mine") }).unwrap();
    std::fs::write(folder.path().join(NOTE), later).unwrap();
    assert!(Store::existing(folder.path()).unwrap_err().to_string().contains(&format!("has files of format {}", FORMAT + 1)));

    let stranger = tempfile::tempdir().unwrap();
    std::fs::write(stranger.path().join("thesis.docx"), "").unwrap();
    assert!(refused(stranger.path(), &note("mine")).contains("is not empty and holds no evaluation"));
    assert!(Store::existing(stranger.path()).unwrap_err().to_string().contains("holds no evaluation"));
    let file = stranger.path().join("thesis.docx");
    assert!(!refused(&file, &note("mine")).is_empty());
}

#[test]
fn a_damaged_run_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &note("mine")).unwrap();
    store.save(&identity("1-3"), &kept(1_000)).unwrap();
    let path = store.path(&identity("1-3").key());
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(store.load(&identity("1-3")), None);
    let records = store.records().unwrap();
    assert!(records.whole.is_empty() && records.unreadable.len() == 1, "{records:?}");
    assert!(records.unreadable[0].starts_with(&format!("cannot read {}: EOF", path.display())), "{records:?}");
    // A file under another run's name is not that run.
    store.save(&identity("1-3"), &kept(1_000)).unwrap();
    std::fs::copy(&path, store.path(&identity("2-2").key())).unwrap();
    assert_eq!(store.load(&identity("2-2")), None);
}

/// Creates a disk with capacity for this number of files.
fn with_room(files: usize) -> Write {
    let room = Mutex::new(files);
    Arc::new(move |path: &Path, bytes: &[u8]| {
        let mut room = room.lock().unwrap();
        if *room == 0 {
            return Err(io::Error::from(ErrorKind::StorageFull));
        }
        *room -= 1;
        replace(path, bytes)
    })
}

/// A start interrupted before the note, or between note and folder of runs, can be repeated.
#[test]
fn a_start_that_was_stopped_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let error = Store::with(&out, &note("mine"), with_room(0)).unwrap_err().to_string();
    assert!(error.starts_with("cannot write ") && error.contains(NOTE), "{error}");
    Store::open(&out, &note("mine")).unwrap();

    std::fs::remove_file(out.join(NOTE)).unwrap();
    std::fs::write(out.join(format!(".{NOTE}.77.part")), "{").unwrap();
    std::fs::write(out.join(RUNS).join(".0123.json.77.part"), "{").unwrap();
    Store::open(&out, &note("mine")).unwrap();

    std::fs::remove_dir_all(out.join(RUNS)).unwrap();
    Store::open(&out, &note("mine")).unwrap().save(&identity("1-3"), &kept(1_000)).unwrap();
}

/// A mistake found during execution of kernels leaves a note and no run: the corrected plan takes
/// the folder over.
#[test]
fn a_folder_without_a_run_is_of_no_plan() {
    let folder = tempfile::tempdir().unwrap();
    let right = Note { plan_hash: "0".into(), ..note("mine") };
    Store::open(folder.path(), &note("mine")).unwrap();
    let store = Store::open(folder.path(), &right).unwrap();
    assert_eq!(Store::existing(folder.path()).unwrap().1, right);
    store.save(&identity("1-3"), &kept(1_000)).unwrap();
    assert!(refused(folder.path(), &note("yours")).contains("holds results of plan `mine`"));
    // Documents without their runs are still results.
    std::fs::remove_dir_all(folder.path().join(RUNS)).unwrap();
    std::fs::write(folder.path().join("results.csv"), "").unwrap();
    assert!(refused(folder.path(), &note("yours")).contains("holds results of plan `mine`"));
}

/// Nothing changes before the new text is checked; then runs stay, and documents of the old text
/// are removed.
#[test]
fn a_changed_plan_keeps_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (earlier, changed) = (note("mine"), Note { plan_hash: "0".into(), ..note("mine") });
    let store = Store::open(folder.path(), &earlier).unwrap();
    assert!(!store.is_of_earlier_text());
    store.save(&identity("1-3"), &kept(1_000)).unwrap();
    store.put("results.csv", "of the earlier text").unwrap();

    let store = Store::open(folder.path(), &changed).unwrap();
    assert!(store.is_of_earlier_text());
    assert_eq!(Store::existing(folder.path()).unwrap().1, earlier);
    assert!(folder.path().join("results.csv").exists());

    store.renew(&changed, &["results.csv", "report.html"]).unwrap();
    assert_eq!(Store::existing(folder.path()).unwrap().1, changed);
    assert!(!folder.path().join("results.csv").exists());
    assert_eq!(store.load(&identity("1-3")), Some(kept(1_000)));
    assert!(!Store::open(folder.path(), &changed).unwrap().is_of_earlier_text());
    assert!(Store::open(folder.path(), &earlier).unwrap().is_of_earlier_text(), "and back");
}

/// On a full disk, complete files stay complete, and no partial file is left.
#[test]
fn a_full_disk_leaves_finished_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::with(folder.path(), &note("mine"), with_room(2)).unwrap();
    store.save(&identity("1-3"), &kept(1_000)).unwrap();
    let error = store.save(&identity("2-2"), &kept(1_000)).unwrap_err().to_string();
    assert!(error.starts_with("cannot write ") && error.contains(&identity("2-2").key()), "{error}");
    assert_eq!(store.records().unwrap().whole.len(), 1);
    let again = Store::open(folder.path(), &note("mine")).unwrap();
    assert_eq!((again.load(&identity("1-3")), again.load(&identity("2-2"))), (Some(kept(1_000)), None));
}

#[test]
fn the_note_knows_the_text_of_the_plan() {
    let plan = plan::load("quick", &Policies::default()).unwrap();
    let other = plan::Plan { text: plan.text.clone() + "\n", ..plan.clone() };
    assert_ne!(Note::of(&plan).plan_hash, Note::of(&other).plan_hash);
    assert_eq!(Note::of(&plan).plan, "quick");
}

#[test]
fn runs_under_own_policies_are_those_of_one_build() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("out"), &note("mine")).unwrap();
    let of_build = |program: u64| Identity { program: format!("{program:016x}"), ..identity("my-policy") };
    let built_in = identity("spatial");
    for run in [&built_in, &of_build(1), &of_build(2)] {
        store.save(run, &kept(1_000)).unwrap();
    }
    assert_eq!(store.drop_other_builds(2), Ok(1));
    assert_eq!([&built_in, &of_build(1), &of_build(2)].map(|run| store.load(run).is_some()), [true, false, true]);
    // Built-in policies do not serialize the program, so keys stay as before custom policies
    // existed.
    assert!(!serde_json::to_string(&built_in).unwrap().contains("program"));
    assert_eq!(of_build(1).question(), of_build(2).question(), "two folders are compared whatever the build");
}

/// One claim at a time; it ends with its holder.
#[test]
fn a_folder_is_claimed_once() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = [0, 1].map(|_| Store::open(folder.path(), &note("p")).unwrap());
    let claim = first.claim().unwrap();
    let refused = second.claim().unwrap_err().to_string();
    assert!(refused.contains("another `mias evaluate`") && refused.contains(&folder.path().display().to_string()), "{refused}");
    drop(claim);
    second.claim().unwrap();
}

/// A joining program removes nothing, even if no run has ended.
#[test]
fn a_shared_folder_is_of_one_plan_text_and_version() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/out");
    Store::join(&out, &note("mine")).unwrap().save(&identity("1-3"), &kept(1_000)).unwrap();
    let again = Store::join(&out, &note("mine")).unwrap();
    assert_eq!(again.load(&identity("1-3")), Some(kept(1_000)));
    assert_eq!(Store::open(&out, &note("mine")).unwrap().load(&identity("1-3")), Some(kept(1_000)), "one program goes on in it alone");
    let refused = |note: &Note| Store::join(&out, note).unwrap_err().to_string();
    let other = refused(&note("yours"));
    assert!(other.contains("holds results of plan `mine`, not of `yours`; set another folder with --out"), "{other}");
    let text = refused(&Note { plan_hash: "fedcba9876543210".into(), ..note("mine") });
    assert!(text.contains("another version of plan `mine`, or of another --set; `mias evaluate` alone or with --emit"), "{text}");
    let later = refused(&Note { model: "9.9.9+0".into(), ..note("mine") });
    assert!(later.contains(&format!("version {MODEL}, this is 9.9.9+0; run all shards with one program")), "{later}");
    // Meanwhile another program changes the folder to another text.
    again.put(NOTE, &json_line(&note("yours")).unwrap()).unwrap();
    assert!(again.check_shared(&note("mine")).unwrap_err().to_string().contains("plan `yours`, not of `mine`"));

    let unused = tempfile::tempdir().unwrap();
    Store::join(unused.path(), &note("mine")).unwrap();
    assert!(Store::join(unused.path(), &note("yours")).is_err(), "no run is there, but another may be at work");
    let stranger = tempfile::tempdir().unwrap();
    std::fs::write(stranger.path().join("thesis.docx"), "").unwrap();
    let message = Store::join(stranger.path(), &note("mine")).unwrap_err().to_string();
    assert!(message.contains("is not empty and holds no evaluation"), "{message}");
    assert!(!stranger.path().join(NOTE).exists());
}

/// Of programs with different plans that start at the same time, those of one plan get the folder.
#[test]
fn a_new_folder_is_taken_by_one_plan() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let joined: Vec<(String, bool)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|at| {
                    let (out, name) = (&out, format!("plan-{}", at % 2));
                    scope.spawn(move || (name.clone(), Store::join(out, &note(&name)).is_ok()))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let owner = Store::existing(&out).unwrap().1.plan;
        assert!(joined.iter().all(|(name, ok)| *ok == (*name == owner)), "{owner}: {joined:?}");
    }
}

/// Runs of another build stay in a shared folder, since their owner is unknown.
#[test]
fn a_shared_folder_is_of_one_build() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::join(folder.path(), &note("mine")).unwrap();
    let of_build = |build: u64| Identity { program: format!("{build:016x}"), ..identity("mine") };
    store.save(&identity("1-3"), &kept(1_000)).unwrap();
    store.save(&of_build(2), &kept(1_000)).unwrap();
    store.check_own_build(2).unwrap();
    let refused = store.check_own_build(1).unwrap_err().to_string();
    assert!(refused.contains("holds 1 runs of another build") && refused.contains("run all shards with one build"), "{refused}");
    assert!(store.load(&of_build(2)).is_some());
}
