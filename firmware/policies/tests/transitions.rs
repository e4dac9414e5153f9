//! State machine as a page: the effect of every event in every phase, and its diagram, in
//! docs/porting/state-machine.md. The page is generated from the machine itself, so a changed page
//! is a changed machine. To write it: `MIAS_WRITE=1 cargo test -p mias-policies --test integration
//! transitions`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::bodies::scheduling::SEARCH;
use crate::phases::{COALESCE, LATE, events, in_phase, kernel, scheduler};
use mias_firmware::scheduler::{Command, EVENTS_TO_REST, Event, Scheduler};
use mias_policies::policy::{CdSearch, Mode, SearchPolicy, Searching};
use mias_registers::PhaseCode;

/// Returns the name of a command or an event, which precedes its data.
fn name(debug: &str) -> &str {
    debug.split(['(', ' ', '{']).next().unwrap_or(debug)
}

/// Returns a scheduler in every phase of a search's step: settling, measuring, and deciding.
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

/// Page with the regions.
const PAGE: &str = "docs/porting/state-machine.md";
/// Ends a region.
const END: &str = "<!-- end generated -->";

/// Returns the generated regions of the page, each after its mark.
fn regions() -> [(&'static str, String); 2] {
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
    [
        ("<!-- generated: transitions -->", format!("{matrix}\n```mermaid\n{drawing}```\n")),
        ("<!-- generated: search -->", search_matrix(&names)),
    ]
}

/// Returns the page with both regions as the machine gives them.
fn current(page: &str) -> String {
    regions().into_iter().fold(page.to_owned(), |page, (begin, region)| {
        let (before, rest) = page.split_once(begin).unwrap_or_else(|| panic!("{PAGE} has no {begin}"));
        let (_, after) = rest.split_once(END).expect("the end of the region");
        format!("{before}{begin}\n\n{region}\n{END}{after}")
    })
}

/// Returns the matrix of a search's step.
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let written = std::fs::read_to_string(&path).expect("the page");
    let current = current(&written);
    if std::env::var_os("MIAS_WRITE").is_some() {
        std::fs::write(&path, &current).expect("the page can be written");
    }
    assert!(written == current, "{PAGE} is not what the machine does; see the head of this file");
}

/// The page's matrix with the data of events and commands, which do not fit on the page.
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

/// The longest way back to rest without new events: two rounds and four of trials, and the driver's
/// answers in between. Every phase is at rest after at most its distance here.
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
