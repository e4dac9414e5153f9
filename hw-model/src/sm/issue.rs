//! Issue: warps that could issue, selection, and the effects of an issue.

use super::cycle_accounting::EVERY_SUB_CORE;
use super::inflight::{Control, Inflight, MemKind, NO_REG};
use super::operands::MAX_SUB_CORES;
use super::warp::{MAX_WARPS, Wait};
use super::{KERNEL_SLOTS, Programs, Sm};

impl Sm {
    /// Lets every scheduler issue at most one instruction. The first scheduler rotates, as in
    /// Accel-Sim.
    #[inline]
    pub(super) fn issue<const PLAIN: bool>(&mut self, now: u64, programs: &Programs) {
        if self.stalled {
            (self.issued, self.hopeful) = (0, 0);
        } else if PLAIN || self.memory_issue.is_none() & self.active_warps.is_none() {
            self.issue_in_turn::<PLAIN, false>(now, programs);
        } else {
            self.issue_in_turn::<PLAIN, true>(now, programs);
        }
    }

    /// Issues in rotated order; `GATED` if warps may be held back
    /// ([`memory_issue`](super::memory_issue)).
    #[inline(always)]
    fn issue_in_turn<const PLAIN: bool, const GATED: bool>(&mut self, now: u64, programs: &Programs) {
        self.issued = 0;
        if self.hopeful == 0 {
            return;
        }
        self.hopeful = self.may_issue();
        if GATED {
            self.held = 0;
        }
        let now = now - self.turns_from;
        let mut turns = self.in_turn(self.hopeful, now);
        while turns != 0 {
            let turn = turns.trailing_zeros();
            let number = (now as usize + turn as usize) & usize::from(self.sub_core_mask) & (MAX_SUB_CORES - 1);
            turns &= turns - 1;
            let mut may = self.sub_cores[number].readiness.issuable();
            if GATED {
                may = self.allowed(number, may, programs);
                if may == 0 {
                    continue;
                }
            }
            let sub_core = &mut self.sub_cores[number];
            let local = sub_core.picker.pick(may, &sub_core.residents);
            if GATED {
                self.memory_issued((local << self.sub_core_shift) as u8 | number as u8, programs);
            }
            self.issued |= 1 << number;
            if self.issue_warp::<PLAIN>((local << self.sub_core_shift) as u8 | number as u8, number, programs) {
                turns = self.in_turn(self.may_issue(), now) & u32::MAX << turn << 1;
            }
        }
        if GATED {
            // A scheduler that was held back tries again after a change.
            self.hopeful &= !self.held;
            self.accounting.changed |= if self.held != 0 { EVERY_SUB_CORE } else { 0 };
        }
    }

    /// Stops or resumes the schedulers from cycle `now` on. Everything else continues: accesses in
    /// flight return, instructions are fetched, and warps that have issued everything leave.
    pub(crate) fn stall(&mut self, stalled: bool, now: u64) {
        self.account_sleep(now);
        self.stalled = stalled;
        // Warps may have become ready in the meantime.
        self.hopeful |= self.sub_cores_mask();
        self.accounting.changed = EVERY_SUB_CORE;
    }

    /// Mask of all sub-cores.
    pub(super) fn sub_cores_mask(&self) -> u8 {
        u8::MAX >> (MAX_SUB_CORES - self.sub_cores_here())
    }

    /// Mask of sub-cores with a warp that could issue.
    #[inline]
    fn may_issue(&self) -> u8 {
        let issuable = self.sub_cores.iter().take(self.sub_cores_here()).map(|sub_core| sub_core.readiness.issuable() != 0);
        issuable.enumerate().fold(0, |set, (number, any)| set | u8::from(any) << number)
    }

    /// Set of sub-cores in rotated order: bit i stands for sub-core now + i.
    fn in_turn(&self, set: u8, now: u64) -> u32 {
        let (set, count) = (u32::from(set), u32::from(self.sub_core_mask) + 1);
        let first = now as u32 & u32::from(self.sub_core_mask);
        (set | set << count) >> first & !(u32::MAX << count)
    }

    /// Issues a warp's next instruction. Returns true if warps of other sub-cores may have become
    /// ready.
    #[inline(always)]
    fn issue_warp<const PLAIN: bool>(&mut self, number: u8, sub_core: usize, programs: &Programs) -> bool {
        let warp = &mut self.warps[number];
        let Some(program) = programs.get(warp.kernel) else { return false };
        let executed = warp.executed;
        let inst = program.decoded(executed);
        let counters = &mut self.kernels[usize::from(warp.kernel) & (KERNEL_SLOTS - 1)];
        counters.warp_insts += 1;
        counters.thread_insts += u64::from(executed.lanes());
        counters.lanes.count(inst.cost, executed.lanes());
        let mut mem_ref = 0;
        if let MemKind::OffChip { atomic, .. } = inst.mem {
            mem_ref = warp.next_mem;
            warp.next_mem += 1;
            if atomic {
                warp.atomics += 1;
                warp.wait = Wait::Atomic;
            }
        }
        if inst.dst != NO_REG {
            warp.pending.insert(inst.dst);
            if inst.mem != MemKind::None {
                warp.loading.insert(inst.dst);
            }
            if matches!(inst.mem, MemKind::Shared { .. } | MemKind::Constant) {
                let on_chip = &mut self.on_chip[usize::from(number) & (MAX_WARPS - 1)];
                on_chip.loads.insert(inst.dst);
                if inst.mem == MemKind::Constant {
                    on_chip.constant.insert(inst.dst);
                    self.constant_loads += 1;
                }
            }
        }
        warp.in_flight += 1;
        warp.next += 1;
        warp.issued_all = warp.next == warp.end;
        let inflight = Inflight { seq: self.next_seq, mem_ref, executed, dst: inst.dst, warp: number, quick: inst.quick };
        let reads = inst.reads.rotate_left(4 * u32::from(number)) & self.bank_reads_mask;
        self.next_seq = self.next_seq.wrapping_add(1);
        self.operands.issue(sub_core, inst.unit, inflight, reads);
        let readiness = &mut self.sub_cores[sub_core].readiness;
        let bit = warp.bit;
        readiness.latch(inst.unit);
        let dry = match &mut self.fetch {
            Some(fetch) if !PLAIN && !warp.issued_all => fetch.issued_last(number),
            _ => false,
        };
        self.to_fetch |= dry;
        if inst.control == Control::None && !warp.issued_all && warp.wait == Wait::None && !dry {
            // This is the usual case: the next instruction takes its place.
            readiness.clear_ready(bit, inst.unit);
            warp.executed = program.executed(|| self.tbs[usize::from(warp.tb_slot)].part, warp.next);
            let next = program.decoded(warp.executed);
            warp.needs = next.registers;
            warp.unit = next.unit;
            let waits = warp.pending.meets(&next.registers);
            readiness.set_ready(if waits { 0 } else { bit }, next.unit);
            // Registers that a load will write are pending too.
            if warp.loading.meets(&next.registers) {
                self.waits_for_load(number, sub_core);
            }
            return false;
        }
        self.after_control(number, inst.control, programs);
        true
    }

    /// Applies the effect of a control instruction, or of the warp's last instruction, on its TB.
    fn after_control(&mut self, number: u8, control: Control, programs: &Programs) {
        let warp = &mut self.warps[number];
        if control == Control::Fence {
            warp.wait = Wait::Fence;
        }
        let (tb_slot, issued_all) = (warp.tb_slot, warp.issued_all);
        if control == Control::Barrier && !issued_all {
            warp.wait = Wait::Barrier;
            self.tbs[usize::from(tb_slot)].at_barrier += 1;
        }
        if issued_all {
            self.tbs[usize::from(tb_slot)].issuing -= 1;
        }
        self.refresh(number, programs);
        if control == Control::Barrier || issued_all {
            self.ranks_change(self.sub_core(number));
            self.release_barrier(tb_slot, programs);
        }
    }

    /// Releases the barrier of a TB if every warp with instructions left has arrived.
    fn release_barrier(&mut self, tb_slot: u8, programs: &Programs) {
        let tb = &mut self.tbs[usize::from(tb_slot)];
        if tb.at_barrier == 0 || tb.at_barrier < tb.issuing {
            return;
        }
        tb.at_barrier = 0;
        for number in tb.first_warp..tb.first_warp + tb.warps {
            let warp = &mut self.warps[number];
            if warp.wait == Wait::Barrier {
                warp.wait = Wait::None;
                self.refresh(number, programs);
                self.ranks_change(self.sub_core(number));
            }
        }
    }

    /// Number of sub-cores of the GPU.
    #[inline]
    pub(super) fn sub_cores_here(&self) -> usize {
        (usize::from(self.sub_core_mask) & (MAX_SUB_CORES - 1)) + 1
    }

    /// Sub-core of a warp.
    pub(super) fn sub_core(&self, warp: u8) -> usize {
        usize::from(warp & self.sub_core_mask) & (MAX_SUB_CORES - 1)
    }

    /// Number of a warp in its sub-core.
    pub(super) fn local(&self, warp: u8) -> u32 {
        u32::from(warp >> self.sub_core_shift)
    }

    /// Removes a warp from its sub-core's readiness masks.
    pub(super) fn unschedule(&mut self, number: u8) {
        let (sub_core, bit) = (self.sub_core(number), self.warps[number].bit);
        self.sub_cores[sub_core].readiness.clear(bit, self.warps[number].unit);
        self.accounting.changed |= 1 << sub_core;
        self.ranks_change(sub_core);
    }

    /// Recomputes a warp's bits in its sub-core's readiness masks, after its next instruction or
    /// its wait has changed.
    pub(super) fn refresh(&mut self, number: u8, programs: &Programs) {
        let (sub_core, bit) = (self.sub_core(number), self.warps[number].bit);
        let warp = &self.warps[number];
        let readiness = &mut self.sub_cores[sub_core].readiness;
        readiness.clear(bit, warp.unit);
        self.accounting.changed |= 1 << sub_core;
        if !warp.live || warp.issued_all {
            return;
        }
        match warp.wait {
            Wait::None => {}
            Wait::Fence | Wait::Drain | Wait::Atomic => {
                readiness.on_memory |= bit;
                return;
            }
            Wait::Barrier | Wait::Fetch => return,
        }
        if self.lacks_instruction(number) {
            return;
        }
        let warp = &mut self.warps[number];
        let Some(program) = programs.get(warp.kernel) else { return };
        warp.executed = program.executed(|| self.tbs[usize::from(warp.tb_slot)].part, warp.next);
        let inst = program.decoded(warp.executed);
        warp.needs = inst.registers;
        warp.unit = inst.unit;
        let readiness = &mut self.sub_cores[sub_core].readiness;
        readiness.valid |= bit;
        if !warp.pending.meets(&warp.needs) {
            readiness.set_ready(bit, warp.unit);
            self.hopeful |= 1 << sub_core;
        } else {
            self.waits_for_load(number, sub_core);
        }
    }

    /// Records which loads a warp waits for, after its next instruction was examined.
    fn waits_for_load(&mut self, number: u8, sub_core: usize) {
        let warp = &self.warps[number];
        let (through_l1, on_chip) = self.on_chip[usize::from(number) & (MAX_WARPS - 1)].waits(&warp.loading, &warp.needs);
        let readiness = &mut self.sub_cores[sub_core].readiness;
        readiness.on_memory |= if through_l1 { warp.bit } else { 0 };
        readiness.on_chip |= if on_chip { warp.bit } else { 0 };
    }

    /// Handles a register write of a warp, by a `LOAD` or not: its next instruction may have waited
    /// for it.
    pub(super) fn register_written<const LOAD: bool>(&mut self, number: u8, reg: u16) {
        let sub_core = self.sub_core(number);
        let warp = &mut self.warps[number];
        warp.pending.remove(reg);
        if LOAD {
            warp.loading.remove(reg);
            self.constant_loads -= u32::from(self.on_chip[usize::from(number) & (MAX_WARPS - 1)].remove(reg));
        }
        let readiness = &mut self.sub_cores[sub_core].readiness;
        // The outcome is nearly random, so the code has no branches.
        let waited = if warp.needs.contains(reg) { readiness.valid & !readiness.ready & warp.bit } else { 0 };
        self.accounting.changed |= u8::from(waited != 0) << sub_core;
        if LOAD {
            // Without a pending load on its registers, a warp does not wait for a load.
            readiness.on_memory &= !waited;
            readiness.on_chip &= !waited;
            if waited != 0 && warp.loading.meets(&warp.needs) {
                self.waits_for_load(number, sub_core);
                // It still waits for other registers.
                return;
            }
        }
        let now_ready = if warp.pending.meets(&warp.needs) { 0 } else { waited };
        readiness.set_ready(now_ready, warp.unit);
        self.hopeful |= u8::from(now_ready != 0) << sub_core;
    }
}
