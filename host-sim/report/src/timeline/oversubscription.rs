//! Context switches by SM: movements in and out with their duration, and the number of suspended
//! warps with the number of extra TBs (Lin et al. 2018, figure 8).

use super::{OVERSUBSCRIPTION, Timeline};
use mias_hw_model::sm::{CONTEXT_STORAGE, ContextEvent, MovedContext};
use mias_lab::experiment::gpu_runner::Outcome;
use mias_lab::experiment::workload::Workload;
use serde_json::{Value, json};

/// Maximum number of logged movements of a run, over all SMs (assumption: some 60 MB of JSON).
/// Further ones are left out, and the document states their number.
pub const MOST_CONTEXT_NOTES: usize = 1 << 18;

impl Timeline {
    /// Adds each movement on the track of its SM, where they follow each other, and a counter of
    /// each SM.
    pub(super) fn oversubscription(&mut self, outcome: &Outcome, workloads: &[Workload]) {
        if outcome.context_log.sms.iter().all(Vec::is_empty) {
            return;
        }
        let name = json!({ "name": "contexts by SM" });
        self.events.push(json!({ "ph": "M", "name": "process_name", "pid": OVERSUBSCRIPTION, "tid": 0, "args": name }));
        for (sm, notes) in outcome.context_log.sms.iter().enumerate() {
            for note in notes {
                let ts = self.microseconds(note.cycle);
                let event = match note.event {
                    ContextEvent::Moves { launch, out, into, cycles } => {
                        let kernel = workloads.get(launch as usize).map_or("", |workload| workload.name.as_str());
                        let args = json!({
                            "kernel": kernel,
                            "cycle": note.cycle,
                            "cycles": cycles,
                            "out": out.as_ref().map(|context| moved(context, "to")),
                            "in": into.as_ref().map(|context| moved(context, "from")),
                        });
                        let title = title(out.as_ref(), into.as_ref());
                        json!({ "ph": "X", "name": title, "pid": OVERSUBSCRIPTION, "tid": sm, "ts": ts, "dur": self.microseconds(cycles), "args": args })
                    }
                    ContextEvent::Holds { absent_warps, extra_tbs } => {
                        let args = json!({ "warps absent": absent_warps, "extra TBs": extra_tbs });
                        json!({ "ph": "C", "name": format!("SM {sm:03}"), "pid": OVERSUBSCRIPTION, "ts": ts, "args": args })
                    }
                };
                self.events.push(event);
            }
        }
    }
}

/// Describes the moved contexts in words.
fn title(out: Option<&MovedContext>, into: Option<&MovedContext>) -> String {
    let who = |context: &MovedContext| match context.warp {
        Some(warp) => format!("TB {} warp {warp}", context.tb),
        None => format!("TB {}", context.tb),
    };
    let out = out.map(|context| format!("{} out", who(context)));
    let into = into.map(|context| format!("{} in", who(context)));
    out.into_iter().chain(into).collect::<Vec<_>>().join(", ")
}

/// Returns one context: its kernel, its size, and its storage while switched out.
fn moved(context: &MovedContext, way: &str) -> Value {
    let parts = CONTEXT_STORAGE.iter().zip(context.bytes).filter(|(_, bytes)| *bytes > 0);
    let storage: Vec<&str> = parts.map(|(name, _)| *name).collect();
    json!({ "tb": context.tb, "warp": context.warp, "bytes": context.bytes.iter().sum::<u32>(), way: storage })
}
