//! The state machine as a page: what every event does in every phase, and the drawing of it, in docs/state-machine.md. The page is
//! made from the machine itself; a change of it is a change of the machine. To write it: `MIAS_WRITE=1 cargo test -p
//! mias-policies --test integration transitions`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::bodies::scheduling::SEARCH;
use crate::phases::{COALESCE, LATE, events, in_phase, kernel, scheduler};
use mias_firmware::scheduler::{Command, EVENTS_TO_REST, Event, Scheduler};
use mias_policies::policy::{CdSearch, Mode, SearchPolicy, Searching};
use mias_registers::PhaseCode;

/// Name of a command or an event: what comes before its data.
fn name(debug: &str) -> &str {
    debug.split(['(', ' ', '{']).next().unwrap_or(debug)
}

/// A scheduler in every phase of a search's step: settling, measuring, and deciding.
pub(crate) fn in_search() -> [(&'static str, Scheduler<Searching, 64>); 4] {
    let mut applying = scheduler(Searching::new(SearchPolicy::CdSearch(CdSearch::new(Mode::Chosen))));
    applying.policy_mut().state.parameters = SEARCH;
    (0..2).for_each(|slot| drop(applying.handle(Event::Launched(kernel(slot, 256)), 0)));
    applying.handle(Event::Timer, COALESCE);
    let after = |mut s: Scheduler<Searching, 64>| {
        let deadline = s.phase().deadline().expect("it waits");
        s.handle(Event::Timer, deadline);
        s
    };
    let settling = after(applying.clone());
    let measuring = after(settling.clone());
    let deciding = after(measuring.clone());
    [("transition, asked for", applying), ("transition", settling), ("profile", measuring), ("decide", deciding)]
}

fn page() -> String {
    let names: Vec<String> = events().iter().map(|event| name(&format!("{event:?}")).to_owned()).collect();
    let mut matrix = format!("| phase | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let mut arrows: BTreeMap<(PhaseCode, PhaseCode), BTreeSet<String>> = BTreeMap::new();
    for from in PhaseCode::ALL {
        matrix += &format!("| **{}** |", from.name());
        for (event, event_name) in events().into_iter().zip(&names) {
            let mut scheduler = in_phase(from);
            let commands = scheduler.handle(event, LATE);
            let to = scheduler.phase().code();
            let asked: Vec<String> =
                commands.iter().map(|command| name(&format!("{command:?}")).to_owned()).filter(|name| name != "SetPhase").collect();
            if to != from {
                arrows.entry((from, to)).or_default().insert(event_name.clone());
            }
            let cell = match (to == from, asked.is_empty()) {
                (true, true) => "-".to_owned(),
                (true, false) => asked.join(", "),
                (false, true) => format!("**{}**", to.name()),
                (false, false) => format!("**{}**: {}", to.name(), asked.join(", ")),
            };
            matrix += &format!(" {cell} |");
        }
        matrix += "\n";
    }
    let mut drawing = String::from("stateDiagram-v2\n    [*] --> idle\n");
    for ((from, to), by) in arrows {
        drawing += &format!("    {} --> {}: {}\n", from.name(), to.name(), by.into_iter().collect::<Vec<_>>().join(", "));
    }
    let search = search_matrix(&names);
    format!(
        "# The scheduler's state machine\n\nWritten by the test `firmware/policies/tests/transitions.rs` from the machine itself; the test says how. Do not edit it.\n\n\
         Each row is a phase, each column an event. A cell holds the phase that follows, if it is another one, and the commands that the driver gets.\n\
         `SetPhase`, which every change of phase brings, is left out.\n\n\
         The machine is MIAS with two kernels and three configurations on six SMs. The launch is that of a third kernel. The kernel that is drained or\n\
         completed is the first of the two. One SM of the six reports. No counter was added when the decision is made, so it falls back to Left-over.\n\
         With samples, the decision leads to `broadcast`, or to `transition` for a second round.\n\n\
         {matrix}\n```mermaid\n{drawing}```\n\n\
         ## While a search goes on\n\n\
         Classification-driven search with the same kernels, in the step that measures the even split ([policies.md](policies.md#classification-driven-search)).\n\
         The phase register shows `transition` until the shares are in effect and while they settle, and `profile` while kernels are measured. Nothing was counted when the decision is made, so\n\
         that no kernel is memory-intensive and the search is over; else it leads to `transition` for the next step.\n\n\
         {search}"
    )
}

/// The same matrix of a search's step.
fn search_matrix(names: &[String]) -> String {
    let mut matrix = format!("| phase | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for (phase, scheduler) in in_search() {
        matrix += &format!("| **{phase}** |");
        for event in events() {
            let mut scheduler = scheduler.clone();
            let from = scheduler.phase().code();
            let commands = scheduler.handle(event, LATE);
            let told = commands.iter().map(|command| match command {
                Command::Search(command) => name(&format!("{command:?}")).to_owned(),
                command => name(&format!("{command:?}")).to_owned(),
            });
            let asked = told.filter(|name| name != "SetPhase").collect::<Vec<_>>().join(", ");
            let to = scheduler.phase().code();
            matrix += &match (to == from, asked.is_empty()) {
                (true, true) => " - |".to_owned(),
                (true, false) => format!(" {asked} |"),
                (false, true) => format!(" **{}** |", to.name()),
                (false, false) => format!(" **{}**: {asked} |", to.name()),
            };
        }
        matrix += "\n";
    }
    matrix
}

#[test]
fn the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/state-machine.md");
    if std::env::var_os("MIAS_WRITE").is_some() {
        std::fs::write(&path, page()).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "docs/state-machine.md is not what the machine does; see the head of this file");
}

/// The page's matrix with the data of events and commands, for which a page has no room.
#[test]
fn the_state_matrix_is_as_before() {
    let mut matrix = String::new();
    for from in PhaseCode::ALL {
        for event in events() {
            let mut scheduler = in_phase(from);
            let commands = scheduler.handle(event, LATE);
            let told: String = commands.iter().map(|command| format!("\n    {command:?}")).collect();
            matrix += &format!("{}, {}: {}{told}\n", from.name(), name(&format!("{event:?}")), scheduler.phase().code().name());
        }
    }
    insta::assert_snapshot!(matrix);
}

/// The longest way back to rest, when nothing new comes: two rounds and four of trials, and the answers of the driver in between. Every phase is
/// at rest after no more events than its distance here.
#[test]
fn no_phase_is_further_from_rest_than_stated() {
    use PhaseCode::{Broadcast, Decide, Partition, Profile, Steady, Transition};
    let rounds = [Transition, Profile, Decide].repeat(2 + 4);
    let way = [&[Partition], &rounds[..], &[Broadcast, Steady]].concat();
    assert_eq!(way.len() - 1, EVENTS_TO_REST as usize);
    let answers = |phase| match phase {
        Partition | Profile => Event::Timer,
        Transition => events()[3],
        Decide => Event::CountersRead,
        _ => Event::BroadcastDone,
    };
    for from in PhaseCode::ALL.into_iter().filter(|phase| *phase != PhaseCode::Idle) {
        let mut scheduler = in_phase(from);
        let mut count = 0;
        while scheduler.phase().code() != Steady {
            scheduler.handle(answers(scheduler.phase().code()), LATE * (count + 1));
            count += 1;
            assert!(count <= u64::from(EVENTS_TO_REST), "{from:?}");
        }
    }
}
