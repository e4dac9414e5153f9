//! Tests of the selected plan and of the messages after a stopped evaluation.

use super::super::args::{Arguments, Command};
use super::*;
use clap::Parser;
use mias_lab::evaluate::record::{FORMAT, Identity, Kept};
use mias_lab::evaluate::results::{PlanNote, SCHEMA_VERSION};
use mias_lab::experiment::gpu_runner::{Options, Outcome};
use mias_lab::experiment::policy::Control;
use mias_lab::gpus;

#[test]
fn one_plan_is_asked_for_in_any_of_three_ways() {
    let plan = |words: &[&str]| match Arguments::try_parse_from([&["mias", "evaluate"], words].concat()).unwrap().command {
        Command::Evaluate(args) => plan_name(&args).map(|asked| format!("{asked:?}")).map_err(|error| error.to_string()),
        _ => unreachable!(),
    };
    let named = |name: &str| Ok(format!("As({name:?})"));
    assert_eq!(plan(&[]), named("thesis"));
    for words in [&["extended"][..], &["--plan", "extended"], &["extended", "--plan", "extended"]] {
        assert_eq!(plan(words), named("extended"), "{words:?}");
    }
    assert_eq!(plan(&["thesis", "--plan", "extended"]), Err("error: two plans, `thesis` and `extended`; name one".into()));
    assert_eq!(plan(&["--quick"]), named("quick"));
    assert_eq!(plan(&["quick", "--quick"]), named("quick"));
    for words in [&["my.toml", "--quick"][..], &["--quick", "--plan", "my.toml"]] {
        assert_eq!(plan(words), Ok("Quick(\"my.toml\")".into()), "{words:?}");
    }
}

fn store_in(folder: &std::path::Path) -> Store {
    let note = Note { format: FORMAT, model: "m".into(), plan: "p".into(), plan_hash: "h".into() };
    Store::open(folder, &note).unwrap()
}

/// A folder stands where the report should be.
#[test]
fn a_document_that_cannot_be_written_does_not_cost_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path());
    std::fs::create_dir_all(folder.path().join("report.html/in-the-way")).unwrap();
    let plan = PlanNote { name: "p".into(), description: String::new(), hash: String::new(), report: Default::default() };
    let evaluation = Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies: Vec::new() };
    let said = write(&store, &evaluation, 7).unwrap_err().to_string();
    assert!(said.contains("report.html"), "{said}");
    let rest = format!("; 7 of 7 runs are stored in {}; the same command resumes from there", folder.path().display());
    assert!(said.ends_with(&rest), "{said}");
}

#[test]
fn ctrl_c_before_any_run_says_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path());
    let (gpu, options) = (gpus::load("rtx2060").unwrap(), Options::new(End::Done));
    let run = Identity::new("g", &gpu, &[], &Control::Fixed(Vec::new()), options);
    store.save(&run, &Kept::of(&Outcome::default())).unwrap();
    let said = |store| before_any_run(RunError::Interrupted.into(), store).to_string();
    let expected = format!("interrupted: 1 runs are stored in {}; the same command resumes from there", folder.path().display());
    assert_eq!(said(Some(&store)), expected);
    assert!(said(None).contains("nothing was written"));
    assert_eq!(before_any_run(CliError::User("no such file".into()), Some(&store)).to_string(), "error: no such file");
}
