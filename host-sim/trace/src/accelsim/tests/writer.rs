//! A writer of the format, for tests only: random warps to text, in every version and address mode.

use mias_warp_trace::isa::StaticInst;

/// One executed instruction: its opcode text, what it lowers to, the mask, and an address per
/// active lane if it has any.
#[derive(Clone, Debug)]
pub(super) struct Executed {
    pub(super) opcode: &'static str,
    pub(super) inst: StaticInst,
    pub(super) mask: u32,
    pub(super) addresses: Vec<u64>,
    /// Preferred address mode; another is taken where it cannot express the addresses.
    pub(super) mode: u8,
}

/// Formats a kernel trace as text. `tbs[tb][warp]` lists what each warp executed.
pub(super) fn write(version: u32, lineinfo: bool, threads: u32, tbs: &[Vec<Vec<Executed>>]) -> String {
    let mut text = format!(
        "-kernel name = k\n-kernel id = 1\n-grid dim = ({},1,1)\n-block dim = ({threads},1,1)\n-shmem = 0\n-nregs = 40\n\
         -binary version = 75\n-cuda stream id = 3\n-accelsim tracer version = {version}\n-enable lineinfo = {}\n\n#format\n",
        tbs.len(),
        u8::from(lineinfo)
    );
    for (tb, warps) in tbs.iter().enumerate() {
        text += &format!("\n#BEGIN_TB\n\nthread block = {tb},0,0\n");
        for (warp, insts) in warps.iter().enumerate() {
            text += &format!("\nwarp = {warp}\ninsts = {}\n", insts.len());
            for executed in insts {
                if version < 3 {
                    text += &format!("{tb} 0 0 {warp} ");
                }
                if lineinfo {
                    text += "42 ";
                }
                text += &line(executed);
                text += if version >= 5 { " 0 \n" } else { "\n" };
            }
        }
        text += "\n#END_TB\n";
    }
    text
}

fn line(executed: &Executed) -> String {
    let inst = &executed.inst;
    let dst = inst.dst.map_or_else(|| "0".to_owned(), |r| format!("1 R{r}"));
    let sources: String = inst.sources().iter().map(|r| format!(" R{r}")).collect();
    let head =
        format!("{:04x} {:08x} {dst} {} {}{sources} {}", inst.pc, executed.mask, executed.opcode, inst.source_count, inst.width_bytes);
    if inst.width_bytes == 0 { head } else { format!("{head} {}", addresses(executed)) }
}

fn addresses(executed: &Executed) -> String {
    let Some(&base) = executed.addresses.first() else { return "0".to_owned() };
    let deltas: Vec<i64> = executed.addresses.windows(2).map(|w| w[1].wrapping_sub(w[0]) as i64).collect();
    let uniform = deltas.windows(2).all(|w| w[0] == w[1]);
    match executed.mode {
        1 if uniform => format!("1 0x{base:x} {}", deltas.first().copied().unwrap_or(0)),
        2 => deltas.iter().fold(format!("2 0x{base:x}"), |text, delta| format!("{text} {delta}")),
        _ => executed.addresses.iter().fold("0".to_owned(), |text, address| format!("{text} 0x{address:x}")),
    }
}
