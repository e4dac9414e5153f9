//! `firmware/decision-latency.toml`, from the measurements: what the simulation takes a decision's time from.

use super::numbers::{METRICS, Numbers, others};

/// A list of rows: what the file calls it, and of each column what it is called by the file and by the bench.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

/// The four metrics, which decide in the same situations.
const MIAS: Group =
    ("mias", &[("mias-ipc", METRICS[0]), ("mias-ipm-ipc", METRICS[1]), ("mias-factor", METRICS[2]), ("mias-linear", METRICS[3])]);

/// The whole file.
pub(super) fn table(all: &[Numbers]) -> String {
    let mut text = String::from(
        "# Written by `cargo xtask latency`; the tests fail when it is not current. Do not edit it.
#
# Instructions of one decision, counted by QEMU as in docs/decision-latency.md: from the first instruction of the driver's interrupt
# handler to the one after the commit of the quotas. In it are the interrupt's events, the counters read, the decision, the generation
# of a second round if there is one, the quota writes and the commit. Not in it is the processor's entry into the interrupt.
#
# A table per core; in it a list of the four metrics of MIAS and one of each other policy, by the names that users type.
#
# late        false: the windows of all SMs end in the interrupt, and thread instructions count
#             true: the time-out comes in it, with the end of all windows but one and the start of that one; warp instructions count
# sms         SMs of the machine; 16 and 30 with the image for 32 SMs, 80 and 132 with the one for 132
# kernels     scheduled together
# scored      configurations profiled so far, of both rounds
# generated   configurations that there are, where the decision ends with a second round; 0 where it ends with the last quotas
# worst       the largest of MIAS' four metrics
#
# Every kernel drains in the interrupt, too. Of several counts for the same row the largest stands:
#
# mias-*                  Scores rise from configuration to configuration, the longest way through the choice; where a second round is
#                         generated they also rise to the middle and fall, which leaves neighbours on both sides.
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
    let others: Vec<_> = others().into_iter().map(|policy| (policy, [(policy, policy)])).collect();
    for numbers in all {
        text += &format!("\n[{}]\n", name(numbers.core));
        for (group, columns) in [MIAS].into_iter().chain(others.iter().map(|(policy, columns)| (*policy, &columns[..]))) {
            text += &format!("{} = [\n{}]\n", key(group), rows(numbers, columns));
        }
        text += &format!("placement = [\n{}]\n", placements(numbers));
        text += &format!("memory-limit = [\n{}]\n", memory_limits(numbers));
        text += &format!("context-control = [\n{}]\n", contexts(numbers));
        text += &format!("search = [\n{}]\n", searches(numbers));
        text += &format!("trial = [\n{}]\n", trials(numbers));
        text += &format!("victims = [\n{}]\n", victims(numbers));
    }
    text
}

/// A key of TOML, in quotes where it has to be.
fn key(name: &str) -> String {
    if name.contains('+') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The situations that all columns were measured in. A second round of neighbours has as many as there are around the best, which is
/// not the same for all metrics.
fn rows(numbers: &Numbers, columns: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for ((late, sms, kernels, scored, generated), counts) in &numbers.commits {
        let counted = columns.iter().map(|(_, bench)| longest(counts, bench).map(rounded_up));
        let Some(longest) = counted.collect::<Option<Vec<u64>>>() else { continue };
        text += &format!("    {{ late = {late}, sms = {sms}, kernels = {kernels}, scored = {scored}, generated = {generated}");
        for ((column, _), count) in columns.iter().zip(&longest) {
            text += &format!(", {} = {count}", key(column));
        }
        if columns.len() > 1 {
            text += &format!(", worst = {}", longest.iter().max().copied().unwrap_or_default());
        }
        text += " },\n";
    }
    text
}

/// A placement that looks for configurations.
fn placements(numbers: &Numbers) -> String {
    let mut text = String::new();
    for ((sms, kernels, configs, policy), at_once) in &numbers.partitions {
        let prepared = numbers.prepared.get(&(*sms, *kernels, *configs, policy.clone()));
        if let Some(prepared) = prepared.filter(|_| policy == METRICS[0]) {
            let [at_once, ready, ahead] = [*at_once, prepared.placement, prepared.ahead].map(rounded_up);
            text += &format!(
                "    {{ late = false, sms = {sms}, kernels = {kernels}, scored = 0, generated = {configs}, \
                 at-once = {at_once}, prepared = {ready}, ahead = {ahead} }},\n"
            );
        }
    }
    text
}

/// A look at the counters of memory issue.
fn memory_limits(numbers: &Numbers) -> String {
    let row = |(&(sms, kernels), &instructions): (&(u64, u64), &u64)| {
        let instructions = rounded_up(instructions);
        format!("    {{ late = false, sms = {sms}, kernels = {kernels}, scored = 0, generated = 0, memory-limit = {instructions} }},\n")
    };
    numbers.memory.iter().map(row).collect()
}

/// A look at how busy the chip was.
fn contexts(numbers: &Numbers) -> String {
    let row = |(&kernels, &instructions): (&u64, &u64)| {
        let instructions = rounded_up(instructions);
        format!("    {{ late = false, sms = 0, kernels = {kernels}, scored = 0, generated = 0, context-control = {instructions} }},\n")
    };
    numbers.contexts.iter().map(row).collect()
}

/// A step of a search.
fn searches(numbers: &Numbers) -> String {
    let row = |(&(sms, kernels), &instructions): (&(u64, u64), &u64)| {
        let instructions = rounded_up(instructions);
        format!("    {{ late = false, sms = {sms}, kernels = {kernels}, scored = 0, generated = 0, search = {instructions} }},\n")
    };
    numbers.searches.iter().map(row).collect()
}

/// A step of trials, and the placement before them.
fn trials(numbers: &Numbers) -> String {
    let row = |(&(sms, kernels), &(step, first)): (&(u64, u64), &(u64, u64))| {
        let [step, first] = [step, first].map(rounded_up);
        format!(
            "    {{ late = false, sms = {sms}, kernels = {kernels}, scored = 0, generated = 0, trial = {step}, first-trial = {first} }},\n"
        )
    };
    numbers.trials.iter().map(row).collect()
}

/// A selection of victims.
fn victims(numbers: &Numbers) -> String {
    let mut text = String::new();
    for ((_, sms, tbs), shieh) in numbers.victims.iter().filter(|((scheme, ..), _)| scheme == "shieh") {
        let chimera = numbers.victims.get(&("chimera".to_owned(), *sms, *tbs)).copied().unwrap_or_default();
        let [shieh, chimera] = [*shieh, chimera].map(rounded_up);
        text += &format!(
            "    {{ late = false, sms = {sms}, kernels = {tbs}, scored = 0, generated = 0, shieh = {shieh}, chimera = {chimera} }},\n"
        );
    }
    text
}

/// The largest count of a metric or policy; none if it was not measured.
fn longest(counts: &[(String, u64)], name: &str) -> Option<u64> {
    counts.iter().filter(|(of, _)| of == name).map(|(_, count)| *count).max()
}

/// The least number with five significant bits that is not smaller.
fn rounded_up(count: u64) -> u64 {
    let significant = u64::BITS - count.leading_zeros();
    count.next_multiple_of(1 << significant.saturating_sub(5))
}

/// The core as the machine files call it.
fn name(core: &str) -> String {
    core.to_lowercase()
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
        numbers.add("commit 30 2 ipc 1 9 0 500\ncommit 30 2 maestro 0 2 1 33\n").unwrap();
        let text = table(&[numbers]);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("    {")).collect();
        assert_eq!(
            rows,
            [
                "    { late = true, sms = 30, kernels = 2, scored = 7, generated = 0, mias-ipc = 100, mias-ipm-ipc = 104, mias-factor = 104, mias-linear = 104, worst = 104 },",
                "    { late = false, sms = 30, kernels = 2, scored = 2, generated = 1, maestro = 34 },",
            ]
        );
        assert!(text.contains("\n[cortex-m4f]\nmias = [\n") && text.contains("\nmaestro = [\n"));
        toml::from_str::<toml::Table>(&text).unwrap();
    }
}
