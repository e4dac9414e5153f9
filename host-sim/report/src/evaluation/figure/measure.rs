//! Text measurement without a font, by the advance widths of DejaVu Sans, which is wider than
//! Helvetica, Arial, Segoe UI and Roboto. So text that fits here fits in any of the fonts of
//! [`super::drawing::FONTS`].

/// Size of all text in user units. A figure for a paper scales its units so that this is the
/// requested size in points.
pub(super) const TEXT: f64 = 12.0;

/// Distance between lines of text, in user units: more than ascent and descent.
pub(super) const LINE: f64 = 15.0;

/// Ascent of a line of text above its base line, in user units: 0.928 em in DejaVu Sans.
pub(super) const ASCENT: f64 = 0.93 * TEXT;

/// Descent below the base line: 0.236 em.
pub(super) const DESCENT: f64 = 0.24 * TEXT;

/// Advance widths from the blank to the tilde, in thousandths of an em: DejaVu Sans 2.37, table
/// `hmtx`.
#[rustfmt::skip]
const ADVANCES: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337,
    337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732,
    684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635,
    635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// Width of any other character, in thousandths of an em (assumption: none in a name is wider than
/// a wide ASCII letter).
const OTHER: u16 = 1000;

/// Returns the width of a text in user units.
pub(super) fn width(text: &str) -> f64 {
    let advance = |c: char| (c as usize).checked_sub(32).and_then(|at| ADVANCES.get(at)).copied().unwrap_or(OTHER);
    text.chars().map(|c| f64::from(advance(c))).sum::<f64>() * TEXT / 1000.0
}

/// Returns the largest of several widths; 0 without texts.
pub(super) fn widest<'t>(texts: impl Iterator<Item = &'t str>) -> f64 {
    texts.map(width).fold(0.0, f64::max)
}

/// Returns the text, or as much of its beginning as fits, with an ellipsis.
pub(super) fn elided(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut shown = String::new();
    for c in text.chars() {
        shown.push(c);
        if width(&shown) + width("\u{2026}") > room {
            shown.pop();
            break;
        }
    }
    shown + "\u{2026}"
}

/// Breaks the text at blanks into lines that fit; a word that does not fit has a line of its own,
/// elided.
pub(super) fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= room => *line = format!("{line} {word}"),
            _ => lines.push(elided(word, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 974 + 278 + 684 + 636 thousandths.
    #[test]
    fn widths_are_sums_of_advances() {
        assert!((width("miA0") - 2.572 * TEXT).abs() < 1e-9);
        assert_eq!((width(""), width("\u{2026}")), (0.0, TEXT));
    }

    proptest! {
        #[test]
        fn what_is_cut_has_room(text in "[ -~]{0,60}", room in 20.0f64..300.0) {
            let shown = elided(&text, room);
            prop_assert!(width(&shown) <= room + 1e-9);
            let cut = shown.strip_suffix('\u{2026}').is_some_and(|kept| text.starts_with(kept));
            prop_assert!(shown == text || cut);
            for line in wrapped(&text, room) {
                prop_assert!(width(&line) <= room + 1e-9, "{line}");
            }
        }

        #[test]
        fn wrapping_keeps_the_words(words in prop::collection::vec("[a-z]{1,8}", 0..12)) {
            let text = words.join(" ");
            prop_assert_eq!(wrapped(&text, 120.0).join(" "), text);
        }
    }
}
