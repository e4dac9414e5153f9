//! Contexts that are switched, SM by SM: what moves in and out and for how long, and how many warps are away beside how many extra TBs (Lin et al.
//! 2018, figure 8).

use super::{CONTEXTS, Timeline};
use mias_hw_model::sm::{CONTEXT_STORAGE, ContextEvent, MovedContext};
use mias_lab::experiment::gpu_runner::Outcome;
use mias_lab::experiment::workload::Workload;
use serde_json::{Value, json};

/// Notes of a run at most, of all SMs together (assumption: some 60 MB of JSON). What is beyond is left out, and the document says how many notes.
pub const MOST_CONTEXT_NOTES: usize = 1 << 18;

impl Timeline {
    /// Each move on the track of its SM, where one follows the other, and a counter of each SM.
    pub(super) fn contexts(&mut self, outcome: &Outcome, workloads: &[Workload]) {
        if outcome.context_log.sms.iter().all(Vec::is_empty) {
            return;
        }
        let name = json!({ "name": "contexts by SM" });
        self.events.push(json!({ "ph": "M", "name": "process_name", "pid": CONTEXTS, "tid": 0, "args": name }));
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
                        json!({ "ph": "X", "name": title, "pid": CONTEXTS, "tid": sm, "ts": ts, "dur": self.microseconds(cycles), "args": args })
                    }
                    ContextEvent::Holds { absent_warps, extra_tbs } => {
                        let args = json!({ "warps absent": absent_warps, "extra TBs": extra_tbs });
                        json!({ "ph": "C", "name": format!("SM {sm:03}"), "pid": CONTEXTS, "ts": ts, "args": args })
                    }
                };
                self.events.push(event);
            }
        }
    }
}

/// Who moves, in words.
fn title(out: Option<&MovedContext>, into: Option<&MovedContext>) -> String {
    let who = |context: &MovedContext| match context.warp {
        Some(warp) => format!("TB {} warp {warp}", context.tb),
        None => format!("TB {}", context.tb),
    };
    let out = out.map(|context| format!("{} out", who(context)));
    let into = into.map(|context| format!("{} in", who(context)));
    out.into_iter().chain(into).collect::<Vec<_>>().join(", ")
}

/// One context: whose, how much, and where it lies while it is not in its place.
fn moved(context: &MovedContext, way: &str) -> Value {
    let parts = CONTEXT_STORAGE.iter().zip(context.bytes).filter(|(_, bytes)| *bytes > 0);
    let storage: Vec<&str> = parts.map(|(name, _)| *name).collect();
    json!({ "tb": context.tb, "warp": context.warp, "bytes": context.bytes.iter().sum::<u32>(), way: storage })
}
