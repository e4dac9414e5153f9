//! PTX code around a kernel's body in the slot form. Thread 0 acts for its TB; the others wait at
//! barrier 0, which orders thread 0's writes to shared memory before their reads.
//!
//! Shared words `mias_slot`: 0 whether the slot continues (0), is at its end (1) or has not started
//! (2), 4 8 12 the TB's place in the grid, 16 bytes of the address shift, 24 address of the record,
//! 32 clock at the start, 40 clock at the start of this TB, 48 counted TBs, 56 their cycles. The
//! control block and records are those of `control`.

/// PTX declarations of registers and shared words.
pub const DECLARATIONS: &str = "
	.reg .pred %mias_p<3>;
	.reg .b32 %mias_r<16>;
	.reg .b64 %mias_d<12>;
	.shared .align 8 .b8 mias_slot[64];
";

/// Sets `%mias_p0` if a thread is not the first of its TB.
const NOT_FIRST: &str = "
	mov.u32 %mias_r0, %tid.x;
	mov.u32 %mias_r1, %tid.y;
	or.b32 %mias_r0, %mias_r0, %mias_r1;
	mov.u32 %mias_r1, %tid.z;
	or.b32 %mias_r0, %mias_r0, %mias_r1;
	setp.ne.u32 %mias_p0, %mias_r0, 0;
";

/// Takes a ticket for the SM, and ends without one. Then all wait until every TB has arrived.
const ARRIVE: &str = "
	@%mias_p0 bra MIAS_ARRIVED;
	mov.u32 %mias_r1, 1;
	st.shared.u32 [mias_slot], %mias_r1;
	ld.param.u64 %mias_d0, [mias_control];
	cvta.to.global.u64 %mias_d0, %mias_d0;
	mov.u32 %mias_r2, %smid;
	setp.ge.u32 %mias_p1, %mias_r2, 256;
	@%mias_p1 bra MIAS_GIVE_UP;
	ld.param.u32 %mias_r3, [mias_kernel];
	mad.lo.u32 %mias_r4, %mias_r3, 256, %mias_r2;
	mul.wide.u32 %mias_d1, %mias_r4, 4;
	add.s64 %mias_d1, %mias_d0, %mias_d1;
	atom.global.add.u32 %mias_r5, [%mias_d1+1024], 1;
	ld.param.u32 %mias_r6, [mias_limit];
	setp.ge.u32 %mias_p1, %mias_r5, %mias_r6;
	@%mias_p1 bra MIAS_ARRIVED;
	mad.lo.u32 %mias_r4, %mias_r4, 32, %mias_r5;
	mul.wide.u32 %mias_d1, %mias_r4, 64;
	add.s64 %mias_d1, %mias_d0, %mias_d1;
	add.s64 %mias_d1, %mias_d1, 8192;
	st.shared.u64 [mias_slot+24], %mias_d1;
	mov.u32 %mias_r1, 0;
	mov.u64 %mias_d2, 0;
	st.shared.u32 [mias_slot+48], %mias_r1;
	st.shared.u64 [mias_slot+56], %mias_d2;
	mov.u64 %mias_d2, %clock64;
	ld.param.u32 %mias_r8, [mias_expected];
	ld.param.u64 %mias_d3, [mias_patience];
	atom.global.add.u32 %mias_r7, [%mias_d0], 1;
MIAS_WAIT:
	ld.volatile.global.u32 %mias_r7, [%mias_d0];
	setp.ge.u32 %mias_p1, %mias_r7, %mias_r8;
	@%mias_p1 bra MIAS_RELEASED;
	ld.volatile.global.u32 %mias_r7, [%mias_d0+8];
	setp.ne.u32 %mias_p1, %mias_r7, 0;
	@%mias_p1 bra MIAS_ARRIVED;
	mov.u64 %mias_d4, %clock64;
	sub.s64 %mias_d4, %mias_d4, %mias_d2;
	setp.gt.u64 %mias_p1, %mias_d4, %mias_d3;
	@%mias_p1 bra MIAS_GIVE_UP;
	mov.u32 %mias_r1, 200;
	nanosleep.u32 %mias_r1;
	bra MIAS_WAIT;
MIAS_GIVE_UP:
	mov.u32 %mias_r1, 1;
	st.volatile.global.u32 [%mias_d0+8], %mias_r1;
	bra MIAS_ARRIVED;
MIAS_RELEASED:
	mov.u64 %mias_d4, %clock64;
	mov.u64 %mias_d5, %globaltimer;
	st.shared.u64 [mias_slot+32], %mias_d4;
	st.global.u64 [%mias_d1+32], %mias_d4;
	st.global.u64 [%mias_d1+40], %mias_d5;
	mov.u32 %mias_r1, 2;
	st.shared.u32 [mias_slot], %mias_r1;
MIAS_ARRIVED:
	bar.sync 0;
	ld.shared.u32 %mias_r1, [mias_slot];
	setp.eq.u32 %mias_p1, %mias_r1, 1;
	@%mias_p1 bra MIAS_END;
";

/// Ends a TB, or starts the slot. The only loop has its only entry here, where the whole TB waits:
/// a loop that threads enter in two places has no reconvergence point for a warp's threads. A
/// finished TB is counted if it ended within the window and no other kernel reached its end, and
/// the next is taken. A slot that has taken a TB of a kernel with an end executes it, so that none
/// is left out.
const DONE: &str = "
	@%mias_p0 bra MIAS_JOIN;
	mov.u64 %mias_d4, %clock64;
	ld.param.u64 %mias_d0, [mias_control];
	cvta.to.global.u64 %mias_d0, %mias_d0;
	ld.param.u32 %mias_r3, [mias_kernel];
	mul.wide.u32 %mias_d6, %mias_r3, 128;
	add.s64 %mias_d6, %mias_d0, %mias_d6;
	ld.volatile.global.v2.u32 {%mias_r7, %mias_r8}, [%mias_d0+8];
	atom.global.add.u32 %mias_r9, [%mias_d6+128], 1;
	ld.shared.u64 %mias_d1, [mias_slot+24];
	ld.shared.u64 %mias_d2, [mias_slot+32];
	ld.shared.u32 %mias_r1, [mias_slot];
	setp.eq.u32 %mias_p1, %mias_r1, 2;
	@%mias_p1 bra MIAS_TAKE;
	sub.s64 %mias_d7, %mias_d4, %mias_d2;
	setp.ne.u32 %mias_p1, %mias_r7, 0;
	@%mias_p1 bra MIAS_OVER;
	ld.param.u64 %mias_d3, [mias_window];
	setp.gt.u64 %mias_p1, %mias_d7, %mias_d3;
	@%mias_p1 bra MIAS_OVER;
	ld.param.u32 %mias_r11, [mias_end];
	setp.eq.u32 %mias_p2, %mias_r8, 0;
	@%mias_p2 bra MIAS_COUNT;
	setp.eq.u32 %mias_p1, %mias_r11, 0xffffffff;
	@%mias_p1 bra MIAS_OVER;
	bra MIAS_TAKE;
MIAS_COUNT:
	ld.param.u64 %mias_d3, [mias_warm_up];
	setp.lt.u64 %mias_p1, %mias_d7, %mias_d3;
	@%mias_p1 bra MIAS_TAKE;
	ld.shared.u32 %mias_r10, [mias_slot+48];
	setp.eq.u32 %mias_p1, %mias_r10, 0;
	@%mias_p1 st.global.u64 [%mias_d1+8], %mias_d4;
	st.global.u64 [%mias_d1+16], %mias_d4;
	add.s32 %mias_r10, %mias_r10, 1;
	st.shared.u32 [mias_slot+48], %mias_r10;
	ld.shared.u64 %mias_d8, [mias_slot+40];
	sub.s64 %mias_d8, %mias_d4, %mias_d8;
	ld.shared.u64 %mias_d9, [mias_slot+56];
	add.s64 %mias_d9, %mias_d9, %mias_d8;
	st.shared.u64 [mias_slot+56], %mias_d9;
";

/// Makes TB `%mias_r9` the next: its place in the grid, x fastest.
const TAKE: &str = "
	ld.param.u32 %mias_r11, [mias_end];
	setp.ge.u32 %mias_p1, %mias_r9, %mias_r11;
	@%mias_p1 bra MIAS_LAST;
	ld.param.u32 %mias_r12, [mias_tbs];
	rem.u32 %mias_r13, %mias_r9, %mias_r12;
	ld.param.u32 %mias_r14, [mias_grid_x];
	rem.u32 %mias_r15, %mias_r13, %mias_r14;
	st.shared.u32 [mias_slot+4], %mias_r15;
	div.u32 %mias_r13, %mias_r13, %mias_r14;
	ld.param.u32 %mias_r14, [mias_grid_y];
	rem.u32 %mias_r15, %mias_r13, %mias_r14;
	st.shared.u32 [mias_slot+8], %mias_r15;
	div.u32 %mias_r13, %mias_r13, %mias_r14;
	st.shared.u32 [mias_slot+12], %mias_r13;
";

/// Address shift of the pass that a TB belongs to.
const SHIFT: &str = "
	div.u32 %mias_r13, %mias_r9, %mias_r12;
	cvt.u64.u32 %mias_d8, %mias_r13;
	ld.param.u64 %mias_d9, [mias_stride];
	mul.lo.u64 %mias_d8, %mias_d8, %mias_d9;
	st.shared.u64 [mias_slot+16], %mias_d8;
";

/// Starts the body, or ends and writes the record.
const JOIN: &str = "
	mov.u32 %mias_r1, 0;
	st.shared.u32 [mias_slot], %mias_r1;
	mov.u64 %mias_d4, %clock64;
	st.shared.u64 [mias_slot+40], %mias_d4;
	bra MIAS_JOIN;
MIAS_LAST:
	mov.u32 %mias_r1, 1;
	st.volatile.global.u32 [%mias_d0+12], %mias_r1;
MIAS_OVER:
	mov.u32 %mias_r1, 1;
	st.shared.u32 [mias_slot], %mias_r1;
	ld.shared.u32 %mias_r10, [mias_slot+48];
	ld.shared.u64 %mias_d9, [mias_slot+56];
	mov.u64 %mias_d4, %clock64;
	mov.u64 %mias_d5, %globaltimer;
	st.global.u32 [%mias_d1], %mias_r10;
	st.global.u32 [%mias_d1+4], %mias_r1;
	st.global.u64 [%mias_d1+24], %mias_d9;
	st.global.u64 [%mias_d1+48], %mias_d4;
	st.global.u64 [%mias_d1+56], %mias_d5;
MIAS_JOIN:
	bar.sync 0;
	ld.shared.u32 %mias_r1, [mias_slot];
	setp.ne.u32 %mias_p1, %mias_r1, 0;
	@%mias_p1 bra MIAS_END;
";

/// Returns the code before a body; with `shifted`, addresses depend on the pass.
pub fn before(shifted: bool) -> String {
    let shift = if shifted { SHIFT } else { "" };
    [NOT_FIRST, ARRIVE, "MIAS_DONE:\n\tbar.sync 0;", NOT_FIRST, DONE, "MIAS_TAKE:", TAKE, shift, JOIN].concat()
}

/// Code after a body, where control may fall through.
pub const AFTER: &str = "\tbra MIAS_DONE;\nMIAS_END:\n\tret;\n";
