//! The TBs of a trace: `#BEGIN_TB`, warps, instruction lines, `#END_TB`.

use super::addresses;
use super::error::{Problem, ReadError, excerpt};
use super::fields::Fields;
use super::gathering::{Gathering, LastPart, MemoryBudget};
use super::header::Header;
use super::repeats::Repeats;
use super::source::Lines;
use super::statics::{Defined, Statics};
use super::warnings::Warnings;
use mias_warp_trace::{KernelTrace, TbRecorder, TraceBuilder, TraceError, WARP_LANES};
use std::io;

/// Receiver of the instruction lines, each after it was found to be well formed.
pub(super) trait Audience {
    /// True if the receiver needs every instruction. Otherwise lines that repeat earlier ones are
    /// not parsed again.
    const EVERY_INST: bool = true;
    /// Starts a TB.
    fn begin_tb(&mut self) {}
    /// Receives the coordinates of the TB, as written.
    fn place(&mut self, _: &str) {}
    /// Starts the lines of a warp of the TB.
    fn warp(&mut self, _: u32) {}
    /// Receives an instruction.
    fn inst(&mut self, _: &ReadInst<'_>) {}
    /// Ends the TB. Returns false to stop the reader.
    fn end_tb(&mut self) -> bool {
        true
    }
}

/// Receiver that ignores everything.
pub(super) struct NoAudience;

impl Audience for NoAudience {
    const EVERY_INST: bool = false;
}

/// A parsed instruction line.
pub(super) struct ReadInst<'a> {
    pub(super) source_line: Option<i64>,
    pub(super) pc: u64,
    pub(super) mask: u32,
    /// Text from the destination to the access width, as written.
    pub(super) text: &'a [u8],
    /// True if the line lists addresses that the model uses.
    pub(super) has_addresses: bool,
    /// Address of each active lane.
    pub(super) addresses: &'a [u64],
    /// Rest of the line; includes the addresses if no lane is active.
    pub(super) rest: &'a [u8],
}

/// Reads everything after the header.
pub(super) fn read<A: Audience>(
    lines: &mut Lines,
    header: &Header,
    warnings: &mut Warnings,
    audience: &mut A,
    room: &mut MemoryBudget<'_>,
) -> Result<LastPart, ReadError> {
    let mut body = Body::new(header, audience).map_err(|error| lines.error_in_file(error))?;
    let mut gathering = Gathering::new(room);
    body.read_tbs(lines, &mut |builder| gathering.added(builder))?;
    body.warn(warnings);
    gathering.last(&header.info, body.builder).map_err(|error| lines.error(error))
}

/// Reader of consecutive TBs.
pub(super) struct Body<'a, A> {
    header: &'a Header,
    warps: u32,
    statics: Statics<'a>,
    builder: TraceBuilder,
    repeats: Repeats,
    lanes: [u64; WARP_LANES as usize],
    audience: &'a mut A,
}

impl<'a, A: Audience> Body<'a, A> {
    /// Creates a reader at the first TB.
    pub(super) fn new(header: &'a Header, audience: &'a mut A) -> Result<Self, TraceError> {
        let (builder, warps) = (TraceBuilder::new(header.info.clone())?, header.info.warps());
        let (statics, repeats, lanes) = (Statics::new(header), Repeats::default(), [0; WARP_LANES as usize]);
        Ok(Body { header, warps, statics, builder, repeats, lanes, audience })
    }

    /// Reads all TBs of `lines`, at most as many as the grid has in total. Calls `added` after
    /// each.
    pub(super) fn read_tbs(
        &mut self,
        lines: &mut Lines,
        added: &mut dyn FnMut(&mut TraceBuilder) -> io::Result<()>,
    ) -> Result<(), ReadError> {
        while let Some(line) = lines.next()? {
            match line.trim_ascii() {
                b"" => {}
                b"#BEGIN_TB" => {
                    let tbs = self.builder.tbs();
                    if u64::from(tbs) == self.header.info.tbs() {
                        return Err(lines.error(Problem::Structure(format!("more TBs than the {tbs} of the grid"))));
                    }
                    self.audience.begin_tb();
                    let tb = self.read_tb(lines)?;
                    self.builder.add_tb(&tb).map_err(|error| lines.error(error))?;
                    added(&mut self.builder).map_err(|error| lines.error(error))?;
                    if !self.audience.end_tb() {
                        return Err(lines.error(Problem::Stopped));
                    }
                }
                other => {
                    let text = excerpt(other);
                    return Err(lines.error(Problem::Structure(format!("`#BEGIN_TB` expected, found `{text}`"))));
                }
            }
        }
        Ok(())
    }

    /// Takes the TBs since the last call, as [`TraceBuilder::take_part`] does.
    pub(super) fn take_part(&mut self) -> KernelTrace {
        self.builder.take_part()
    }

    /// Adds the unknown opcodes to the warnings.
    pub(super) fn warn(&self, warnings: &mut Warnings) {
        self.statics.warn(warnings);
    }

    /// Reads a TB up to and including `#END_TB`.
    fn read_tb(&mut self, lines: &mut Lines) -> Result<TbRecorder, ReadError> {
        let begin = lines.line();
        let mut tb = TbRecorder::new();
        let mut recorded = 0u32;
        while let Some(line) = lines.next()? {
            let text = line.trim_ascii();
            if text == b"#END_TB" {
                (recorded..self.warps).for_each(|_| tb.warp());
                return Ok(tb);
            }
            if let Some(value) = assignment(text, b"warp") {
                match value.filter(|&warp| (u64::from(recorded)..u64::from(self.warps)).contains(&warp)) {
                    Some(warp) => {
                        (recorded..=warp as u32).for_each(|_| tb.warp());
                        recorded = warp as u32 + 1;
                        self.audience.warp(warp as u32);
                    }
                    None => {
                        let (text, warps) = (excerpt(text), self.warps);
                        let problem = format!("`{text}`: warps of a TB must ascend, and this block has {warps} warps");
                        return Err(lines.error(Problem::Structure(problem)));
                    }
                }
            } else if let Some(value) = assignment(text, b"insts") {
                let bad = if recorded == 0 { Some("`insts = n` before the first `warp = w`") } else { None };
                let bad = bad.or(if value.is_none() { Some("`insts = n` without a number") } else { None });
                if let Some(bad) = bad {
                    return Err(lines.error(Problem::Structure(bad.to_owned())));
                }
                self.read_warp(lines, recorded - 1, value.unwrap_or(0), &mut tb)?;
            } else if let Some(place) = text.strip_prefix(b"thread block") {
                let place = place.trim_ascii_start().strip_prefix(b"=").unwrap_or_default().trim_ascii();
                self.audience.place(&String::from_utf8_lossy(place));
            } else if !text.is_empty() {
                let text = excerpt(text);
                let problem = format!("`warp = w`, `insts = n` or `#END_TB` expected, found `{text}`");
                return Err(lines.error(Problem::Structure(problem)));
            }
        }
        Err(lines.error(Problem::Structure(format!("the file ends within the TB that begins at line {begin}"))))
    }

    /// Reads `count` instruction lines of warp `number`.
    fn read_warp(&mut self, lines: &mut Lines, number: u32, count: u64, tb: &mut TbRecorder) -> Result<(), ReadError> {
        let mut warp = self.repeats.begin(number, count, tb.recorded().0 == 0);
        let mut done = 0;
        while done < count {
            if !A::EVERY_INST {
                let repeated = self.repeats.take(&mut warp, done, lines, tb, &mut self.statics);
                if repeated > 0 {
                    done += repeated;
                    continue;
                }
            }
            let Some(line) = lines.next()? else {
                let problem = format!("the file ends after {done} of the warp's {count} instructions");
                return Err(lines.error(Problem::Structure(problem)));
            };
            if line.is_empty() {
                continue;
            }
            if line[0] == b'#' || line[0] == b'w' {
                let text = excerpt(line);
                let problem = format!("`{text}` after {done} of the warp's {count} instructions");
                return Err(lines.error(Problem::Structure(problem)));
            }
            done += 1;
            let unknown = match self.read_inst(line, done == count, tb) {
                Ok(number) => self.statics.unknown(number),
                Err(problem) => return Err(lines.error(problem)),
            };
            if !A::EVERY_INST {
                self.repeats.parsed(&mut warp, lines, tb.recorded().1, unknown);
            }
        }
        if !A::EVERY_INST {
            self.repeats.end(warp, tb);
        }
        Ok(())
    }

    /// Reads an instruction and returns the number of its text.
    #[inline]
    fn read_inst(&mut self, line: &[u8], last: bool, tb: &mut TbRecorder) -> Result<u32, Problem> {
        let mut fields = Fields::new(line);
        if self.header.version < 3 {
            for _ in 0..4 {
                fields.decimal("TB coordinates and warp")?;
            }
        }
        let source_line = if self.header.lineinfo { Some(fields.decimal("a source line number")?) } else { None };
        let pc = fields.hex("a PC")?;
        fields.skip_blanks();
        let begin = fields.position();
        let mask = fields.hex("a lane mask")?;
        let active = match u32::try_from(mask) {
            Ok(mask) => mask.count_ones(),
            Err(_) => return Err(fields.fail(begin, "a mask of 32 lanes")),
        };
        fields.skip_blanks();
        let begin = fields.position();
        let (number, has_addresses) = self.statics.look_up(pc, &mut fields)?;
        let text = &line[begin..fields.position()];
        let lanes = if has_addresses { addresses::read(&mut fields, active, &mut self.lanes)? } else { 0 };
        let lanes = &self.lanes[..lanes];
        let Defined { index, inst } = self.statics.resolve(number, lanes, last, &mut self.builder)?;
        tb.inst(index, &inst, active, lanes);
        let (mask, rest) = (mask as u32, fields.rest());
        self.audience.inst(&ReadInst { source_line, pc, mask, text, has_addresses, addresses: lanes, rest });
        Ok(number)
    }
}

/// Returns the number in a `key = number` line: `None` for another line, `Some(None)` without a
/// number.
fn assignment(text: &[u8], key: &[u8]) -> Option<Option<u64>> {
    let rest = text.strip_prefix(key)?.trim_ascii_start().strip_prefix(b"=")?;
    Some(std::str::from_utf8(rest.trim_ascii()).ok().and_then(|value| value.parse().ok()))
}
