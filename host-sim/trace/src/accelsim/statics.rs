//! Table of parsed instruction texts, by PC.
//!
//! Between mask and addresses, an instruction line repeats its text at every execution of its PC.
//! The text is therefore kept, and a line costs one look-up by PC and one comparison. Only text new
//! at its PC is parsed.

use super::error::Problem;
use super::fields::Fields;
use super::header::Header;
use super::opcodes::Operation;
use super::warnings::Warnings;
use mias_warp_trace::TraceBuilder;
use mias_warp_trace::isa::{Class, Space, StaticInst};
use std::ops::Range;

/// Number of look-up chains. PCs are 8 or 16 bytes apart, so 4096 instructions fit without a
/// collision.
const CHAINS: usize = 4096;

/// Bytes per thread of the local-memory window, as Accel-Sim assumes.
const LOCAL_WINDOW_BYTES: u64 = 1 << 14;

/// Widest access of a lane: 128 bits.
const MAX_WIDTH_BYTES: u32 = 16;

/// A static instruction and its index in the trace under construction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Defined {
    pub(super) index: u16,
    pub(super) inst: StaticInst,
}

/// A known instruction text.
struct Entry {
    pc: u64,
    text: Range<usize>,
    next: u32,
    operation: Operation,
    /// Instruction with its most frequent class.
    inst: StaticInst,
    /// True if the line lists addresses.
    has_addresses: bool,
    /// Definitions of this text so far: as written (or shared), local, global.
    defined: [Option<u16>; 3],
    /// Opcode missing from the table, and the number of its executions.
    unknown: Option<(String, u64)>,
}

/// Instruction texts of a kernel.
pub(super) struct Statics<'a> {
    header: &'a Header,
    chains: Vec<u32>,
    entries: Vec<Entry>,
    texts: Vec<u8>,
}

/// End of a chain.
const NONE: u32 = u32::MAX;

impl<'a> Statics<'a> {
    pub(super) fn new(header: &'a Header) -> Self {
        Statics { header, chains: vec![NONE; CHAINS], entries: Vec::new(), texts: Vec::new() }
    }

    /// Finds or parses the instruction whose text starts at `fields`, and advances `fields` past
    /// its access width. Returns its number, for [`Statics::resolve`], and whether addresses
    /// follow.
    #[inline]
    pub(super) fn look_up(&mut self, pc: u64, fields: &mut Fields<'_>) -> Result<(u32, bool), Problem> {
        fields.skip_blanks();
        let rest = fields.rest();
        let mut at = self.chains[chain(pc)];
        while let Some(entry) = self.entries.get(at as usize) {
            let text = &self.texts[entry.text.clone()];
            if entry.pc == pc && rest.starts_with(text) && matches!(rest.get(text.len()), None | Some(b' ' | b'\t')) {
                fields.advance(text.len());
                return Ok((at, entry.has_addresses));
            }
            at = entry.next;
        }
        self.parse(pc, fields)
    }

    /// Returns the static instruction of text `number` for an execution with these addresses.
    /// `last` marks the last instruction of the warp.
    #[inline]
    pub(super) fn resolve(&mut self, number: u32, lanes: &[u64], last: bool, builder: &mut TraceBuilder) -> Result<Defined, Problem> {
        let entry = &mut self.entries[number as usize];
        let (slot, class) = match entry.operation {
            Operation::Of(class) => (0, class),
            Operation::Exit if last => (0, Class::Exit),
            Operation::Exit => (1, Class::Int),
            Operation::GenericLoad | Operation::GenericStore => {
                let (slot, space) = window(self.header, lanes);
                let load = entry.operation == Operation::GenericLoad;
                (slot, if load { Class::Load(space) } else { Class::Store(space) })
            }
        };
        if let Some((_, executed)) = &mut entry.unknown {
            *executed += 1;
        }
        let inst = StaticInst { class, ..entry.inst };
        let index = match entry.defined[slot] {
            Some(index) => index,
            None => *entry.defined[slot].insert(builder.define(inst)?),
        };
        Ok(Defined { index, inst })
    }

    /// Returns the number if the text's opcode is missing from the table.
    #[inline]
    pub(super) fn unknown(&self, number: u32) -> Option<u32> {
        self.entries[number as usize].unknown.is_some().then_some(number)
    }

    /// Counts another execution of an instruction with an unknown opcode.
    pub(super) fn executed_again(&mut self, number: u32) {
        if let Some((_, executed)) = &mut self.entries[number as usize].unknown {
            *executed += 1;
        }
    }

    /// Adds the unknown opcodes and their executions to the warnings.
    pub(super) fn warn(&self, warnings: &mut Warnings) {
        for (opcode, executed) in self.entries.iter().filter_map(|entry| entry.unknown.as_ref()) {
            warnings.unknown_opcode(opcode, *executed);
        }
    }

    #[cold]
    fn parse(&mut self, pc: u64, fields: &mut Fields<'_>) -> Result<(u32, bool), Problem> {
        let (begin, rest) = (fields.position(), fields.rest());
        let mut inst = StaticInst::new(pc as u32, Class::Int);
        for _ in 0..fields.count("at most one destination register", 1)? {
            let register = fields.register()?;
            if register != mias_warp_trace::isa::ZERO_REG {
                inst = inst.writes(register);
            }
        }
        let opcode_begin = fields.position() + 1;
        let opcode = String::from_utf8_lossy(fields.word()).into_owned();
        if opcode.is_empty() {
            return Err(fields.fail(opcode_begin, "an opcode"));
        }
        for _ in 0..fields.count("at most four source registers", mias_warp_trace::isa::MAX_SOURCES as u32)? {
            inst = inst.reads(&[fields.register()?]);
        }
        let width_begin = fields.position() + 1;
        let listed_width = fields.count("an access width in bytes", 255)?;
        let text = &rest[..fields.position() - begin];

        let mut parts = opcode.split('.');
        let stem = parts.next().unwrap_or_default();
        let found = self.header.isa.operation(stem);
        // Tracers list no width for the constant bank. A listed width comes from an export of this
        // project, for an address that the lanes compute.
        let operation = match found {
            Some(_) if stem == "LDC" && listed_width > 0 => Operation::Of(Class::Load(Space::Constant)),
            found => found.unwrap_or(Operation::Of(Class::Int)),
        };
        if is_memory(operation) && listed_width > 0 {
            let width = if stem == "LDSM" { None } else { parts.clone().find_map(width_bytes) }.unwrap_or(listed_width);
            if width > MAX_WIDTH_BYTES {
                return Err(fields.fail(width_begin, "an access width of at most 16 bytes"));
            }
            inst = inst.width(width as u8);
        }
        // "STRONG" and "GPU" together on a load mean device scope: served by the L2.
        let (strong, gpu) = (parts.clone().any(|p| p == "STRONG"), parts.any(|p| p == "GPU"));
        let global_load = matches!(operation, Operation::Of(Class::Load(Space::Global | Space::Local)));
        let atomic = matches!(operation, Operation::Of(Class::Atomic(Space::Global)));
        inst.bypass_l1 = atomic || global_load && strong && gpu;

        let number = self.entries.len() as u32;
        let start = self.texts.len();
        self.texts.extend_from_slice(text);
        let unknown = if found.is_none() { Some((stem.to_owned(), 0)) } else { None };
        let has_addresses = is_memory(operation) && listed_width > 0;
        let next = std::mem::replace(&mut self.chains[chain(pc)], number);
        let text = start..self.texts.len();
        self.entries.push(Entry { pc, text, next, operation, inst, has_addresses, defined: [None; 3], unknown });
        Ok((number, has_addresses))
    }
}

fn chain(pc: u64) -> usize {
    (pc >> 4) as usize % CHAINS
}

fn is_memory(operation: Operation) -> bool {
    match operation {
        Operation::Of(class) => class.space().is_some(),
        Operation::GenericLoad | Operation::GenericStore => true,
        Operation::Exit => false,
    }
}

/// Returns the access width in bytes from a part of an opcode: `64`, `U8`, `S16`.
fn width_bytes(part: &str) -> Option<u32> {
    match part.strip_prefix(['U', 'S']).unwrap_or(part) {
        "8" => Some(1),
        "16" => Some(2),
        "32" => Some(4),
        "64" => Some(8),
        "128" => Some(16),
        _ => None,
    }
}

/// Returns the memory space of a generic access, by its first active lane. The window from the
/// shared to the local base is shared, the one after it local, and the rest global. Without bases
/// in the header, all accesses are shared, as Accel-Sim assumes.
fn window(header: &Header, lanes: &[u64]) -> (usize, Space) {
    let (shared, local) = (header.shared_base, header.local_base);
    match lanes.first() {
        _ if shared == 0 || local == 0 => (0, Space::Shared),
        Some(&address) if (shared..local).contains(&address) => (0, Space::Shared),
        Some(&address) if (local..local.saturating_add(LOCAL_WINDOW_BYTES)).contains(&address) => (1, Space::Local),
        _ => (2, Space::Global),
    }
}
