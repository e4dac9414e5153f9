//! Table `host-sim/lab/decision-latency.toml`, generated from the measurements, from which the
//! simulation takes decision times.

use super::numbers::{Committed, METRICS, Numbers, others};

/// Four metrics, which decide in the same situations: their names in the file and in the bench.
const MIAS: [(&str, &str); 4] =
    [("mias-ipc", METRICS[0]), ("mias-ipm-ipc", METRICS[1]), ("mias-factor", METRICS[2]), ("mias-linear", METRICS[3])];

/// Row: late, SMs, kernels, scored and generated configurations, and the counts.
type Row = ([u64; 5], Vec<u64>);

/// Returns the whole file.
pub(super) fn table(all: &[Numbers]) -> String {
    let mut text = String::from(
        "# Written by `cargo xtask latency`; the tests fail when it is not current. Do not edit it.
#
# Instructions of one decision, counted by QEMU as in docs/porting/decision-latency.md: from the first instruction of the driver's interrupt
# handler to the one after the commit of the quotas. In it are the interrupt's events, the counters read, the decision, the generation
# of a second round if there is one, the quota writes and the commit. Not in it is the processor's entry into the interrupt.
#
# A table per core; in it one of the four metrics of MIAS and one of each other policy, by the names that users type. `counts` are the
# `columns` of one situation after the other.
#
# late        false: the windows of all SMs end in the interrupt, and thread instructions count
#             true: the time-out comes in it, with the end of all windows but one and the start of that one; warp instructions count
# sms         SMs of the GPU; 16 and 30 with the image for 32 SMs, 80 and 132 with the one for 132
# kernels     scheduled together
# scored      configurations profiled so far, of both rounds
# generated   configurations that there are, where the decision ends with a second round; 0 where it ends with the last quotas
# worst       the largest of MIAS' four metrics
#
# Every kernel drains in the interrupt, too. Of several counts for the same row the largest stands:
#
# mias-*                  Scores rise from configuration to configuration, the longest way through the choice; where a second round is
#                         generated they also rise to the middle and fall, which leaves neighbors on both sides.
# warped-slicer*          Instructions rise with the TBs, so that every point beats those with fewer TBs; with and without a loss above the
#                         threshold. Kernels have more TBs than an SM holds and compete for the same places: where all points fit
#                         together the water rises longer (the page has how long), and that is not in the table.
# warped-slicer+sum       Of three and four kernels at most 60 points: it looks at every way to fill an SM, and of more points there are too
#                         many to be timed on the boards. Beyond is an estimate.
# coordinated, maestro    On an SM with 16 places for TBs, too.
# those, and mias-stp,    Also with kernels that do better apart, and at the time-out with a kernel of which no SM alone is done: they then
# mias-guard and          get SMs of their own.
# mias-roofline*
#
# placement               From the end of a batch of launches to the first quotas in effect, of MIAS by IPC: where nothing was done ahead,
#                         where all was, and what that took. `generated` is how many configurations there are.
#
# memory-limit            Of the DMIL in firmware, from the interrupt that its timer raises to the end of it: `sms` of them have so many `kernels`
#                         that have had enough requests.
#
# context-control         Of the controller of extra TBs in firmware, from the interrupt that says that intervals of so many `kernels` are over to the end
#                         of it, whatever the SMs.
#
# victims                 A selection of victims, from the interrupt that says that `sms` SMs want room for one TB each to the end of it, where each has
#                         so many TBs (`kernels`): by Shieh's scheme, and by Chimera's, which hands whole SMs over.
#
# search                  A step of a search for how many SMs each kernel needs, from the timer at the end of a window to the last SM that is told what
#                         it is to be.
#
# trial                   A step of trials on the whole GPU, from the timer at the end of a window to the commit of the quotas.
#                         `first-trial` is the placement before them, from the end of a batch of launches.
#
# Counts are rounded up, by less than a sixteenth, so that what is simulated does not change with every instruction of the firmware; the
# page has them as they are.
",
    );
    for numbers in all {
        let mut group = |name: &str, columns: &[&str], rows: Vec<Row>| text += &group(numbers.core, name, columns, &rows);
        let (names, benches): (Vec<&str>, Vec<&str>) = MIAS.into_iter().unzip();
        group("mias", &[&names[..], &["worst"]].concat(), worst(rows(numbers, &benches)));
        others().into_iter().for_each(|policy| group(policy, &[policy], rows(numbers, &[policy])));
        group("placement", &["at-once", "prepared", "ahead"], placements(numbers));
        group(
            "memory-limit",
            &["memory-limit"],
            numbers.memory.iter().map(|(&(sms, dmils), &count)| looked(sms, dmils, &[count])).collect(),
        );
        group(
            "context-control",
            &["context-control"],
            numbers.oversubscription.iter().map(|(&kernels, &count)| looked(0, kernels, &[count])).collect(),
        );
        group("search", &["search"], numbers.searches.iter().map(|(&(sms, kernels), &count)| looked(sms, kernels, &[count])).collect());
        let trials = numbers.trials.iter().map(|(&(sms, kernels), &(step, first))| looked(sms, kernels, &[step, first]));
        group("trial", &["trial", "first-trial"], trials.collect());
        group("victims", &["shieh", "chimera"], victims(numbers));
    }
    text
}

/// Returns a group of one core as a table of the file: its columns, and a line for all rows with
/// the same SMs and kernels.
fn group(core: &str, name: &str, columns: &[&str], rows: &[Row]) -> String {
    let name = if name.contains('+') { format!("\"{name}\"") } else { name.to_owned() };
    let columns: Vec<String> = ["scored", "generated"].iter().chain(columns).map(|column| format!("\"{column}\"")).collect();
    let mut text = format!("\n[{}.{name}]\ncolumns = [{}]\nrows = [\n", core.to_lowercase(), columns.join(", "));
    for rows in rows.chunk_by(|(one, _), (next, _)| one[..3] == next[..3]) {
        let ([late, sms, kernels, ..], _) = rows[0];
        let counts = rows.iter().map(|([.., scored, generated], counts)| {
            let numbers = [*scored, *generated].into_iter().chain(counts.iter().copied().map(rounded_up));
            format!("[{}]", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", "))
        });
        let counts = counts.collect::<Vec<_>>().join(", ");
        text += &format!("    {{ late = {}, sms = {sms}, kernels = {kernels}, counts = [{counts}] }},\n", late == 1);
    }
    text + "]\n"
}

/// Returns the situations in which all columns were measured. The number of neighbors in a second
/// round depends on the best configuration, so it differs between metrics.
fn rows(numbers: &Numbers, benches: &[&str]) -> Vec<Row> {
    let row = |(&(late, sms, kernels, scored, generated), counts): (&Committed, &Vec<(String, u64)>)| {
        let longest = benches.iter().map(|bench| longest(counts, bench)).collect::<Option<Vec<u64>>>()?;
        Some(([u64::from(late), sms, kernels, scored, generated], longest))
    };
    numbers.commits.iter().filter_map(row).collect()
}

/// Appends the largest count to each row.
fn worst(mut rows: Vec<Row>) -> Vec<Row> {
    rows.iter_mut().for_each(|(_, counts)| counts.extend(counts.iter().max().copied()));
    rows
}

/// Creates a row for a cost that does not depend on configurations.
fn looked(sms: u64, kernels: u64, counts: &[u64]) -> Row {
    ([0, sms, kernels, 0, 0], counts.to_vec())
}

/// Returns the rows of placements that generate configurations.
fn placements(numbers: &Numbers) -> Vec<Row> {
    let of_ipc = numbers.partitions.iter().filter(|((.., policy), _)| policy == METRICS[0]);
    let row = |(key, &at_once): (&(u64, u64, u64, String), &u64)| {
        let (sms, kernels, configs, _) = *key;
        let prepared = numbers.prepared.get(key)?;
        Some(([0, sms, kernels, 0, configs], vec![at_once, prepared.placement, prepared.ahead]))
    };
    of_ipc.filter_map(row).collect()
}

/// Returns the rows of selections of victims.
fn victims(numbers: &Numbers) -> Vec<Row> {
    let row = |((_, sms, tbs), shieh): (&(String, u64, u64), &u64)| {
        let chimera = numbers.victims.get(&("chimera".to_owned(), *sms, *tbs)).copied().unwrap_or_default();
        looked(*sms, *tbs, &[*shieh, chimera])
    };
    numbers.victims.iter().filter(|((scheme, ..), _)| scheme == "shieh").map(row).collect()
}

/// Returns the largest count of a metric or policy; `None` if it was not measured.
fn longest(counts: &[(String, u64)], name: &str) -> Option<u64> {
    counts.iter().filter(|(of, _)| of == name).map(|(_, count)| *count).max()
}

/// Rounds up to five significant bits.
fn rounded_up(count: u64) -> u64 {
    let significant = u64::BITS - count.leading_zeros();
    count.next_multiple_of(1 << significant.saturating_sub(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_up_is_a_bound_within_a_sixteenth_and_keeps_the_order() {
        let mut before = 0;
        for count in 0..5000 {
            let rounded = rounded_up(count);
            assert!(rounded >= count && 16 * (rounded - count) <= count && rounded >= before, "{count} {rounded}");
            before = rounded;
        }
        assert_eq!([31, 33, 1879, 353_778].map(rounded_up), [31, 34, 1920, 360_448]);
    }

    #[test]
    fn rows_hold_the_larger_count_and_incomplete_ones_are_left_out() {
        let mut numbers = Numbers::new("Cortex-M4F");
        for (at, metric) in METRICS.iter().enumerate() {
            numbers.add(&format!("commit 30 2 {metric} 1 7 0 {}\ncommit 30 2 {metric} 1 7 0 {}\n", 100 + at, 90 - at)).unwrap();
        }
        numbers.add("commit 30 2 ipc 1 9 0 500\ncommit 30 2 maestro 0 2 1 33\ncommit 30 2 maestro 0 5 0 52\n").unwrap();
        let text = table(&[numbers]);
        let mias = "
[cortex-m4f.mias]
columns = [\"scored\", \"generated\", \"mias-ipc\", \"mias-ipm-ipc\", \"mias-factor\", \"mias-linear\", \"worst\"]
rows = [
    { late = true, sms = 30, kernels = 2, counts = [[7, 0, 100, 104, 104, 104, 104]] },
]
";
        let maestro = "
[cortex-m4f.maestro]
columns = [\"scored\", \"generated\", \"maestro\"]
rows = [
    { late = false, sms = 30, kernels = 2, counts = [[2, 1, 34], [5, 0, 52]] },
]
";
        assert!(text.contains(mias) && text.contains(maestro), "{text}");
        toml::from_str::<toml::Table>(&text).unwrap();
    }
}
