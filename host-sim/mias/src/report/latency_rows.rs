//! How long kernels waited for their room, and who was made to leave, as tables for people have it.

use mias_hw_model::gpu::{Preemption, Technique};
use mias_lab::experiment::room::Latency;
use mias_lab::experiment::victims::{MOST_CHOICES, VictimChoice};
use mias_lab::table::{self, grouped};

/// A quantity: its name and its cell.
type Row = (&'static str, fn(&Latency) -> String);

/// The rows of a kernel in its column.
pub(in crate::report) const ROWS: [Row; 7] = [
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

/// How the firmware chose victims: of each choice its candidates, by position, and their costs; empty if there was none.
pub(super) fn choices(all: &[VictimChoice]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut table = table::new(&["cycle", "SM", "for slot", "limit", "position", "victims (place, how)", "latency", "overhead"]);
    for choice in all {
        for set in &choice.candidates {
            let mark = if *set == choice.chosen { "> " } else { "" };
            let victims: Vec<String> = set.places.iter().map(|(place, how)| format!("{place} {how}")).collect();
            table.add_row([
                grouped(choice.cycle),
                choice.sm.to_string(),
                choice.slot.to_string(),
                grouped(choice.limit.into()),
                format!("{mark}{}", set.position),
                victims.join(", "),
                grouped(set.latency.into()),
                grouped(set.overhead),
            ]);
        }
    }
    let cut = if all.len() == MOST_CHOICES {
        format!("Only the first {} choices are shown. ", grouped(MOST_CHOICES as u64))
    } else {
        String::new()
    };
    format!(
        "\n{}{cut}Latency in cycles, overhead in warp instructions, both as the firmware estimates them; > marks the set that was chosen.\n",
        table::text(&table)
    )
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
    let lost = match all.iter().map(Preemption::thrown_away).sum() {
        0 => String::new(),
        insts => format!("; {} warp instructions thrown away", grouped(insts)),
    };
    format!("TBs made to leave: {drained} drained, {flushed} flushed, {switched} switched{refused}{lost}\n")
}
