//! Export of a launch while it is executed. Instructions go from the interpreter to the file
//! directly, since a warp trace stores neither lanes nor single addresses.

use super::text::{HeaderText, TbText};
use super::{Export, ExportError};
use mias_ptx::TbRunner;
use mias_ptx::exec::Op;
use mias_ptx::exec::control::{Barrier, Control};
use mias_ptx::lower::observe::{Code, Job, Sink};
use mias_ptx::lower::opcode::opcode;
use mias_ptx::lower::{Lowered, address};
use mias_ptx::program::{Inst, Src};
use mias_warp_trace::KernelInfo;
use mias_warp_trace::isa::{Class, Space, StaticInst};

/// Compute capability of Turing (sources.md D100).
const TURING: u32 = 75;

/// First addresses of the windows of generic accesses, as in the reference's own traces. Exported
/// kernels do not use the windows: no address is generic, and device memory lies below.
const SHARED_BASE: u64 = 0x7f00_0000_0000;
const LOCAL_BASE: u64 = 0x7f00_0200_0000;

/// Limit on buffered text of TBs in bytes (assumption: keeps the workers busy, and is small
/// compared with a model).
const HELD_BYTES: usize = 64 << 20;

/// Maximum number of TBs executed before any is written.
const MOST_TBS: u32 = 128;

/// Text of an instruction in its lines.
struct Spelled {
    pc: u64,
    /// Text from the destination to the access width.
    head: String,
    has_addresses: bool,
    immediate: String,
}

impl Spelled {
    /// Creates the text of an instruction. `end` is the address after the program, the target of an
    /// exit of some lanes.
    fn new(inst: &Inst, lowered: StaticInst, end: u32) -> Self {
        let destination = lowered.dst.map_or_else(|| "0".to_owned(), |register| format!("1 R{register}"));
        let sources: String = lowered.sources().iter().map(|register| format!(" R{register}")).collect();
        // A read from the constant bank at a known address is no memory access. Tracers list no
        // addresses for texels.
        let has_addresses = lowered.class.space().is_some_and(|space| space != Space::Texture) && lowered.width_bytes > 0;
        let width = if has_addresses { lowered.width_bytes } else { 0 };
        let (opcode, count) = (opcode(inst, &lowered), lowered.source_count);
        let immediate = match &inst.op {
            Op::Control(Control::Branch { target }) => address(*target),
            Op::Control(Control::Exit) if lowered.class == Class::Branch => end,
            Op::Control(Control::Barrier(Barrier { id: Src::Imm(id), .. })) => *id,
            _ => 0,
        };
        Spelled {
            pc: lowered.pc.into(),
            head: format!("{destination} {opcode} {count}{sources} {width}"),
            has_addresses,
            immediate: immediate.to_string(),
        }
    }
}

impl Sink<Spelled> for TbText {
    fn resume(&mut self, warp: u32) {
        TbText::resume(self, warp);
    }

    fn inst(&mut self, inst: &Spelled, mask: u32, addresses: &[u64]) {
        let line = self.line(None, inst.pc, mask).field(&inst.head);
        let line = if inst.has_addresses { line.addresses(addresses) } else { line };
        line.field(&inst.immediate).end();
    }
}

/// Executes all TBs of a launch on stream 0, and writes them as the next launch of `export`.
/// `progress` receives the number of TBs done, and decides whether to continue. Device memory then
/// holds the results; the caller checks them.
///
/// # Errors
/// [`ExportError`]; drop the export then.
pub fn execute(export: &mut Export, job: Job<'_>, info: &KernelInfo, progress: &mut dyn FnMut(u64) -> bool) -> Result<(), ExportError> {
    // Check the launch before anything runs.
    TbRunner::new(job.program, job.launch, job.device)?;
    let lowered = Lowered::new(job.program);
    let (insts, end) = (&job.program.insts, address(job.program.insts.len() as u32));
    let code = Code::new(&lowered, |pc, inst| Ok::<_, ExportError>(Spelled::new(&insts[pc], inst, end)))?;
    let header = HeaderText {
        name: &info.name,
        id: export.number(),
        grid: info.grid,
        block: info.block,
        shared_bytes: info.shared_bytes,
        registers: info.registers_per_thread,
        binary_version: TURING,
        stream: 0,
        shared_base: SHARED_BASE,
        local_base: LOCAL_BASE,
        nvbit: "ptx-derived",
        lineinfo: false,
    };
    let [x, y, _] = info.grid;
    let sink = |tb: u32| TbText::new(format!("{},{},{}", tb % x, tb / x % y, tb / x / y), info.warps());
    let mut file = export.launch(&header)?;
    let (tbs, mut done, mut together) = (job.launch.tbs() as u32, 0, 1);
    // TBs that synchronize with each other run concurrently.
    if job.program.is_cooperative() {
        together = tbs;
    }
    while done < tbs {
        let batch = done..tbs.min(done + together);
        done = batch.end;
        let mut longest = 1;
        job.observe(&code, (batch, u64::MAX), sink, |tb| {
            longest = longest.max(tb.len());
            file.tb(&tb)
        })?;
        together = u32::try_from(HELD_BYTES / longest).unwrap_or(MOST_TBS).clamp(1, MOST_TBS);
        if !progress(done.into()) {
            return Err(ExportError::Interrupted);
        }
    }
    file.finish()
}
