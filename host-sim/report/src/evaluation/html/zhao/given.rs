//! Results of policies for tests, by the few numbers that matter.

use mias_lab::evaluate::results::PolicyResult;
use serde_json::json;

/// STP, IPC of each kernel, and joules.
pub(super) fn result(policy: &str, stp: f64, ipc: &[f64], joules: f64) -> PolicyResult {
    let none = json!({ "s": null, "stp": null });
    let fields = json!({
        "policy": policy, "run": "0", "derived": false, "config": null, "placement": [], "speedup": null, "stp": stp, "antt": null, "fairness": null,
        "ipc": ipc, "normalized_ipc": ipc, "too_late": false, "regret": none, "end_to_end_regret": none, "transition_cycles": 0, "in_place": null,
        "sms_short_of_it": null, "profile_cycles": 0, "overhead": null, "decision_cycles": null, "decision_cycles_in_run": null,
        "decision_cycle": null, "ranking": null, "issue_slots": {}, "energy_joules": joules, "makespan_cycles": null,
        "makespan_speedup_sequential": null, "makespan_speedup_left_over": null, "makespan_speedup_left_over_reversed": null,
    });
    serde_json::from_value(fields).expect("a result")
}
