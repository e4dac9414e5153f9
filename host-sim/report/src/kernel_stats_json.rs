//! JSON of `kernels --stats`. Missing values are `null`; fractions are 0 to 1.

use super::SCHEMA_VERSION;
use super::kernel_list::{KernelRow, letter};
use super::kernel_stats::papers_against;
use super::provenance::Provenance;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::IssueClass;
use mias_lab::characterise::binding::{Component, Help, Level};
use mias_lab::characterise::profile::Kind;
use mias_lab::characterise::thesis::{self, Agreement};
use mias_lab::characterise::{Character, published};
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::workload::Workload;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    provenance: Provenance,
    gpu: &'a str,
    cycles: Option<u64>,
    kernels: Vec<Entry<'a>>,
    missing: Vec<&'a str>,
}

#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    row: KernelRow,
    warps: u64,
    insts_per_warp: Option<f64>,
    lanes_per_inst: Option<f64>,
    mix: BTreeMap<&'static str, Option<f64>>,
    compute_per_memory_inst: Option<f64>,
    requests_per_memory_inst: Option<f64>,
    load_sectors_per_1000_insts: Option<f64>,
    sector_bytes_used: Option<f64>,
    idempotent: bool,
    alone: Alone,
    types: ByRule,
    binding: Binding,
    thesis: Option<ThesisEntry>,
    published: Vec<FigureEntry<'a>>,
}

#[derive(Serialize)]
struct Alone {
    ipc: f64,
    ipc_half_tbs: Option<f64>,
    l1_miss_rate: Option<f64>,
    l1_fails_per_access: Option<f64>,
    miss_latency: Option<f64>,
    l2_accesses_per_1000_insts: Option<f64>,
    l2_hit_rate: Option<f64>,
    lsu_stall: Option<f64>,
    utilization: BTreeMap<&'static str, Option<f64>>,
    issue_slots: BTreeMap<&'static str, Option<f64>>,
}

#[derive(Serialize)]
struct ByRule {
    nasef2023: Option<&'static str>,
    dai2018: Option<&'static str>,
    lin2018: Option<&'static str>,
    lin2018_component: &'static str,
    zhao2018: Option<&'static str>,
    other_than_thesis: Option<Vec<&'static str>>,
}

#[derive(Serialize)]
struct Binding {
    component: Component,
    level: Level,
    helps: Vec<Help>,
}

#[derive(Serialize)]
struct ThesisEntry {
    agreement: Agreement,
    statements: Vec<StatementEntry>,
}

#[derive(Serialize)]
struct StatementEntry {
    says: &'static str,
    rule: String,
    measured: String,
    holds: bool,
}

#[derive(Serialize)]
struct FigureEntry<'a> {
    quantity: &'a str,
    ours: Option<f64>,
    published_low: f64,
    published_high: f64,
    source: &'a str,
}

fn entry(character: &Character, row: KernelRow) -> Entry<'_> {
    let (profile, alone) = (&character.profile, &character.alone);
    let slot = |class: IssueClass| alone.issue_slots.map(|slots| slots[class as usize]);
    let thesis_type = thesis::kernel_type(character.kernel);
    let statements = thesis::statements(character);
    let agreement = Agreement::of(&statements);
    let statement = |s: thesis::Statement| StatementEntry { says: s.says, rule: s.rule, measured: s.measured, holds: s.holds };
    let figure = |figure: published::Figure| FigureEntry {
        quantity: figure.quantity,
        ours: figure.ours,
        published_low: figure.published.0,
        published_high: figure.published.1,
        source: figure.source,
    };
    Entry {
        row,
        warps: profile.warps,
        insts_per_warp: profile.insts_per_warp(),
        lanes_per_inst: profile.lanes_per_inst(),
        mix: Kind::ALL.iter().map(|&kind| (kind.name(), profile.share(kind))).collect(),
        compute_per_memory_inst: profile.compute_per_memory(),
        requests_per_memory_inst: profile.requests_per_memory(),
        load_sectors_per_1000_insts: profile.load_sectors_per_kilo(),
        sector_bytes_used: profile.sector_use(),
        idempotent: profile.idempotent,
        alone: Alone {
            ipc: character.ipc.1,
            ipc_half_tbs: character.ipc.0,
            l1_miss_rate: alone.l1_miss_rate,
            l1_fails_per_access: alone.l1_fails_per_access,
            miss_latency: alone.miss_latency,
            l2_accesses_per_1000_insts: alone.l2_accesses_per_1000_insts,
            l2_hit_rate: alone.l2_hit_rate,
            lsu_stall: alone.lsu_stall,
            utilization: BTreeMap::from([
                ("scheduler", slot(IssueClass::Issued)),
                ("l1", alone.l1_utilization),
                ("sm_to_l2", alone.request_utilization),
                ("l2_to_sm", alone.reply_utilization),
                ("l2", alone.l2_utilization),
                ("dram", alone.dram_utilization),
            ]),
            issue_slots: IssueClass::of(&alone.issue_slots.unwrap_or_default()).map(|class| (class.name(), slot(class))).collect(),
        },
        types: ByRule {
            nasef2023: character.types.nasef2023.map(letter),
            dai2018: character.types.dai2018.map(letter),
            lin2018: character.types.lin2018.kernel_type().map(letter),
            lin2018_component: character.types.lin2018.name(),
            zhao2018: character.types.zhao2018.map(letter),
            other_than_thesis: thesis_type.map(|thesis| papers_against(&character.types, thesis)),
        },
        binding: Binding { component: character.binding.component, level: character.binding.level, helps: character.binding.helps.clone() },
        thesis: (!statements.is_empty()).then(|| ThesisEntry { agreement, statements: statements.into_iter().map(statement).collect() }),
        published: published::figures(character).into_iter().map(figure).collect(),
    }
}

/// Formats the document, with a final newline; `rows` are those of `characters`, and `missing` the
/// interrupted kernels.
///
/// # Errors
/// None in practice: every value has a JSON form.
pub fn render(
    gpu: &GpuConfig,
    workloads: &[Workload],
    options: Options,
    characters: &[(KernelRow, Character)],
    missing: &[&str],
) -> serde_json::Result<String> {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        provenance: Provenance::new(gpu, workloads, options),
        gpu: &gpu.name,
        cycles: if let End::Cycles(cycles) = options.end { Some(cycles) } else { None },
        kernels: characters.iter().map(|(row, character)| entry(character, row.clone())).collect(),
        missing: missing.to_vec(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}
