//! Conversion of a kernel list of any version to version 5. An [`Audience`] of the reader writes
//! the lines.

use super::super::body::{Audience, ReadInst};
use super::super::header::{self, Header};
use super::super::source::Lines;
use super::super::warnings::Warnings;
use super::super::{Command, MemoryBudget, body, read_list};
use super::text::{HeaderText, TbText, VERSION};
use super::{Export, ExportError, LaunchFile};
use std::path::Path;

/// Appends the launches and device copies of a list to `export`. Unknown opcodes are counted in
/// `warnings` and copied unchanged. `go_on` is called after every TB.
///
/// # Errors
/// [`ExportError`]; drop the export then.
pub fn copy(export: &mut Export, list: &Path, warnings: &mut Warnings, go_on: &mut dyn FnMut() -> bool) -> Result<(), ExportError> {
    for command in read_list(list)?.commands {
        match command {
            Command::CopyToDevice { address, bytes } => export.copy_to_device(address, bytes),
            Command::Kernel(file) => copy_kernel(export, &file, warnings, go_on)?,
        }
    }
    Ok(())
}

fn copy_kernel(export: &mut Export, path: &Path, warnings: &mut Warnings, go_on: &mut dyn FnMut() -> bool) -> Result<(), ExportError> {
    let mut lines = Lines::open(path)?;
    let header = header::read(&mut lines)?;
    let info = &header.info;
    let text = HeaderText {
        name: &info.name,
        id: header.id.unwrap_or(export.number()),
        grid: info.grid,
        block: info.block,
        shared_bytes: info.shared_bytes,
        registers: info.registers_per_thread,
        binary_version: header.binary_version,
        stream: header.stream.0,
        shared_base: header.shared_base,
        local_base: header.local_base,
        nvbit: &header.nvbit,
        lineinfo: header.lineinfo,
    };
    let tb = TbText::new(String::new(), info.warps());
    let mut copyist = Copyist { header: &header, file: export.launch(&text)?, tb, go_on, failed: None };
    // Only the audience is needed, so the trace of each TB is discarded.
    let mut nowhere = MemoryBudget { whole_bytes: 1, part_bytes: 1, closed: &mut |_, _| Ok(()) };
    let read = body::read(&mut lines, &header, warnings, &mut copyist, &mut nowhere);
    // A write error came first and stopped the reader.
    match (copyist.failed.take(), read) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(error.into()),
        (None, Ok(_)) => copyist.file.finish(),
    }
}

/// Audience that writes each line.
struct Copyist<'a> {
    header: &'a Header,
    file: LaunchFile<'a>,
    tb: TbText,
    go_on: &'a mut dyn FnMut() -> bool,
    failed: Option<ExportError>,
}

impl Audience for Copyist<'_> {
    fn begin_tb(&mut self) {
        self.tb = TbText::new(String::new(), self.header.info.warps());
    }

    fn place(&mut self, place: &str) {
        self.tb.set_place(place);
    }

    fn warp(&mut self, warp: u32) {
        self.tb.resume(warp);
    }

    fn inst(&mut self, inst: &ReadInst<'_>) {
        let line = self.tb.line(inst.source_line, inst.pc, inst.mask).field(&String::from_utf8_lossy(inst.text));
        let rest = String::from_utf8_lossy(inst.rest);
        let has_immediate = self.header.version >= VERSION;
        let line = match (inst.has_addresses, has_immediate) {
            (true, _) => line.addresses(inst.addresses),
            // Unknown words are kept.
            (false, false) if !rest.trim().is_empty() => line.field(rest.trim()),
            (false, _) => line,
        };
        let immediate = match (inst.has_addresses && inst.addresses.is_empty(), has_immediate) {
            (_, false) => "0",
            (false, true) => rest.trim(),
            // Without an active lane there is no address to read. The immediate is the last word.
            (true, true) => rest.split_ascii_whitespace().next_back().unwrap_or_default(),
        };
        line.field(if immediate.is_empty() { "0" } else { immediate }).end();
    }

    fn end_tb(&mut self) -> bool {
        match self.file.tb(&self.tb) {
            Ok(()) if (self.go_on)() => return true,
            Ok(()) => self.failed = Some(ExportError::Interrupted),
            Err(error) => self.failed = Some(error),
        }
        false
    }
}
