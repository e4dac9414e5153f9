//! Placement latency of kernels and preempted TBs, as rows of text tables.

use mias_hw_model::gpu::{Preemption, Technique};
use mias_lab::experiment::placement_latency::{Latency, PlacementTimes};
use mias_lab::experiment::policy::Transition;
use mias_lab::experiment::victims::{MOST_CHOICES, VictimChoice};
use mias_lab::experiment::workload::Workload;
use mias_lab::table::{self, grouped};

/// Quantity: its name and its cell.
type Row = (&'static str, fn(&Latency) -> String);

/// Rows of a kernel in its column.
pub(crate) const ROWS: [Row; 9] = [
    ("priority", |latency| latency.priority.to_string()),
    ("first TB after", |latency| cycles(latency.first_tb_cycles)),
    ("room after", |latency| cycles(latency.room_cycles)),
    ("all TBs after", |latency| cycles(latency.all_tbs_cycles)),
    ("latency limit", |latency| cycles(latency.limit_cycles.map(u64::from))),
    ("room in time", |latency| yes(latency.room_in_time)),
    ("deadline", |latency| cycles(latency.deadline_cycles)),
    ("through after", |latency| cycles(latency.end_cycles)),
    ("deadline kept", kept),
];

/// Explanation of the rows of [`ROWS`].
pub(crate) const WHAT: &str = "Cycles from the earliest issue of a kernel's TBs; it has its room once as many of its TBs have been issued as fit \
                                          on the GPU, or all of a smaller grid; a deadline is the limit plus the kernel's time alone from its first TB.\n";

/// Formats whether a deadline was met.
pub(super) fn kept(latency: &Latency) -> String {
    yes(latency.violated.map(|violated| !violated))
}

fn yes(is: Option<bool>) -> String {
    is.map_or(table::DASH, |is| if is { "yes" } else { "no" }).to_owned()
}

fn cycles(cycles: Option<u64>) -> String {
    cycles.map_or_else(|| table::DASH.to_owned(), grouped)
}

/// Formats the firmware's choices of victims, each with its candidates by position and their costs;
/// empty without choices.
pub(super) fn choices(all: &[VictimChoice]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut table = table::new(&["choice", "cycle", "SM", "for slot", "limit", "position", "victims (place, how)", "latency", "overhead"]);
    let unknown = all.iter().flat_map(|choice| &choice.candidates).any(|set| set.latency == u32::MAX);
    // The largest word stands for an unknown value.
    let known = |number: u64| if number == u64::from(u32::MAX) { "unknown".to_owned() } else { grouped(number) };
    for (number, choice) in (1..).zip(all) {
        for set in &choice.candidates {
            let mark = if *set == choice.chosen { "> " } else { "" };
            let victims: Vec<String> = set.places.iter().map(|(place, how)| format!("{place} {how}")).collect();
            table.add_row([
                grouped(number),
                grouped(choice.cycle),
                choice.sm.to_string(),
                choice.slot.to_string(),
                grouped(choice.limit.into()),
                format!("{mark}{}", set.position),
                victims.join(", "),
                known(set.latency.into()),
                known(set.overhead),
            ]);
        }
    }
    let cut = if all.len() == MOST_CHOICES {
        format!("Only the first {} choices are shown. ", grouped(MOST_CHOICES as u64))
    } else {
        String::new()
    };
    format!(
        "\n{}{cut}A choice selects a set of victims to place one TB; > marks the chosen set. Latency in cycles, overhead in warp instructions, both as \
         the firmware estimates them{}.\n",
        table::text(&table),
        if unknown { "; unknown if no TB of the kernel has ended on the SM" } else { "" }
    )
}

/// Formats the preempted TBs by kernel and technique: number, expected and actual time; empty
/// without preemption.
pub(super) fn preemptions(all: &[Preemption], kernels: &[&str]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let headings = ["preempted", "how", "TBs", "left", "expected, mean", "of these took", "took, mean", "took, most", "thrown away"];
    let mut table = table::new(&headings);
    let techniques = [("drained", Technique::Drain), ("flushed", Technique::Flush), ("switched", Technique::Switch)];
    for (launch, (name, technique)) in (0..kernels.len()).flat_map(|launch| techniques.map(|technique| (launch, technique))) {
        let of = |tb: &&Preemption| tb.launch == launch && tb.technique == technique && !tb.refused;
        let of: Vec<&Preemption> = all.iter().filter(of).collect();
        if of.is_empty() {
            continue;
        }
        let took = |tb: &Preemption| Some(tb.left_cycle?.saturating_sub(tb.commanded_cycle));
        let known: Vec<(u64, u64)> = of.iter().filter_map(|tb| Some((tb.estimate()?.into(), took(tb)?))).collect();
        let all_took: Vec<u64> = of.iter().filter_map(|tb| took(tb)).collect();
        table.add_row([
            kernels[launch].to_owned(),
            name.to_owned(),
            grouped(of.len() as u64),
            grouped(all_took.len() as u64),
            mean(known.iter().map(|(expected, _)| *expected)),
            mean(known.iter().map(|(_, took)| *took)),
            mean(all_took.iter().copied()),
            cycles(all_took.iter().copied().max()),
            grouped(of.iter().map(|tb| tb.thrown_away()).sum()),
        ]);
    }
    let refused = match all.iter().filter(|tb| tb.refused).count() {
        0 => String::new(),
        1 => "One command was refused. ".to_owned(),
        many => format!("{} commands were refused. ", grouped(many as u64)),
    };
    format!(
        "\n{}{refused}Times in cycles from the command; expected: the firmware's estimate, if any. Thrown away: issued warp instructions that are \
         executed again; IPC does not count them.\n",
        table::text(&table)
    )
}

/// Formats the mean of some cycles, to the nearest.
fn mean(all: impl Iterator<Item = u64>) -> String {
    let (sum, many) = all.fold((0_u64, 0_u64), |(sum, many), cycles| (sum + cycles, many + 1));
    cycles((sum + many / 2).checked_div(many))
}

/// Formats a line for each kernel with priority that had no TB by the end, though it could have;
/// empty if there is none. `choosing` is the time of victim choices by the firmware.
pub(super) fn unserved(workloads: &[Workload], room: &[PlacementTimes], transition: Transition, choosing: u64) -> String {
    let line = |(workload, room): (&Workload, &PlacementTimes)| {
        let waited = room.first_cycles.is_none().then_some(room.seen_cycles).filter(|waited| *waited > 0)?;
        let why = if choosing > 0 {
            format!(
                " The firmware took {} cycles to choose victims; `--set sm.preemption.selector={{}}` or `--set latency=off` reduces this.",
                grouped(choosing)
            )
        } else {
            String::new()
        };
        workload.is_beside_quotas(transition).then(|| {
            format!("{} had no TB within {} cycles of its earliest issue: increase --cycles.{why}\n", workload.name, grouped(waited))
        })
    };
    workloads.iter().zip(room).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(technique: Technique, estimated_cycles: u32, left_cycle: Option<u64>) -> Preemption {
        Preemption {
            sm: 0,
            launch: 0,
            tb: 0,
            technique,
            warp_insts: 1_234,
            resident_cycles: 9,
            estimated_cycles,
            commanded_cycle: 1_000,
            left_cycle,
            stopped_cycle: None,
            ended: false,
            refused: false,
        }
    }

    /// Victims with an estimate of 60 and 80 took 100 and 300; the one without took 800.
    #[test]
    fn what_was_not_expected_is_not_compared() {
        let unknown = (1 << 24) - 1;
        let drains = [(60, 1_100), (80, 1_300), (unknown, 1_800)].map(|(expected, at)| left(Technique::Drain, expected, Some(at)));
        let text = preemptions(&[&drains[..], &[left(Technique::Flush, 0, Some(1_000))]].concat(), &["k"]);
        let row = |name: &str| {
            let line = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {text}"));
            line.split(['\u{2502}', '|', '\u{2506}']).flat_map(str::split_whitespace).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(row("drained"), ["k", "drained", "3", "3", "70", "200", "400", "800", "0"]);
        assert_eq!(row("flushed"), ["k", "flushed", "1", "1", "0", "0", "0", "0", "1,234"]);
        assert_eq!(preemptions(&[], &["k"]), "");
    }
}
