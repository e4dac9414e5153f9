//! Comparison of our numbers with those of an independent simulator on the same traces.

use crate::csv_table;
use crate::table::{self, grouped, percent};
use mias_hw_model::gpu::LaunchStats;

/// Launch latency in the reference's numbers, in cycles; errors are also given without it.
pub const LAUNCH_LATENCY_CYCLES: u64 = 5_000;

/// Row of a reference file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceLaunch {
    /// Name of the row's trace.
    pub trace: String,
    /// Launch within the trace, from 1.
    pub launch: usize,
    /// Kernel name.
    pub kernel: String,
    /// Columns after the name, in [`COLUMNS`] order; `None` if the file lacks the column.
    pub values: [Option<u64>; COLUMNS.len()],
}

/// Column: its name in the file, and the accessor of our number.
type Column = (&'static str, fn(&LaunchStats) -> u64);

/// Compared columns.
pub const COLUMNS: [Column; 10] = [
    ("cycles", |l| l.end_cycle.map_or(0, |end| l.cycles(end))),
    ("thread_insts", |l| l.thread_insts),
    ("warp_insts", |l| l.warp_insts),
    ("l1_accesses", |l| l.l1.accesses),
    ("l1_misses", |l| l.l1.misses),
    ("l1_reservation_fails", |l| l.l1.reservation_fails),
    ("l2_accesses", |l| l.l2.accesses),
    ("l2_misses", |l| l.l2.misses),
    ("dram_reads", |l| l.dram_reads),
    ("dram_writes", |l| l.dram_writes),
];

/// Column that a file may lack: a kernel's instructions are those of the trace, on any GPU.
const OPTIONAL: &str = "warp_insts";

/// Parses a reference file: a heading with `trace`, `launch`, `kernel` and the columns in any
/// order, then one row per launch. It may lack `warp_insts`.
///
/// # Errors
/// A sentence with the line.
pub fn parse(text: &str) -> Result<Vec<ReferenceLaunch>, String> {
    // Map the reference's names for its L1 data cache to ours.
    let (heading, rows) = text.split_once('\n').unwrap_or((text, ""));
    let text = format!("{}\n{rows}", heading.replace("l1d_", "l1_"));
    let lacks_optional = heading.split(',').all(|column| column.trim() != OPTIONAL);
    let given: Vec<usize> = (0..COLUMNS.len()).filter(|&at| !lacks_optional || COLUMNS[at].0 != OPTIONAL).collect();
    let columns: Vec<&str> = ["trace", "launch", "kernel"].into_iter().chain(given.iter().map(|&at| COLUMNS[at].0)).collect();
    csv_table::read(&text, &columns, |cells| {
        let mut values = [None; COLUMNS.len()];
        for (&at, cell) in given.iter().zip(&cells[3..]) {
            values[at] = Some(csv_table::number(cell)?);
        }
        let launch = csv_table::number(cells[1])? as usize;
        Ok(ReferenceLaunch { trace: cells[0].to_owned(), launch, kernel: cells[2].to_owned(), values })
    })
}

/// Compares our numbers with the reference's: both, with the relative error, per launch and column;
/// `trace` selects the rows.
///
/// # Errors
/// A sentence if the reference has no row for this trace.
pub fn compare(reference: &[ReferenceLaunch], trace: &str, kernels: &[&str], launches: &[LaunchStats]) -> Result<String, String> {
    let rows: Vec<&ReferenceLaunch> = reference.iter().filter(|row| row.trace == trace).collect();
    if rows.is_empty() {
        let mut known: Vec<&str> = reference.iter().map(|row| row.trace.as_str()).collect();
        known.dedup();
        return Err(format!("no row for {}", mias_workloads::input::suggest::unknown("trace", trace, &known)));
    }
    let mut text = String::new();
    for row in rows {
        let number = row.launch.wrapping_sub(1);
        let Some(ours) = launches.get(number) else {
            return Err(format!("row `{trace},{}` names a launch that the trace does not have", row.launch));
        };
        if kernels.get(number).is_some_and(|kernel| *kernel != row.kernel) {
            return Err(format!("row `{trace},{}` is about kernel {}, the trace has {}", row.launch, row.kernel, kernels[number]));
        }
        let heading = format!("launch {} {}", row.launch, row.kernel);
        let mut table = table::new(&[&heading, "ours", "reference", "error"]);
        for ((name, value), reference) in COLUMNS.iter().zip(row.values) {
            let ours = value(ours);
            let Some(reference) = reference else { continue };
            table.add_row([(*name).to_owned(), grouped(ours), grouped(reference), percent(error(ours, reference))]);
            if *name == "cycles" {
                let (ours, reference) = (ours.saturating_sub(LAUNCH_LATENCY_CYCLES), reference.saturating_sub(LAUNCH_LATENCY_CYCLES));
                let name = "cycles without launch latency".to_owned();
                table.add_row([name, grouped(ours), grouped(reference), percent(error(ours, reference))]);
            }
        }
        text += &format!("\n{}", table::text(&table));
    }
    Ok(text)
}

/// Returns the relative error; `None` if only the reference is 0.
fn error(ours: u64, reference: u64) -> Option<f64> {
    match (ours, reference) {
        (0, 0) => Some(0.0),
        (_, 0) => None,
        _ => Some(ours as f64 / reference as f64 - 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "trace,launch,kernel,cycles,thread_insts,warp_insts,l1_accesses,l1_misses,l1_reservation_fails,l2_accesses,\
        l2_misses,dram_reads,dram_writes\nmm,1,va,8000,10,20,30,40,50,60,70,80,0\n";

    #[test]
    fn errors_are_relative_to_the_reference() {
        let rows = parse(FILE).unwrap();
        let ours = LaunchStats { start_cycle: Some(1_000), end_cycle: Some(9_400), dram_writes: 7, ..LaunchStats::default() };
        let text = compare(&rows, "mm", &["va"], &[ours]).unwrap();
        let row = |name: &str| text.lines().find(|l| l.starts_with(name)).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(row("cycles "), "cycles 8,400 8,000 5.0 %");
        assert_eq!(row("cycles w"), "cycles without launch latency 3,400 3,000 13.3 %");
        assert_eq!(row("dram_writes"), "dram_writes 7 0 -");
        assert_eq!(row("l1_misses"), "l1_misses 0 40 -100.0 %");
    }

    #[test]
    fn a_column_that_the_file_lacks_is_not_compared() {
        let (heading, row) = (FILE.replace("warp_insts,", ""), "mm,1,va,8000,10,30,40,50,60,70,80,0\n");
        let rows = parse(&format!("{}\n{row}", heading.lines().next().unwrap())).unwrap();
        assert_eq!(rows[0].values[1..4], [Some(10), None, Some(30)]);
        let text = compare(&rows, "mm", &["va"], &[LaunchStats::default()]).unwrap();
        assert!(!text.contains("warp_insts") && text.contains("thread_insts"), "{text}");
    }

    #[test]
    fn the_references_own_names_are_known() {
        assert_eq!(parse(&FILE.replace("l1_", "l1d_")), parse(FILE));
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let rows = parse(FILE).unwrap();
        assert!(compare(&rows, "mn", &["va"], &[]).unwrap_err().contains("did you mean `mm`?"));
        assert!(compare(&rows, "mm", &[], &[]).unwrap_err().contains("does not have"));
        assert!(compare(&rows, "mm", &["vb"], &[LaunchStats::default()]).unwrap_err().contains("about kernel va"));
        assert_eq!(parse("trace,launch\n").unwrap_err(), "1: no column `kernel` in the heading");
        assert_eq!(parse(&FILE.replace("8000", "8k")).unwrap_err(), "2: `8k` is not a number");
        assert!(parse(&FILE.replace(",80,0", ",80")).unwrap_err().starts_with("2: 12 fields"));
    }
}
