//! Phases of the scheduler and the events between them (`firmware/src/scheduler/`).
//!
//! A test compares the arrows with the generated part of `docs/porting/state-machine.md`.

use super::canvas::{Anchor, Area, Canvas, Color, Point};

/// The phases of an attempt, from top to bottom, with what they mean.
const ATTEMPT: [(&str, &str); 5] = [
    ("transition", "no SM holds its quotas yet"),
    ("profile", "SMs count, one window each"),
    ("decide", "counters are read and scored"),
    ("broadcast", "the chosen quotas are written"),
    ("steady", "kernels run"),
];

/// Events between these phases, with their conditions.
const EVENTS: [&str; 4] = ["PartitionReached: the first SM", "ProfileDone: all SMs, or Timer", "CountersRead: decided", "BroadcastDone"];

/// Distance between the rows of the phases of an attempt.
const ROW: i32 = 92;
const FIRST: i32 = 44;
const HEIGHT: i32 = 48;

const PARTITION: Area = Area::new(10, FIRST, 190, 104);
const IDLE: Area = Area::new(10, FIRST + 4 * ROW, 190, HEIGHT);
const FRAME: Area = Area::new(340, 10, 452, FIRST + 4 * ROW + HEIGHT + 4);

pub(super) fn draw() -> Canvas {
    let mut canvas = Canvas::new(
        (800, FRAME.y + FRAME.height + 10),
        "Phases of the scheduler",
        "Launched leads from idle to partition. When its timer expires, partition leads to transition, or to broadcast if there is \
         nothing to profile. PartitionReached leads from transition to profile, ProfileDone of the last SM or the timer to decide, \
         CountersRead to broadcast, or back to transition for the next round, and BroadcastDone to steady. In each of these five \
         phases a launch or a completion leads back to partition, and the last completion to idle.",
    );
    canvas.frame(FRAME, "Any of these phases");
    for ((name, meaning), row) in ATTEMPT.iter().zip(0..) {
        canvas.labeled_box(phase(row), if *name == "steady" { Color::Gray } else { Color::Blue }, name, &[meaning]);
    }
    canvas.labeled_box(PARTITION, Color::Blue, "partition", &["launches are collected,", "configurations listed"]);
    canvas.labeled_box(IDLE, Color::Gray, "idle", &["no kernel; after reset"]);

    for (event, row) in EVENTS.iter().zip(0..) {
        let ((x, y), to) = (phase(row).bottom(15), phase(row + 1).top(15));
        canvas.arrow(&[(x, y), to]);
        canvas.label((x + 12, y + 26), Anchor::Start, &[event]);
    }
    more_to_try(&mut canvas);
    from_partition(&mut canvas);
    back_from_all(&mut canvas);
    canvas
}

const fn phase(row: i32) -> Area {
    Area::new(370, FIRST + row * ROW, 250, HEIGHT)
}

/// Draws the arrow from decide back to transition.
fn more_to_try(canvas: &mut Canvas) {
    let (decide, transition) = (phase(2).right(50), phase(0).right(50));
    let x = 672;
    canvas.arrow(&[decide, (x, decide.1), (x, transition.1), transition]);
    canvas.label((x + 10, phase(1).y + 12), Anchor::Start, &["CountersRead:", "next round"]);
}

fn from_partition(canvas: &mut Canvas) {
    let (transition, broadcast) = (phase(0).left(50), phase(3).left(50));
    canvas.arrow(&[(PARTITION.right(0).0, transition.1), transition]);
    canvas.label((208, transition.1 - 25), Anchor::Start, &["Timer:", "profiling"]);
    let x = PARTITION.bottom(97).0;
    canvas.arrow(&[(x, PARTITION.bottom(0).1), (x, broadcast.1), broadcast]);
    canvas.label((x + 10, broadcast.1 - 26), Anchor::Start, &["Timer:", "no profiling"]);
    let [up, down]: [Point; 2] = [IDLE.top(36), PARTITION.bottom(48)];
    canvas.arrow(&[up, (up.0, PARTITION.bottom(0).1)]);
    canvas.label((up.0 - 6, 272), Anchor::End, &["Launched"]);
    canvas.arrow(&[down, (down.0, IDLE.y)]);
    canvas.label((down.0 + 6, 264), Anchor::Start, &["Completed:", "none left"]);
}

/// Draws the arrows from every phase of an attempt back to partition or idle.
fn back_from_all(canvas: &mut Canvas) {
    let y = PARTITION.y + 76;
    canvas.arrow(&[(FRAME.x, y), (PARTITION.right(0).0, y)]);
    canvas.label((208, y + 20), Anchor::Start, &["Launched;", "Completed:", "others left"]);
    let y = IDLE.right(50).1;
    canvas.arrow(&[(FRAME.x, y), (IDLE.right(0).0, y)]);
    canvas.label((208, y + 20), Anchor::Start, &["Completed:", "none left"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::root;

    /// Returns the events of the picture's arrow between two phases.
    fn events(from: &str, to: &str) -> Option<&'static str> {
        let row = |name: &str| ATTEMPT.iter().position(|(known, _)| *known == name);
        match (from, to) {
            ("[*]", "idle") => Some(""),
            ("idle", "partition") => Some("Launched"),
            ("partition", "transition" | "broadcast") => Some("Timer"),
            (_, "partition") if row(from).is_some() => Some("Completed, Launched"),
            _ => row(from).filter(|at| row(to) == Some(at + 1)).map(|at| EVENTS[at]),
        }
    }

    #[test]
    fn the_picture_has_the_arrows_of_the_generated_diagram() {
        let page = std::fs::read_to_string(root().join("docs/porting/state-machine.md")).unwrap();
        let (_, diagram) = page.split_once("stateDiagram-v2").unwrap();
        let (diagram, _) = diagram.split_once("```").unwrap();
        let mut arrows = 0;
        for line in diagram.lines().filter(|line| line.contains("-->")) {
            let (from, rest) = line.trim().split_once(" --> ").unwrap();
            let (to, event) = rest.split_once(": ").unwrap_or((rest, ""));
            let drawn = events(from, to).unwrap_or_default();
            assert!(drawn.contains(event) && events(from, to).is_some(), "{line}: the picture has `{drawn}`");
            arrows += 1;
        }
        assert!(arrows > ATTEMPT.len());
    }
}
