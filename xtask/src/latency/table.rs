//! `firmware/decision-latency.toml`, from the measurements: what the simulation takes a decision's time from.

use super::numbers::{METRICS, Numbers};

/// The whole file.
pub(super) fn table(all: &[Numbers]) -> String {
    let mut text = String::from(
        "# Written by `cargo xtask latency`; the tests fail when it is not current. Do not edit it.
#
# Instructions of one decision, counted by QEMU as in docs/decision-latency.md: from the first instruction of the driver's interrupt
# handler to the one after the commit of the quotas. In it are the interrupt's events, the counters read, the decision, the generation
# of a second round if there is one, the quota writes and the commit. Not in it is the processor's entry into the interrupt.
#
# Every kernel drains in the interrupt, too. Scores rise from configuration to configuration, the longest way through the choice; where a
# second round is generated they also rise to the middle and fall, which leaves neighbours on both sides, and the larger count stands.
#
# late        false: the windows of all SMs end in the interrupt, and thread instructions count
#             true: the time-out comes in it, with the end of all windows but one and the start of that one; warp instructions count
# sms         SMs of the machine; 16 and 30 with the image for 32 SMs, 80 and 132 with the one for 132
# kernels     scheduled together
# scored      configurations profiled so far, of both rounds
# generated   configurations that there are, where the decision ends with a second round; 0 where it ends with the broadcast
# worst       the largest of the four metrics
#
# Counts are rounded up, by less than a sixteenth, so that what is simulated does not change with every instruction of the firmware; the
# page has them as they are.
",
    );
    for numbers in all {
        text += &format!("\n{} = [\n", name(numbers.core));
        for ((late, sms, kernels, scored, generated), counts) in &numbers.commits {
            // A second round of neighbours has as many as there are around the best, which is not the same for all.
            let Some(longest) = METRICS.iter().map(|metric| longest(counts, metric).map(rounded_up)).collect::<Option<Vec<u64>>>() else {
                continue;
            };
            text += &format!("    {{ late = {late}, sms = {sms}, kernels = {kernels}, scored = {scored}, generated = {generated}");
            for (metric, count) in METRICS.iter().zip(&longest) {
                text += &format!(", {metric} = {count}");
            }
            text += &format!(", worst = {} }},\n", longest.iter().max().copied().unwrap_or_default());
        }
        text += "]\n";
    }
    text
}

/// The largest count of a metric; none if it was not measured.
fn longest(counts: &[(String, u64)], metric: &str) -> Option<u64> {
    counts.iter().filter(|(of, _)| of == metric).map(|(_, count)| *count).max()
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
        numbers.add("commit 30 2 ipc 1 9 0 500\n").unwrap();
        let text = table(&[numbers]);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("    {")).collect();
        assert_eq!(
            rows,
            [
                "    { late = true, sms = 30, kernels = 2, scored = 7, generated = 0, ipc = 100, ipm-ipc = 104, factor = 104, linear = 104, worst = 104 },"
            ]
        );
        assert!(text.contains("\ncortex-m4f = [\n"));
        toml::from_str::<toml::Table>(&text).unwrap();
    }
}
