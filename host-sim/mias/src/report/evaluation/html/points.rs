//! Charts of points: curves over time, dots in a plane, dots by category.

use super::bars::WIDTH;
use super::names::Names;
use super::palette::INK;
use super::svg::{Anchor, Frame, Scale, Svg, Unit};
use maud::Markup;

/// A curve.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) colour: &'static str,
    pub(super) dash: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// Curves over time, each named at its end.
pub(super) fn curves(label: &str, axes: (&str, &str), band: (f64, f64), curves: &[Curve]) -> Markup {
    let frame = Frame { left: 66.0, top: 14.0, width: WIDTH - 150.0, height: 300.0 };
    let mut svg = Svg::new(WIDTH, frame.bottom() + 44.0);
    let all = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let x = Scale::over(all().map(|point| point.0).chain([0.0]), frame.left, frame.right(), Unit::Plain);
    let y = Scale::over(all().map(|point| point.1).chain([0.0]), frame.bottom(), frame.top, Unit::Plain);
    let inside = |at: f64| x.at(at).clamp(frame.left, frame.right());
    svg.rect(inside(band.0), frame.top, inside(band.1) - inside(band.0), frame.height, "#eeeeee", "where the thesis sees IPC settle");
    svg.x_axis(frame, &x, axes.0);
    svg.y_axis(frame, &y, axes.1);
    let mut ends: Vec<(f64, &Curve)> = Vec::new();
    for curve in curves {
        let points: Vec<(f64, f64)> = curve.points.iter().map(|&(a, b)| (x.at(a), y.at(b))).collect();
        svg.polyline(&points, curve.colour, curve.dash, &curve.name);
        if let Some(end) = points.last() {
            ends.push((end.1, curve));
        }
    }
    // Names keep a line's distance from each other.
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = frame.top - 14.0;
    for (end, curve) in ends {
        lowest = (lowest + 14.0).max(end + 4.0);
        svg.polyline(&[(frame.right() + 1.0, end), (frame.right() + 12.0, lowest - 4.0)], curve.colour, curve.dash, &curve.name);
        svg.text((frame.right() + 15.0, lowest), Anchor::Start, "name", &curve.name);
    }
    svg.finish(label)
}

/// A dot.
#[derive(Clone, Debug)]
pub(super) struct Dot {
    pub(super) at: (f64, f64),
    pub(super) colour: &'static str,
    /// Class of the group, which decides the shape: circle, square, triangle.
    pub(super) shape: usize,
    pub(super) title: String,
}

impl Dot {
    fn draw(&self, svg: &mut Svg, (x, y): (f64, f64)) {
        const R: f64 = 4.2;
        match self.shape % 3 {
            0 => svg.circle((x, y), R, self.colour, &self.title),
            1 => svg.polygon(&[(x - R, y - R), (x + R, y - R), (x + R, y + R), (x - R, y + R)], self.colour, "dot", &self.title),
            _ => svg.polygon(&[(x, y - 1.25 * R), (x + 1.2 * R, y + R), (x - 1.2 * R, y + R)], self.colour, "dot", &self.title),
        }
    }
}

/// What a plane of dots shows besides the dots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane<'a> {
    pub(super) label: &'a str,
    pub(super) x_label: &'a str,
    pub(super) y_label: &'a str,
    /// A line where both coordinates are equal.
    pub(super) diagonal: bool,
    /// Lines at 1 on both axes.
    pub(super) ones: bool,
    /// Width in user units.
    pub(super) width: f64,
}

/// Dots in a plane.
pub(super) fn plane(plane: Plane<'_>, dots: &[Dot]) -> Markup {
    let frame = Frame { left: 60.0, top: 14.0, width: plane.width - 74.0, height: 0.72 * plane.width - 60.0 };
    let mut svg = Svg::new(plane.width, frame.bottom() + 44.0);
    let also = if plane.ones { vec![1.0] } else { Vec::new() };
    let both = |of: fn(&Dot) -> f64, other: fn(&Dot) -> f64| {
        let same = dots.iter().filter(|_| plane.diagonal).map(other);
        dots.iter().map(of).chain(same).chain(also.iter().copied()).collect::<Vec<f64>>()
    };
    let x = Scale::over(both(|d| d.at.0, |d| d.at.1).into_iter(), frame.left, frame.right(), Unit::Plain);
    let y = Scale::over(both(|d| d.at.1, |d| d.at.0).into_iter(), frame.bottom(), frame.top, Unit::Plain);
    svg.x_axis(frame, &x, plane.x_label);
    svg.y_axis(frame, &y, plane.y_label);
    if plane.diagonal {
        let (low, high) = (x.ticks.first().copied().unwrap_or_default(), x.ticks.last().copied().unwrap_or_default());
        svg.line((x.at(low), y.at(low)), (x.at(high), y.at(high)), "one", "equal");
    }
    if plane.ones {
        svg.line((x.at(1.0), frame.top), (x.at(1.0), frame.bottom()), "one", "1");
        svg.line((frame.left, y.at(1.0)), (frame.right(), y.at(1.0)), "one", "1");
    }
    for dot in dots {
        dot.draw(&mut svg, (x.at(dot.at.0), y.at(dot.at.1)));
    }
    svg.finish(plane.label)
}

/// A category with its dots, of which only the y coordinate counts.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    pub(super) name: String,
    pub(super) dots: Vec<Dot>,
    pub(super) mean: Option<f64>,
}

/// The names of strips in a chart so wide.
pub(super) fn names(strips: &[Strip], width: f64) -> Names<'_> {
    Names::new(strips.iter().map(|strip| strip.name.as_str()), (width - 70.0) / strips.len().max(1) as f64)
}

/// Dots by category, side by side in the order given, with the mean of each as a line.
pub(super) fn strips(label: &str, y_label: &str, unit: Unit, width: f64, strips: &[Strip]) -> Markup {
    let frame = Frame { left: 60.0, top: 14.0, width: width - 70.0, height: 230.0 };
    let names = names(strips, width);
    let mut svg = Svg::new(width, frame.bottom() + 8.0 + names.height());
    let values = strips.iter().flat_map(|strip| strip.dots.iter().map(|dot| dot.at.1));
    let y = Scale::over(values.chain([0.0]), frame.bottom(), frame.top, unit);
    svg.y_axis(frame, &y, y_label);
    let slot = frame.width / strips.len().max(1) as f64;
    for (number, strip) in strips.iter().enumerate() {
        let left = frame.left + slot * number as f64;
        let step = 0.76 * slot / strip.dots.len().max(1) as f64;
        for (place, dot) in strip.dots.iter().enumerate() {
            dot.draw(&mut svg, (left + 0.12 * slot + step * (place as f64 + 0.5), y.at(dot.at.1)));
        }
        if let Some(mean) = strip.mean {
            let shown = if unit == Unit::Percent { format!("{:.1} %", 100.0 * mean) } else { format!("{mean:.2}") };
            svg.line((left + 0.08 * slot, y.at(mean)), (left + 0.92 * slot, y.at(mean)), "mean", &format!("{}, mean: {shown}", strip.name));
            svg.text((left + 0.5 * slot, y.at(mean) - 6.0), Anchor::Middle, "value", &shown);
        }
    }
    names.draw(&mut svg, frame.left, frame.bottom());
    svg.line((frame.left, frame.bottom()), (frame.right(), frame.bottom()), "axis", "");
    svg.finish(label)
}

/// A legend of shapes: circle, square, triangle.
pub(super) fn shape(number: usize) -> Markup {
    let mut svg = Svg::new(12.0, 12.0);
    Dot { at: (0.0, 0.0), colour: INK, shape: number, title: String::new() }.draw(&mut svg, (6.0, 6.0));
    svg.finish("shape")
}
