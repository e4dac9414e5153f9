//! Lines that repeat: most warps of a kernel execute what the same warp of a TB before executed, word for word but for some addresses.
//!
//! So the text of a warp is kept, with what was recorded for it. Lines of a later warp that are equal to it, byte by byte, are recorded
//! by copying that record; only the others are parsed. Nothing but time depends on what is kept.

use super::source::Lines;
use super::statics::Statics;
use mias_warp_trace::TbRecorder;

/// Text kept in all (assumption: some TBs' text, within the third-level cache).
const MOST_BYTES: usize = 8 << 20;

/// Warps that fit badly after which a text is replaced, at first; it doubles each time, for where nothing fits there is no use in trying.
const PATIENCE: u32 = 1;

/// A line of a kept text.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Where it ends, line end included.
    end: u32,
    /// Off-chip accesses up to and including it.
    accesses: u32,
}

/// The instruction lines of a warp, and what was recorded for them.
#[derive(Debug, Default)]
struct Template {
    text: Vec<u8>,
    lines: Vec<Line>,
    /// Lines whose opcode no table has, and the number of their text: they are counted.
    unknown: Vec<(u32, u32)>,
    record: TbRecorder,
    /// Warps that fitted badly since it was made, and how many may.
    misfits: u32,
    patience: u32,
}

/// What is kept, by warp of a TB.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    templates: Vec<Option<Template>>,
    bytes: usize,
    /// The warp whose text was kept last.
    newest: usize,
}

/// A warp that is being read.
#[derive(Debug)]
pub(super) struct Warp {
    number: usize,
    /// Instruction lines that it has.
    count: u64,
    /// Whose text it is compared with; none if there is none.
    like: Option<usize>,
    /// The next line of that text.
    at: usize,
    /// Lines that were repeated.
    repeated: u64,
    /// Its own text, if that is to be kept.
    own: Option<Template>,
}

impl Repeats {
    /// Begins with `count` lines of warp `number`; `is_new` if nothing of it was recorded before.
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

    /// Records the lines that come next as far as they are those of the text kept; gives how many that were. `done` lines were read before.
    pub(super) fn take(&self, warp: &mut Warp, done: u64, lines: &mut Lines, tb: &mut TbRecorder, statics: &mut Statics<'_>) -> u64 {
        let Some(template) = warp.like.and_then(|like| self.templates[like].as_ref()) else { return 0 };
        let begin = template.end(warp.at);
        let Some(rest) = template.text.get(begin..).filter(|rest| !rest.is_empty()) else { return 0 };
        let equal = begin + common_prefix(rest, lines.buffered());
        // What ends a warp may be another instruction than the same in the middle.
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

    /// A line that was parsed, the last that `lines` gave. `accesses` counts the warp's off-chip ones so far.
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

    /// All lines of the warp are read. `tb` has it as its last.
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
    /// Where line `line` begins, the one before it ends.
    fn end(&self, line: usize) -> usize {
        line.checked_sub(1)
            .and_then(|before| self.lines.get(before))
            .map_or(if line == 0 { 0 } else { self.text.len() }, |line| line.end as usize)
    }

    /// Off-chip accesses before line `line`.
    fn accesses(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|before| self.lines.get(before)).map_or(0, |line| line.accesses as usize)
    }
}

/// Bytes that both begin with.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let whole = chunks::<64>(a, b);
    let words = whole + chunks::<8>(&a[whole..], &b[whole..]);
    words + chunks::<1>(&a[words..], &b[words..])
}

/// Bytes of the chunks of `SIZE` that both begin with.
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
