//! How long kernels waited for their room, and who was made to leave, as tables for people have it.

use mias_hw_model::gpu::{Preemption, Technique};
use mias_lab::experiment::room::Latency;
use mias_lab::table::{self, grouped};

/// A quantity: its name and its cell.
type Row = (&'static str, fn(&Latency) -> String);

/// The rows of a kernel in its column.
pub(super) const ROWS: [Row; 7] = [
    ("priority", |latency| latency.priority.to_string()),
    ("first TB after", |latency| cycles(latency.first_tb_cycles)),
    ("all TBs after", |latency| cycles(latency.all_tbs_cycles)),
    ("latency limit", |latency| cycles(latency.limit_cycles.map(u64::from))),
    ("deadline", |latency| cycles(latency.deadline_cycles)),
    ("through after", |latency| cycles(latency.end_cycles)),
    ("deadline kept", kept),
];

/// Whether a deadline was kept.
pub(super) fn kept(latency: &Latency) -> String {
    match latency.violated {
        Some(true) => "no".to_owned(),
        Some(false) => "yes".to_owned(),
        None => table::DASH.to_owned(),
    }
}

fn cycles(cycles: Option<u64>) -> String {
    cycles.map_or_else(|| table::DASH.to_owned(), grouped)
}

/// A line on the TBs that were made to leave; empty if none was.
pub(super) fn preemptions(all: &[Preemption]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let of = |technique| all.iter().filter(|tb| tb.technique == technique && !tb.refused).count() as u64;
    let refused = all.iter().filter(|tb| tb.refused).count() as u64;
    let refused = if refused == 0 { String::new() } else { format!(", {} commands refused", grouped(refused)) };
    let [drained, flushed, switched] = [Technique::Drain, Technique::Flush, Technique::Switch].map(of).map(grouped);
    format!("TBs made to leave: {drained} drained, {flushed} flushed, {switched} switched{refused}\n")
}
