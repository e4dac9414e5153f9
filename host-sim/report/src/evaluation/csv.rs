//! Long form of `results.csv`: a number per line. docs/reference/results.md describes columns and
//! quantities.

use mias_lab::evaluate::energy::EnergyResult;
use mias_lab::evaluate::memory::{MemoryResult, SeriesResult};
use mias_lab::evaluate::queue::QueueResult;
use mias_lab::evaluate::requests::RequestsResult;
use mias_lab::evaluate::results::{
    AloneResult, ConfigurationResult, Evaluation, GroupResult, MetricValues, PolicyResult, StudyResult, SummaryRow,
};
use mias_lab::{csv_table, table};
use std::collections::BTreeMap;

/// Column headings.
pub const COLUMNS: [&str; 9] = ["experiment", "setting", "gpu", "kernels", "class", "subject", "name", "quantity", "value"];

/// Formats the table.
///
/// # Errors
/// As [`csv_table::text`].
pub fn render(evaluation: &Evaluation) -> csv::Result<String> {
    csv_table::text(COLUMNS, rows(evaluation))
}

/// Returns the table's rows.
pub(super) fn rows(evaluation: &Evaluation) -> Vec<[String; COLUMNS.len()]> {
    let mut lines = Lines::default();
    for study in &evaluation.studies {
        lines.study(study);
    }
    lines.rows
}

#[derive(Default)]
struct Lines {
    rows: Vec<[String; COLUMNS.len()]>,
    /// Subject of the next lines: experiment, setting, GPU, kernels, class, subject, name.
    about: [String; 7],
}

impl Lines {
    fn add(&mut self, quantity: &str, value: impl ToString) {
        let [experiment, setting, gpu, kernels, class, subject, name] = self.about.clone();
        self.rows.push([experiment, setting, gpu, kernels, class, subject, name, quantity.to_owned(), value.to_string()]);
    }

    /// Adds a line, unless the value is missing.
    fn number(&mut self, quantity: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.add(quantity, value);
        }
    }

    fn study(&mut self, study: &StudyResult) {
        let setting: Vec<String> = study.setting.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let setting = setting.join(" ");
        let about = |[kernels, class, subject, name]: [&str; 4]| {
            [&study.experiment, &setting, &study.gpu, kernels, class, subject, name].map(str::to_owned)
        };
        for kernel in &study.kernels {
            let name = match kernel.arrival_cycle {
                0 => kernel.name.clone(),
                cycle => format!("{}@{cycle}", kernel.name),
            };
            self.about = about([&kernel.name, "", "alone", &name]);
            self.alone(kernel);
        }
        for group in &study.groups {
            let kernels = group.kernels.join("+");
            self.about = about([&kernels, &group.class, "group", ""]);
            self.group(group);
            for point in &group.configurations {
                self.about = about([&kernels, &group.class, "configuration", &table::config(Some(&point.config))]);
                self.configuration(point);
            }
            for result in &group.policies {
                self.about = about([&kernels, &group.class, "policy", result.policy]);
                self.policy(result);
            }
        }
        for row in &study.requests {
            let name = format!("{} within {}", row.scheme, row.limit_cycles);
            self.about = about([&row.kernel, "", "requests", &name]);
            self.requests(row);
        }
        for row in &study.queue {
            self.about = about([&row.kernels.join("+"), "", "queue", row.policy]);
            self.queue(row);
        }
        for row in &study.summary {
            self.about = about(["", &row.class, "summary", &row.policy]);
            self.summary(row);
        }
    }

    /// Adds the results of placement requests, of one kernel or of all, under one scheme with one
    /// limit.
    fn requests(&mut self, row: &RequestsResult) {
        self.add("requests", row.requests);
        self.add("violations", row.violations);
        for (end, value) in ["low", "high"].into_iter().zip(row.violations_interval.into_iter().flatten()) {
            self.add(&format!("violations_{end}"), value);
        }
        self.add("late", row.late);
        self.number("first_cycles", row.first_cycles);
        self.number("full_cycles", row.full_cycles);
        self.number("overhead", row.overhead);
        self.number("drain_error", row.drain_error);
        self.add("drains_not_estimated", row.drains_not_estimated);
        self.number("registers", row.registers);
        self.add("registers_before", row.registers_before);
        for (technique, victims) in ["drained", "flushed", "switched"].into_iter().zip(row.victims) {
            self.add(technique, victims);
        }
    }

    /// Adds the results of a queue of launches.
    fn queue(&mut self, row: &QueueResult) {
        self.add("launches", row.launches);
        self.add("makespan_cycles", row.makespan_cycles);
        self.add("sequential_cycles", row.sequential_cycles);
        self.number("stp", row.stp);
        self.number("antt", row.antt);
        for (what, spread) in [("latency", row.latency), ("slowdown", row.slowdown)] {
            self.add(&format!("{what}_mean"), spread.mean);
            self.add(&format!("{what}_p95"), spread.p95);
            self.add(&format!("{what}_max"), spread.max);
        }
        self.number("urgent_latency_cycles", row.urgent_latency_cycles);
        self.number("energy_joules", row.energy_joules);
    }

    fn alone(&mut self, kernel: &AloneResult) {
        self.add("ipc", kernel.ipc);
        self.number("ipc_half_width", kernel.ipc_half_width);
        self.cycles("simulated_cycles", kernel.simulated_cycles);
        self.add("max_tbs", kernel.max_tbs);
        if kernel.arrival_cycle > 0 {
            self.add("arrival_cycle", kernel.arrival_cycle);
        }
        self.add("cycles", kernel.cycles);
        self.number("energy_joules", kernel.energy_joules);
        self.energy(kernel.energy.as_ref());
        self.issue_slots(&kernel.issue_slots);
        for (cycle, ipc) in &kernel.curve {
            self.add(&format!("ipc_at_{cycle}"), ipc);
        }
        for (tbs, ipc) in &kernel.scalability {
            self.add(&format!("ipc_of_{tbs}_tbs"), ipc);
        }
        self.met(kernel.memory.as_ref(), kernel.series.as_ref());
    }

    /// Adds a run's energy results beyond the sum.
    fn energy(&mut self, energy: Option<&EnergyResult>) {
        let Some(energy) = energy else { return };
        self.add("average_watts", energy.average_watts);
        self.add("leakage_share", energy.leakage_share);
        self.add("clock_share", energy.clock_share);
        self.add("without_leakage_joules", energy.without_leakage_joules);
        self.number("energy_delay_watts", energy.energy_delay_watts);
        self.number("energy_delay_without_leakage_watts", energy.energy_delay_without_leakage_watts);
    }

    /// Adds a run's memory pipeline results and its series.
    fn met(&mut self, memory: Option<&MemoryResult>, series: Option<&SeriesResult>) {
        if let Some(memory) = memory {
            self.number("l1_miss_rate", memory.l1_miss_rate);
            self.number("fails_per_access", memory.fails_per_access);
            self.number("lsu_stall_share", memory.lsu_stall_share);
            self.number("alu_utilization", memory.alu_utilization);
            self.each("l1_miss_rate", memory.kernels.iter().map(|kernel| kernel.l1_miss_rate));
            self.each("fails_per_access", memory.kernels.iter().map(|kernel| kernel.fails_per_access));
            self.each("accesses_per_kilocycle", memory.kernels.iter().map(|kernel| kernel.accesses_per_kilocycle));
        }
        let Some(series) = series else { return };
        for (quantity, of_kernels) in [("l1_accesses", &series.l1_accesses), ("warp_insts", &series.warp_insts)] {
            for (kernel, stretches) in of_kernels.iter().enumerate() {
                for (cycle, count) in (1..).map(|number| number * series.every_cycles).zip(stretches) {
                    self.add(&format!("{quantity}_{}_to_{cycle}", kernel + 1), count);
                }
            }
        }
    }

    fn group(&mut self, group: &GroupResult) {
        self.number("s_null", group.s_null);
        self.number("sequential_cycles", group.sequential_cycles.map(|cycles| cycles as f64));
        self.number("oracle_s", group.oracle.s.as_ref().map(|best| best.value));
        self.number("oracle_stp", group.oracle.stp.as_ref().map(|best| best.value));
        for (objective, best) in [("s", &group.oracle.s), ("stp", &group.oracle.stp)] {
            self.number(&format!("oracle_{objective}_half_width"), best.as_ref().and_then(|best| best.half_width));
            self.cycles(&format!("oracle_{objective}_rivals"), best.as_ref().map(|best| best.rivals as u64).filter(|&rivals| rivals > 0));
        }
    }

    fn configuration(&mut self, point: &ConfigurationResult) {
        self.metrics("", &point.metrics);
        point.half_widths.iter().for_each(|half| self.metrics("_half_width", half));
        self.cycles("simulated_cycles", point.simulated_cycles);
        self.each("ipc", point.ipc.iter().map(|&ipc| Some(ipc)));
        self.issue_slots(&point.issue_slots);
        self.number("energy_joules", point.energy_joules);
    }

    fn policy(&mut self, result: &PolicyResult) {
        if let Some(config) = &result.config {
            self.add("config", table::config(Some(config)));
        }
        self.add("derived", result.derived);
        self.add("too_late", result.too_late);
        if let Some(config) = &result.too_late_config {
            self.add("too_late_config", table::config(Some(config)));
        }
        self.metrics("", &result.metrics);
        self.half_widths(result);
        self.each("ipc", result.ipc.iter().map(|&ipc| Some(ipc)));
        self.each("normalized_ipc", result.normalized_ipc.iter().copied());
        for (kernel, latency) in (1..).zip(&result.latency) {
            self.add(&format!("priority_{kernel}"), latency.priority);
            for (quantity, cycles) in [
                ("first_tb_cycles", latency.first_tb_cycles),
                ("room_cycles", latency.room_cycles),
                ("all_tbs_cycles", latency.all_tbs_cycles),
                ("limit_cycles", latency.limit_cycles.map(u64::from)),
                ("room_in_time", latency.room_in_time.map(u64::from)),
                ("deadline_cycles", latency.deadline_cycles),
                ("end_cycles", latency.end_cycles),
                ("violated", latency.violated.map(u64::from)),
            ] {
                self.cycles(&format!("{quantity}_{kernel}"), cycles);
            }
        }
        self.number("regret_s", result.regret.s);
        self.number("regret_stp", result.regret.stp);
        self.number("end_to_end_regret_s", result.end_to_end_regret.s);
        self.number("end_to_end_regret_stp", result.end_to_end_regret.stp);
        self.add("transition_cycles", result.transition_cycles);
        self.number("in_place", result.in_place);
        self.number("sms_short_of_it", result.sms_short_of_it.map(f64::from));
        self.add("profile_cycles", result.profile_cycles);
        self.number("overhead", result.overhead);
        self.number("thrown_away", result.thrown_away);
        self.number("placement_cycles", result.placement_cycles.map(|cycles| cycles as f64));
        self.number("decision_cycles", result.decision_cycles.map(|cycles| cycles as f64));
        self.number("decision_cycles_in_run", result.decision_cycles_in_run.map(|cycles| cycles as f64));
        self.number("decision_cycle", result.decision_cycle.map(|cycle| cycle as f64));
        if let Some(ranking) = &result.ranking {
            self.number("kendall_s", ranking.kendall.s);
            self.number("kendall_stp", ranking.kendall.stp);
            self.number("spearman_s", ranking.spearman.s);
            self.number("spearman_stp", ranking.spearman.stp);
        }
        self.number("energy_joules", result.energy_joules);
        self.energy(result.energy.as_ref());
        self.number("makespan_cycles", result.makespan_cycles.map(|cycles| cycles as f64));
        self.number("makespan_speedup_sequential", result.makespan_speedup_sequential);
        self.number("makespan_speedup_left_over", result.makespan_speedup_left_over);
        self.number("makespan_speedup_left_over_reversed", result.makespan_speedup_left_over_reversed);
        self.met(result.memory.as_ref(), result.series.as_ref());
        self.issue_slots(&result.issue_slots);
    }

    fn summary(&mut self, row: &SummaryRow) {
        self.add("groups", row.groups);
        for (quantity, means) in &row.means {
            self.number(&format!("mean_{quantity}"), means.arithmetic);
            self.number(&format!("geomean_{quantity}"), means.geometric);
            self.number(&format!("mean_{quantity}_half_width"), means.half_width);
        }
        self.number("most_speedup", row.most_speedup);
        self.add("below_one", row.below_one);
        self.add("not_worth_sharing", row.not_worth_sharing);
        self.number("kernels_without_progress", row.kernels_without_progress.map(|kernels| kernels as f64));
        self.add("too_late", row.too_late);
        self.add("best_chosen_s", row.best_chosen.s);
        self.add("best_chosen_stp", row.best_chosen.stp);
        self.number("gamma_s", row.gamma.s);
        self.number("gamma_stp", row.gamma.stp);
    }

    /// Adds the metrics, with a suffix to their names.
    fn metrics(&mut self, of: &str, metrics: &MetricValues) {
        let MetricValues { speedup, stp, antt, fairness } = *metrics;
        for (quantity, value) in [("speedup", speedup), ("stp", stp), ("antt", antt), ("fairness", fairness)] {
            self.number(&format!("{quantity}{of}"), value);
        }
    }

    /// Adds the half-widths of a policy's run, if a run ended before its window.
    fn half_widths(&mut self, result: &PolicyResult) {
        if let Some(half) = &result.half_widths {
            self.metrics("_half_width", &half.metrics);
            self.each("ipc_half_width", half.ipc.iter().map(|&half| Some(half)));
            self.number("regret_s_half_width", half.regret.s);
            self.number("regret_stp_half_width", half.regret.stp);
            self.number("end_to_end_regret_s_half_width", half.end_to_end_regret.s);
            self.number("end_to_end_regret_stp_half_width", half.end_to_end_regret.stp);
        }
        self.cycles("simulated_cycles", result.simulated_cycles);
    }

    fn cycles(&mut self, quantity: &str, cycles: Option<u64>) {
        self.number(quantity, cycles.map(|cycles| cycles as f64));
    }

    /// Adds a quantity of each kernel, numbered from 1 in launch order.
    fn each(&mut self, quantity: &str, values: impl Iterator<Item = Option<f64>>) {
        for (at, value) in values.enumerate() {
            self.number(&format!("{quantity}_{}", at + 1), value);
        }
    }

    fn issue_slots(&mut self, slots: &BTreeMap<&'static str, f64>) {
        for (class, share) in slots {
            self.add(&format!("issue_slots_{class}"), share);
        }
    }
}
