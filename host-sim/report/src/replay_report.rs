//! Report of `firmware replay`: a row per target, with its difference.

use super::SCHEMA_VERSION;
use mias_lab::choice::Choice;
use mias_lab::cosim::recording::{Access, Limits, Recording, register_name};
use mias_lab::cosim::replay::{Counts, Difference, End, Target, Verdict};
use mias_lab::fingerprint;
use mias_lab::table::{self, grouped};
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    schema_version: u32,
    version: &'static str,
    register_map: String,
    built_for: BuiltFor,
    recorded: Counts,
    targets: Vec<TargetRow>,
    not_built: Vec<&'static str>,
}

/// Limits of the recorded firmware.
#[derive(Serialize)]
struct BuiltFor {
    sms: u32,
    kernels: u32,
    configurations: u32,
}

#[derive(Serialize)]
struct TargetRow {
    target: &'static str,
    verdict: &'static str,
    done: Counts,
    difference: Option<DifferenceRow>,
    stopped_because: Option<String>,
}

#[derive(Serialize)]
struct DifferenceRow {
    run: usize,
    interrupt: usize,
    cycle: u64,
    access: usize,
    recorded: Option<AccessRow>,
    made: Option<AccessRow>,
}

#[derive(Serialize)]
struct AccessRow {
    kind: &'static str,
    register: String,
    offset: u32,
    /// Value written; `None` for a read, whose value is the recording's.
    value: Option<u32>,
}

impl DifferenceRow {
    fn new(difference: &Difference) -> Self {
        let Difference { run, interrupt, cycle, parting } = *difference;
        let row = |access: Access| match access {
            Access::Read { offset, .. } => AccessRow { kind: "read", register: register_name(offset), offset, value: None },
            Access::Write { offset, value } => AccessRow { kind: "write", register: register_name(offset), offset, value: Some(value) },
        };
        DifferenceRow { run, interrupt, cycle, access: parting.access, recorded: parting.recorded.map(row), made: parting.made.map(row) }
    }
}

fn verdict(end: &End) -> &'static str {
    match end {
        End::Same => "same",
        End::Differs(_) => "differs",
        End::Stopped(_) => "stopped",
    }
}

/// Formats the JSON document, with a final newline. `not_built` are targets without an image, which
/// were skipped.
///
/// # Errors
/// None in practice: serialization cannot fail for these types.
pub fn json(recording: &Recording, verdicts: &[Verdict], not_built: &[Target]) -> serde_json::Result<String> {
    let Limits { sms, kernels, configs } = recording.maker;
    let row = |found: &Verdict| TargetRow {
        target: found.target.name(),
        verdict: verdict(&found.end),
        done: found.done,
        difference: if let End::Differs(difference) = &found.end { Some(DifferenceRow::new(difference)) } else { None },
        stopped_because: if let End::Stopped(error) = &found.end { Some(error.to_string()) } else { None },
    };
    let document = Document {
        schema_version: SCHEMA_VERSION,
        version: env!("CARGO_PKG_VERSION"),
        register_map: format!("{:016x}", fingerprint::register_map()),
        built_for: BuiltFor { sms, kernels, configurations: configs },
        recorded: Counts::of(recording),
        targets: verdicts.iter().map(row).collect(),
        not_built: not_built.iter().map(|target| target.name()).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Formats the text report; `not_built` as for [`json`].
pub fn text(recording: &Recording, verdicts: &[Verdict], not_built: &[Target]) -> String {
    let all = Counts::of(recording);
    let Limits { sms, kernels, configs } = recording.maker;
    let runs = if all.runs == 1 { "1 run".to_owned() } else { format!("{} runs", grouped(all.runs)) };
    let mut text = format!("{runs} of a firmware for {sms} SMs, {kernels} kernels at a time, {configs} configurations\n\n");
    let headings = ["", "interrupts", "reads", "writes", "decisions", "verdict"].map(str::to_owned);
    let row = |name: &str, counts: &Counts, verdict: &str| {
        let numbers = [counts.interrupts, counts.reads, counts.writes, counts.decisions].map(grouped);
        [&[name.to_owned()][..], &numbers, &[verdict.to_owned()]].concat()
    };
    let mut rows = vec![row("recording", &all, "")];
    rows.extend(verdicts.iter().map(|found| row(found.target.name(), &found.done, verdict(&found.end))));
    text += &table::text(&table::of(&headings, &rows));
    text + &left_out(not_built) + &differences(recording, verdicts)
}

/// Lists the skipped targets with the remedy, after a blank line.
fn left_out(not_built: &[Target]) -> String {
    let names: Vec<&str> = not_built.iter().map(|target| target.name()).collect();
    let who = if not_built.len() + 1 == Target::ALL.len() { "replayed by the in-process firmware only" } else { "left out" };
    if names.is_empty() {
        String::new()
    } else {
        format!("\nNo image for {}: {who} (`cargo xtask image` builds them).\n", names.join(", "))
    }
}

/// Lists the differences of targets, a line each, after a blank line.
fn differences(recording: &Recording, verdicts: &[Verdict]) -> String {
    let mut text: String = verdicts.iter().filter_map(why).map(|line| format!("\n{line}\n")).collect();
    let asked = recording.asks_for();
    if !text.is_empty() && recording.maker.configs < 2 * asked.sms {
        let note = "on that many SMs, a firmware with other room may try and choose other configurations";
        text += &format!("\nThe recorded firmware had room for {} configurations: {note}.\n", recording.maker.configs);
    }
    text
}

/// Returns the reason why a verdict is not equality.
pub fn why(found: &Verdict) -> Option<String> {
    let name = found.target.name();
    match &found.end {
        End::Same => None,
        End::Differs(difference) => Some(format!("{name}: {difference}")),
        End::Stopped(error) => Some(format!("{name}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::config::GpuConfig;
    use mias_hw_model::register_block::{GpuDescription, Straps};
    use mias_lab::cosim::replay::Target;
    use mias_lab::cosim::{CosimError, Parting};
    use mias_registers::{PolicyCode, global};

    fn recording() -> Recording {
        let gpu: GpuConfig = mias_lab::gpus::load("rtx2060").unwrap();
        let mut run = mias_lab::cosim::recording::Run::new(GpuDescription::of(&gpu, Straps::new(PolicyCode::MiasIpc)));
        run.accesses_mut().push(Access::Read { offset: global::ID, value: 1 });
        run.end_step(0);
        run.accesses_mut().push(Access::Write { offset: global::COMMIT, value: 1 });
        run.end_step(9);
        Recording { maker: Limits { sms: 32, kernels: 4, configs: 16 }, runs: vec![run] }
    }

    fn verdicts() -> Vec<Verdict> {
        let parting = Parting { access: 1, recorded: Some(Access::Write { offset: global::COMMIT, value: 1 }), made: None };
        let difference = Difference { run: 1, interrupt: 1, cycle: 9, parting };
        let done = Counts { reads: 1, ..Counts::default() };
        vec![
            Verdict { target: Target::Native, done: Counts::of(&recording()), end: End::Same },
            Verdict { target: Target::M4, done, end: End::Differs(difference) },
            Verdict { target: Target::M0, done: Counts::default(), end: End::Stopped(CosimError("QEMU has exited".into())) },
        ]
    }

    #[test]
    fn a_row_per_target_and_the_first_difference() {
        let expected = "\
1 run of a firmware for 32 SMs, 4 kernels at a time, 16 configurations

           interrupts  reads  writes  decisions  verdict
recording           1      1       1          0
native              1      1       1          0  same
m4                  0      1       0          0  differs
m0                  0      0       0          0  stopped

m4: run 1, interrupt 1 at cycle 9, access 1: it ends without a further access, the recording writes 1 to COMMIT

m0: QEMU has exited

The recorded firmware had room for 16 configurations: on that many SMs, a firmware with other room may try and choose other configurations.
";
        assert_eq!(text(&recording(), &verdicts(), &[]), expected);
    }

    #[test]
    fn the_document_has_both_accesses() {
        let document: serde_json::Value = serde_json::from_str(&json(&recording(), &verdicts(), &[Target::Riscv]).unwrap()).unwrap();
        assert_eq!(document["recorded"]["writes"], 1);
        let target = &document["targets"][1];
        assert_eq!((&target["verdict"], &target["done"]["reads"]), (&"differs".into(), &1.into()));
        let difference = &target["difference"];
        assert_eq!((&difference["cycle"], &difference["made"]), (&9.into(), &serde_json::Value::Null));
        assert_eq!((&difference["recorded"]["register"], &difference["recorded"]["value"]), (&"COMMIT".into(), &1.into()));
        assert_eq!(document["targets"][2]["stopped_because"], "QEMU has exited");
        assert_eq!(document["not_built"], serde_json::json!(["riscv"]));
    }

    #[test]
    fn targets_without_an_image_are_named() {
        let alone = &verdicts()[..1];
        let said = |not_built: &[Target]| text(&recording(), alone, not_built).lines().last().map(str::to_owned);
        let all = "No image for m4, m0, riscv: replayed by the in-process firmware only (`cargo xtask image` builds them).";
        assert_eq!(said(&[Target::M4, Target::M0, Target::Riscv]).as_deref(), Some(all));
        assert_eq!(said(&[Target::M0]).as_deref(), Some("No image for m0: left out (`cargo xtask image` builds them)."));
    }
}
