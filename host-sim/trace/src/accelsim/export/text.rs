//! Text lines of a TB, in the layout of Accel-Sim's tracer (version 5 of its format).

use super::address;
use std::fmt::Write;

/// Line that ends the header for readers; it names the fields of an instruction line.
const FIELDS: &str = "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] \
                      [mem_addresses] immediate";

/// Version of the written format.
pub(super) const VERSION: u32 = 5;

/// Header lines before the instructions.
#[derive(Clone, Debug)]
pub(super) struct HeaderText<'a> {
    pub(super) name: &'a str,
    pub(super) id: u64,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared_bytes: u32,
    pub(super) registers: u32,
    pub(super) binary_version: u32,
    pub(super) stream: u64,
    pub(super) shared_base: u64,
    pub(super) local_base: u64,
    pub(super) nvbit: &'a str,
    pub(super) lineinfo: bool,
}

impl std::fmt::Display for HeaderText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let triple = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
        // A line end within a name would break the line.
        writeln!(f, "-kernel name = {}\n-kernel id = {}", self.name.replace(char::is_control, "_"), self.id)?;
        writeln!(f, "-grid dim = {}\n-block dim = {}", triple(self.grid), triple(self.block))?;
        writeln!(f, "-shmem = {}\n-nregs = {}", self.shared_bytes, self.registers)?;
        writeln!(f, "-binary version = {}\n-cuda stream id = {}", self.binary_version, self.stream)?;
        writeln!(f, "-shmem base_addr = {:#018x}\n-local mem base_addr = {:#018x}", self.shared_base, self.local_base)?;
        writeln!(f, "-nvbit version = {}\n-accelsim tracer version = {VERSION}", self.nvbit)?;
        writeln!(f, "-enable lineinfo = {}\n\n{FIELDS}\n", u8::from(self.lineinfo))
    }
}

/// Instruction lines of one warp.
#[derive(Clone, Debug, Default)]
struct WarpText {
    count: u64,
    lines: String,
}

/// Instruction lines of the warps of one TB.
#[derive(Clone, Debug)]
pub(super) struct TbText {
    place: String,
    warps: Vec<WarpText>,
    current: usize,
}

impl TbText {
    /// Creates an empty TB at `place` (`x,y,z`) with a number of warps.
    pub(super) fn new(place: String, warps: u32) -> Self {
        TbText { place, warps: vec![WarpText::default(); warps as usize], current: 0 }
    }

    /// Sets the coordinates.
    pub(super) fn set_place(&mut self, place: &str) {
        place.clone_into(&mut self.place);
    }

    /// Selects the warp of the following lines.
    pub(super) fn resume(&mut self, warp: u32) {
        self.current = warp as usize;
    }

    /// Starts a line, up to the blank after the mask.
    pub(super) fn line(&mut self, source_line: Option<i64>, pc: u64, mask: u32) -> Line<'_> {
        let warp = &mut self.warps[self.current];
        warp.count += 1;
        // Writing to a string cannot fail.
        if let Some(number) = source_line {
            let _ = write!(warp.lines, "{number} ");
        }
        let _ = write!(warp.lines, "{pc:04x} {mask:08x} ");
        Line { text: &mut warp.lines, mask }
    }

    /// Returns the number of instructions of all warps.
    pub(super) fn insts(&self) -> u64 {
        self.warps.iter().map(|warp| warp.count).sum()
    }

    /// Appends the whole TB. A warp without instructions is listed with a count of 0.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("#BEGIN_TB\n\nthread block = {}\n\n", self.place).as_bytes());
        for (number, warp) in self.warps.iter().enumerate() {
            out.extend_from_slice(format!("warp = {number}\ninsts = {}\n", warp.count).as_bytes());
            out.extend_from_slice(warp.lines.as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(b"#END_TB\n\n");
    }

    /// Returns the length of the lines in bytes.
    pub(super) fn len(&self) -> usize {
        self.warps.iter().map(|warp| warp.lines.len()).sum()
    }
}

/// An instruction line under construction.
pub(super) struct Line<'a> {
    text: &'a mut String,
    mask: u32,
}

impl Line<'_> {
    /// Appends one or more fields and a blank.
    pub(super) fn field(self, field: &str) -> Self {
        self.text.push_str(field);
        self.text.push(' ');
        self
    }

    /// Appends the address of each lane of the mask.
    pub(super) fn addresses(self, addresses: &[u64]) -> Self {
        address::push(self.text, self.mask, addresses);
        self
    }

    /// Ends the line.
    pub(super) fn end(self) {
        self.text.push('\n');
    }
}
