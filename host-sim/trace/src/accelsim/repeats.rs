//! Detection of repeated lines: most warps execute the same text as the same warp of an earlier TB,
//! except for some addresses.
//!
//! The text of a warp is kept with its recorded instructions. Lines of a later warp that are equal,
//! byte by byte, are recorded by copying; only the others are parsed. The kept text affects only
//! the speed.

use super::source::Lines;
use super::statics::Statics;
use mias_warp_trace::TbRecorder;

/// Maximum kept text in bytes (assumption: text of several TBs, within the third-level cache).
const MOST_BYTES: usize = 8 << 20;

/// Number of poorly matching warps after which a text is replaced, at first. It doubles each time,
/// since retries are useless where nothing matches.
const PATIENCE: u32 = 1;

/// A line of kept text.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// End of the line in the text, including the line end.
    end: u32,
    /// Off-chip accesses up to and including this line.
    accesses: u32,
}

/// Instruction lines of a warp with their recorded instructions.
#[derive(Debug, Default)]
struct Template {
    text: Vec<u8>,
    lines: Vec<Line>,
    /// Lines with unknown opcodes, and the numbers of their texts, for the warnings.
    unknown: Vec<(u32, u32)>,
    record: TbRecorder,
    /// Poorly matching warps since the template was made, and their limit.
    misfits: u32,
    patience: u32,
}

/// Kept templates by warp of a TB.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    templates: Vec<Option<Template>>,
    bytes: usize,
    /// Warp with the most recently kept text.
    newest: usize,
}

/// State of the warp that is being read.
#[derive(Debug)]
pub(super) struct Warp {
    number: usize,
    /// Number of instruction lines of the warp.
    count: u64,
    /// Warp of the template for comparison; `None` without one.
    like: Option<usize>,
    /// Next line of the template.
    at: usize,
    /// Number of repeated lines.
    repeated: u64,
    /// Template made of this warp's text, if it is to be kept.
    own: Option<Template>,
}

impl Repeats {
    /// Starts warp `number` with `count` lines; `is_new` if none of it has been recorded.
    pub(super) fn begin(&self, number: u32, count: u64, is_new: bool) -> Warp {
        let number = number as usize;
        let known = self.templates.get(number).and_then(Option::as_ref);
        let wanted = known.is_none_or(|known| known.misfits >= known.patience) && self.bytes < MOST_BYTES;
        let patience = known.map_or(PATIENCE, |known| known.patience.saturating_mul(2));
        let own = (wanted && is_new).then(|| Template { patience, ..Template::default() });
        let like = if known.is_some() {
            Some(number)
        } else {
            self.templates.get(self.newest).and_then(|known| known.as_ref().map(|_| self.newest))
        };
        Warp { number, count, like, at: 0, repeated: 0, own }
    }

    /// Records the next lines as far as they equal the template, and returns their number. `done`
    /// lines were read before.
    pub(super) fn take(&self, warp: &mut Warp, done: u64, lines: &mut Lines, tb: &mut TbRecorder, statics: &mut Statics<'_>) -> u64 {
        let Some(template) = warp.like.and_then(|like| self.templates[like].as_ref()) else { return 0 };
        let begin = template.end(warp.at);
        let Some(rest) = template.text.get(begin..).filter(|rest| !rest.is_empty()) else { return 0 };
        let equal = begin + common_prefix(rest, lines.buffered());
        // The last instruction of a warp may have another class than the same text in the middle.
        let last = if warp.count == template.lines.len() as u64 { 0 } else { 1 };
        let most = (template.lines.len() - last).min(warp.at + (warp.count - done - last as u64) as usize);
        if most <= warp.at {
            return 0;
        }
        let whole = template.lines[warp.at..most].partition_point(|line| line.end as usize <= equal);
        if whole == 0 {
            return 0;
        }
        let (from, to) = (warp.at, warp.at + whole);
        let (bytes, accesses) = (begin..template.end(to), template.accesses(from)..template.accesses(to));
        let first_own = warp.own.as_ref().map_or(0, |own| own.lines.len());
        tb.repeat(&template.record, from..to, accesses.clone());
        let unknown = template.unknown.iter().filter(|(line, _)| (from..to).contains(&(*line as usize)));
        for &(line, number) in unknown {
            statics.executed_again(number);
            if let Some(own) = &mut warp.own {
                own.unknown.push(((first_own + line as usize - from) as u32, number));
            }
        }
        if let Some(own) = &mut warp.own {
            let (text, before) = (own.text.len(), own.accesses(first_own));
            own.text.extend_from_slice(&template.text[bytes.clone()]);
            own.lines.extend(template.lines[from..to].iter().map(|line| Line {
                end: (text + line.end as usize - bytes.start) as u32,
                accesses: (before + line.accesses as usize - accesses.start) as u32,
            }));
        }
        lines.skip(bytes.len(), whole as u64);
        warp.at = to;
        warp.repeated += whole as u64;
        whole as u64
    }

    /// Adds a parsed line, the last one that `lines` returned. `accesses` is the number of the
    /// warp's off-chip accesses so far.
    pub(super) fn parsed(&self, warp: &mut Warp, lines: &Lines, accesses: usize, unknown: Option<u32>) {
        warp.at += 1;
        let Some(own) = &mut warp.own else { return };
        if self.bytes + own.text.len() > MOST_BYTES {
            warp.own = None;
            return;
        }
        own.text.extend_from_slice(lines.last_raw());
        own.unknown.extend(unknown.map(|number| (own.lines.len() as u32, number)));
        own.lines.push(Line { end: own.text.len() as u32, accesses: accesses as u32 });
    }

    /// Ends a warp, which is the last one in `tb`.
    pub(super) fn end(&mut self, warp: Warp, tb: &TbRecorder) {
        let Warp { number, count, like, repeated, own, .. } = warp;
        if let Some(own) = own {
            self.templates.resize_with(self.templates.len().max(number + 1), || None);
            self.bytes -= self.templates[number].as_ref().map_or(0, |before| before.text.len());
            self.bytes += own.text.len();
            self.templates[number] = Some(Template { record: tb.last_warp(), ..own });
            self.newest = number;
        } else if like == Some(number)
            && 2 * repeated < count
            && let Some(template) = &mut self.templates[number]
        {
            template.misfits += 1;
        }
    }
}

impl Template {
    /// Returns the start of line `line`, which is the end of the one before.
    fn end(&self, line: usize) -> usize {
        line.checked_sub(1)
            .and_then(|before| self.lines.get(before))
            .map_or(if line == 0 { 0 } else { self.text.len() }, |line| line.end as usize)
    }

    /// Returns the off-chip accesses before line `line`.
    fn accesses(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|before| self.lines.get(before)).map_or(0, |line| line.accesses as usize)
    }
}

/// Returns the length of the common prefix in bytes.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let whole = chunks::<64>(a, b);
    let words = whole + chunks::<8>(&a[whole..], &b[whole..]);
    words + chunks::<1>(&a[words..], &b[words..])
}

/// Returns the length of the common prefix in bytes, in whole chunks of `SIZE`.
fn chunks<const SIZE: usize>(a: &[u8], b: &[u8]) -> usize {
    let (a, b) = (a.as_chunks::<SIZE>().0, b.as_chunks::<SIZE>().0);
    SIZE * a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_common_prefix_ends_at_the_first_difference(a in prop::collection::vec(0u8..2, 0..300), at in 0usize..300, more in 0usize..100) {
            let mut b = a.clone();
            b.extend(vec![7; more]);
            prop_assert_eq!(common_prefix(&a, &b), a.len());
            if at < a.len() {
                b[at] ^= 4;
                prop_assert_eq!(common_prefix(&a, &b), at);
            }
            prop_assert_eq!(common_prefix(&b, &a), common_prefix(&a, &b));
        }
    }
}
