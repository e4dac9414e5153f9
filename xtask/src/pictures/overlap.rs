//! Overlaps in a picture: text on a line, on other text or outside of the picture, an arrow through
//! a box, and two arrows that cross.

use super::canvas::{Area, Canvas, Point};

/// Least distance between a text and a line.
const MARGIN: i32 = 2;

/// Returns a line for each overlap.
pub(super) fn overlaps(canvas: &Canvas) -> Vec<String> {
    let mut found = Vec::new();
    let whole = Area::new(0, 0, canvas.size.0, canvas.size.1);
    let edges: Vec<(Point, Point)> = canvas.boxes.iter().chain(&canvas.frames).flat_map(|area| edges(*area)).collect();
    for (index, (text, area)) in canvas.texts.iter().enumerate() {
        if !contains(whole, *area) {
            found.push(format!("`{text}` is outside of the picture"));
        }
        if edges.iter().chain(&canvas.lines).any(|line| meet(grown(*area, MARGIN), around(*line))) {
            found.push(format!("`{text}` is on a line"));
        }
        let later = canvas.texts[index + 1..].iter().filter(|(_, other)| meet(*area, *other));
        found.extend(later.map(|(other, _)| format!("`{text}` is on `{other}`")));
    }
    for (index, line) in canvas.lines.iter().enumerate() {
        if canvas.boxes.iter().any(|area| meet(grown(*area, -1), around(*line))) {
            found.push(format!("{line:?} crosses a box"));
        }
        let later = canvas.lines[index + 1..].iter().filter(|other| cross(*line, **other));
        found.extend(later.map(|other| format!("{line:?} crosses {other:?}")));
    }
    for (index, area) in canvas.boxes.iter().enumerate() {
        let later = canvas.boxes[index + 1..].iter().filter(|other| meet(*area, **other));
        found.extend(later.map(|other| format!("{area:?} is on {other:?}")));
    }
    found
}

fn edges(area: Area) -> [(Point, Point); 4] {
    let [upper_left, upper_right] = [area.top(0), area.top(100)];
    let [lower_left, lower_right] = [area.bottom(0), area.bottom(100)];
    [(upper_left, upper_right), (lower_left, lower_right), (upper_left, lower_left), (upper_right, lower_right)]
}

/// Returns the smallest area with the line, which is horizontal or vertical.
fn around(((x, y), (to_x, to_y)): (Point, Point)) -> Area {
    Area::new(x.min(to_x), y.min(to_y), (x - to_x).abs(), (y - to_y).abs())
}

const fn grown(area: Area, by: i32) -> Area {
    Area::new(area.x - by, area.y - by, area.width + 2 * by, area.height + 2 * by)
}

/// Returns whether the areas have a point in common, be it of their edges.
const fn meet(one: Area, other: Area) -> bool {
    one.x <= other.x + other.width && other.x <= one.x + one.width && one.y <= other.y + other.height && other.y <= one.y + one.height
}

const fn contains(outer: Area, inner: Area) -> bool {
    outer.x <= inner.x
        && outer.y <= inner.y
        && inner.x + inner.width <= outer.x + outer.width
        && inner.y + inner.height <= outer.y + outer.height
}

/// Returns whether the lines cross, neither of them at its end.
fn cross(one: (Point, Point), other: (Point, Point)) -> bool {
    let [one, other] = [around(one), around(other)];
    let (flat, upright) = if one.height == 0 { (one, other) } else { (other, one) };
    let across = flat.x < upright.x && upright.x < flat.x + flat.width;
    across && upright.width == 0 && flat.height == 0 && upright.y < flat.y && flat.y < upright.y + upright.height
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{Anchor, Color};
    use super::*;

    fn of(draw: impl FnOnce(&mut Canvas)) -> Vec<String> {
        let mut canvas = Canvas::new((300, 100), "", "");
        draw(&mut canvas);
        overlaps(&canvas)
    }

    #[test]
    fn text_next_to_a_line_does_not_overlap() {
        let found = of(|canvas| {
            canvas.labeled_box(Area::new(10, 10, 80, 40), Color::Blue, "a", &[]);
            canvas.arrow(&[(90, 30), (150, 30)]);
            canvas.label((120, 22), Anchor::Middle, &["b"]);
        });
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn every_kind_of_overlap_is_found() {
        let wide = of(|canvas| canvas.labeled_box(Area::new(100, 10, 20, 40), Color::Blue, "too wide", &[]));
        assert_eq!(wide, ["`too wide` is on a line"]);
        let outside = of(|canvas| canvas.label((0, 50), Anchor::End, &["a"]));
        assert_eq!(outside, ["`a` is outside of the picture"]);
        let twice = of(|canvas| ["a", "b"].iter().for_each(|text| canvas.label((50, 50), Anchor::Middle, &[text])));
        assert_eq!(twice, ["`a` is on `b`"]);
        let through = of(|canvas| {
            canvas.swatch(Area::new(10, 10, 20, 20), Color::Gray);
            canvas.arrow(&[(0, 20), (50, 20)]);
        });
        assert_eq!(through, ["((0, 20), (50, 20)) crosses a box"]);
        let crossing = of(|canvas| {
            canvas.arrow(&[(0, 20), (50, 20)]);
            canvas.arrow(&[(20, 0), (20, 50)]);
        });
        assert_eq!(crossing.len(), 1);
        let boxes = of(|canvas| [10, 20].iter().for_each(|x| canvas.swatch(Area::new(*x, 10, 20, 20), Color::Gray)));
        assert_eq!(boxes.len(), 1);
    }
}
