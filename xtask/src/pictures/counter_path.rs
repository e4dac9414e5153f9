//! Path of a counter from an event in an SM to the decision, and of the decision back to the SMs.
//!
//! The steps are those of "Path of a counter" in `docs/explanation/architecture.md`.

use super::canvas::{Anchor, Area, Canvas, Color, Point};

const WIDTH: i32 = 290;
const HEIGHT: i32 = 64;
/// Left edges of the columns: counters go down, quotas go up.
const LEFT: i32 = 40;
const RIGHT: i32 = 470;
/// Upper edges of the rows.
const ROWS: [i32; 4] = [36, 178, 320, 432];

/// Parts of the project: upper edge, height, name.
const PARTS: [(i32, i32, &str); 3] = [(6, 106, "GPU model"), (148, 106, "Register block"), (290, 218, "Firmware")];

/// Boxes of both columns, from the top: color, name, lines.
const DOWN: [(Color, &str, [&str; 2]); 4] = [
    (Color::Green, "SM counters", ["64 bits, never cleared;", "summed over kernel slots"]),
    (Color::Gray, "Latch", ["count of the SM's window,", "saturated to its width"]),
    (Color::Gold, "Driver reads", ["counters that the policy names,", "added per configuration"]),
    (Color::Gold, "Metric", ["score of each configuration,", "in exact integers"]),
];
const UP: [(Color, &str, [&str; 2]); 4] = [
    (Color::Green, "TB issue", ["one TB per SM and cycle,", "within the SM's quotas"]),
    (Color::Gray, "Quota registers", ["staged for all SMs,", "in effect after COMMIT"]),
    (Color::Gold, "Driver writes", ["quotas of each kernel slot,", "then COMMIT"]),
    (Color::Gold, "Scheduler", ["chooses a configuration;", "decide, then broadcast"]),
];

pub(super) fn draw() -> Canvas {
    let mut canvas = Canvas::new(
        (800, 514),
        "Path of a counter",
        "An SM counts an event. At the end of its window the register block latches the count and raises the interrupt PROFILE_DONE. The \
         driver reads the latched counters and adds them per configuration. The metric scores the configurations, and the scheduler \
         chooses one. The driver writes its quotas and COMMIT. The register block hands them to the SMs in SM order, and TB issue follows \
         them.",
    );
    for (y, height, name) in PARTS {
        canvas.frame(Area::new(6, y, 788, height), name);
    }
    for (row, y) in ROWS.iter().enumerate() {
        for (x, (color, name, lines)) in [(LEFT, DOWN[row]), (RIGHT, UP[row])] {
            canvas.labeled_box(Area::new(x, *y, WIDTH, HEIGHT), color, name, &lines);
        }
    }
    let [down, up] = [LEFT, RIGHT].map(|x| ROWS.map(|y| Area::new(x, y, WIDTH, HEIGHT)));
    let mut step = |from: Point, to: Point, text: &str| {
        canvas.arrow(&[from, to]);
        canvas.label((from.0 + 12, from.1.min(to.1) + 34), Anchor::Start, &[text]);
    };
    step(down[0].bottom(50), down[1].top(50), "end of the SM's window");
    step(down[1].bottom(50), down[2].top(50), "PROFILE_DONE, read32");
    step(down[2].bottom(50), down[3].top(50), "CountersRead");
    step(up[3].top(50), up[2].bottom(50), "ApplyQuotas");
    step(up[2].top(50), up[1].bottom(50), "write32");
    step(up[1].top(50), up[0].bottom(50), "broadcast, in SM order");
    let mut across = |from: Point, to: Point, text: &str| {
        canvas.arrow(&[from, to]);
        canvas.label(((from.0 + to.0) / 2, from.1 - 8), Anchor::Middle, &[text]);
    };
    across(down[3].right(50), up[3].left(50), "scores");
    across(up[0].left(50), down[0].right(50), "TBs run");
    canvas
}
