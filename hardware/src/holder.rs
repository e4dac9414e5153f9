//! TBs that only occupy an SM. Zhao et al. 2018 have such a kernel, `gpu_uSleep`, on the SMs that
//! the measured kernel must not use (listing 1). Here it holds SMs until other kernels are in place
//! elsewhere, or an SM's setting of shared memory until the first kernel's TBs have arrived. It
//! always ends before anything is counted.

use crate::control;
use crate::driver::{Function, Module, Stream};
use std::ops::Range;

/// Name of the entry.
const ENTRY: &str = "mias_hold";

/// Largest shared memory of a TB in bytes (compute capability 9.0: 227 KiB).
const MOST_SHARED: u32 = 227 << 10;

/// Returns the module's text. TBs with a ticket of their SM wait for the word that releases them,
/// or the one that makes all give up; all of their threads stay. Offsets are those of `control`.
pub fn ptx() -> String {
    format!(
        ".version 6.5
.target sm_75
.address_size 64

.visible .entry {ENTRY}(
	.param .u64 mias_control,
	.param .u32 mias_from,
	.param .u32 mias_to,
	.param .u32 mias_tickets,
	.param .u64 mias_patience
)
{{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;

	mov.u32 %r6, %tid.x;
	setp.ne.u32 %p0, %r6, 0;
	@%p0 bra MIAS_END;
	ld.param.u64 %d0, [mias_control];
	cvta.to.global.u64 %d0, %d0;
	mov.u32 %r0, %smid;
	ld.param.u32 %r1, [mias_from];
	setp.lt.u32 %p0, %r0, %r1;
	@%p0 bra MIAS_END;
	ld.param.u32 %r1, [mias_to];
	setp.ge.u32 %p0, %r0, %r1;
	@%p0 bra MIAS_END;
	mul.wide.u32 %d1, %r0, 4;
	add.s64 %d1, %d0, %d1;
	add.s64 %d1, %d1, {tickets};
	atom.global.add.u32 %r2, [%d1], 1;
	ld.param.u32 %r7, [mias_tickets];
	setp.ge.u32 %p0, %r2, %r7;
	@%p0 bra MIAS_END;
	ld.param.u64 %d3, [mias_patience];
	mov.u64 %d2, %clock64;
	atom.global.add.u32 %r3, [%d0+{held}], 1;
MIAS_WAIT:
	ld.volatile.global.u32 %r4, [%d0+{release}];
	setp.ne.u32 %p0, %r4, 0;
	@%p0 bra MIAS_END;
	ld.volatile.global.u32 %r4, [%d0+{give_up}];
	setp.ne.u32 %p0, %r4, 0;
	@%p0 bra MIAS_END;
	mov.u64 %d4, %clock64;
	sub.s64 %d4, %d4, %d2;
	setp.gt.u64 %p0, %d4, %d3;
	@%p0 bra MIAS_END;
	mov.u32 %r5, 200;
	nanosleep.u32 %r5;
	bra MIAS_WAIT;
MIAS_END:
	bar.sync 0;
	ret;
}}
",
        tickets = control::HOLDERS,
        held = control::HELD,
        release = control::RELEASE,
        give_up = control::GIVE_UP,
    )
}

/// Holder kernel on the GPU.
#[derive(Debug)]
pub struct Holder {
    function: Function,
    _module: Module,
}

/// Request to hold SMs: their numbers, the TBs on each and their size, and the setting of shared
/// memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// SMs to hold, by number.
    pub sms: Range<u32>,
    /// TBs on each of them.
    pub tbs: u32,
    /// Threads of a TB.
    pub threads: u32,
    /// Bytes of shared memory of a TB.
    pub shared: u32,
    /// Setting of shared memory in percent of the largest.
    pub carve_out: u32,
}

impl Holder {
    /// Assembles the kernel.
    ///
    /// # Errors
    /// The driver's error.
    pub fn new() -> Result<Self, String> {
        let module = Module::of(ptx().as_bytes())?;
        let function = module.function(ENTRY)?;
        function.allow_dynamic(MOST_SHARED)?;
        Ok(Holder { function, _module: module })
    }

    /// Launches the TBs on all `sms` SMs; those on the requested SMs stay for at most `patience`
    /// cycles.
    ///
    /// # Errors
    /// The driver's error.
    pub fn launch(&self, hold: &Hold, sms: u32, control: u64, patience: u64, stream: &Stream) -> Result<(), String> {
        self.function.set_carve_out(hold.carve_out)?;
        let arguments = [
            control.to_le_bytes().to_vec(),
            hold.sms.start.to_le_bytes().to_vec(),
            hold.sms.end.to_le_bytes().to_vec(),
            hold.tbs.to_le_bytes().to_vec(),
            patience.to_le_bytes().to_vec(),
        ];
        self.function.launch([sms * hold.tbs, 1, 1], [hold.threads, 1, 1], hold.shared.min(MOST_SHARED), &arguments, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_ptx::warp::Unobserved;
    use mias_ptx::{Arg, DeviceMemory, Launch, Limits, Program, TbRunner, parser};

    /// Runs three TBs one after the other on SM 5, and returns how many held it, with constant
    /// words for release and giving up.
    fn held(range: Range<u32>, tickets: u32, [release, give_up]: [u8; 2], patience: u64) -> u32 {
        let known = ptx().replace("mov.u32 %r0, %smid;", "mov.u32 %r0, 5;");
        let program = Program::of(&parser::parse("holder", &known).unwrap(), ENTRY).unwrap();
        let mut memory = DeviceMemory::new();
        let mut bytes = vec![0; control::BYTES];
        bytes[control::RELEASE as usize] = release;
        bytes[control::GIVE_UP as usize] = give_up;
        let block = memory.allocate_bytes(&bytes);
        let args = vec![Arg::U64(block.address), Arg::U32(range.start), Arg::U32(range.end), Arg::U32(tickets), Arg::U64(patience)];
        let limits = Limits { warp_instructions: 1 << 20, tb_instructions: 1 << 20, ..Limits::default() };
        let launch = Launch { grid: [3, 1, 1], block: [64, 1, 1], args, shared_bytes: 0, limits };
        let mut runner = TbRunner::new(&program, &launch, &memory).unwrap();
        (0..3).for_each(|tb| runner.run(tb, &mut Unobserved).unwrap());
        let after = memory.read(block.address, control::BYTES).unwrap();
        let taken: u32 = after[control::HOLDERS as usize..].iter().map(|&byte| u32::from(byte)).sum();
        assert_eq!(taken, if range.contains(&5) { 3 } else { 0 }, "each TB on such an SM takes one");
        assert_eq!(u32::from(after[control::HOLDERS as usize + 20]), taken, "of its own SM");
        after[control::HELD as usize].into()
    }

    #[test]
    fn as_many_tbs_as_have_tickets_hold_an_sm_of_the_range_until_they_are_let_go() {
        assert_eq!(held(5..6, 1, [1, 0], 1 << 40), 1);
        assert_eq!(held(0..132, 2, [0, 1], 1 << 40), 2);
        // Without any signal they end by themselves.
        assert_eq!(held(0..132, 1, [0, 0], 10_000), 1);
        assert_eq!(held(6..132, 1, [0, 0], 1 << 40), 0);
        assert_eq!(held(0..5, 2, [0, 0], 1 << 40), 0);
    }
}
