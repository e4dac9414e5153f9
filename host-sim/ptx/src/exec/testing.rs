//! Test support for the opcode families: executes one instruction on given registers.

use crate::LANES;
use crate::error::PtxError;
use crate::program::{DoubleReg, PredReg, Program, Src, WordReg};
use crate::registers::{Lanes, RegFile};

/// Registers after one instruction: `%r0..` 32-bit, `%rd0..` 64-bit, `%p0..` predicates.
pub(super) struct After(RegFile);

impl After {
    pub(super) fn r(&self, index: u16) -> [u32; LANES] {
        self.0.word(Src::Reg(WordReg(index)))
    }

    pub(super) fn rd(&self, index: u16) -> [u64; LANES] {
        self.0.double(Src::Reg(DoubleReg(index)))
    }

    pub(super) fn p(&self, index: u16) -> u32 {
        self.0.pred(PredReg(index))
    }
}

/// Decodes a single instruction.
pub(super) fn decode(inst: &str) -> Result<Program, PtxError> {
    let text = format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 b)\n{{\n\
         .reg .pred %p<8>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.shared .align 16 .b8 s[256];\n{inst}\nret;\n}}\n"
    );
    Program::parse("test.ptx", &text, "k")
}

/// Executes `inst` with equal values in all lanes; lanes outside of `mask` stay unchanged.
pub(super) fn run_masked(inst: &str, mask: u32, words: &[u32], doubles: &[u64], preds: &[u32]) -> After {
    let program = decode(inst).unwrap_or_else(|e| panic!("{e}"));
    let mut regs = RegFile::new(&program);
    for (i, &value) in words.iter().enumerate() {
        regs.set_word(WordReg(i as u16), u32::MAX, &[value; LANES]);
    }
    for (i, &value) in doubles.iter().enumerate() {
        regs.set_double(DoubleReg(i as u16), u32::MAX, &[value; LANES]);
    }
    for (i, &value) in preds.iter().enumerate() {
        regs.set_pred(PredReg(i as u16), u32::MAX, value);
    }
    super::execute(&program.insts[0].op, &mut Lanes { regs: &mut regs, mask });
    After(regs)
}

/// Executes several instructions one after the other in all lanes.
pub(super) fn run_program(insts: &str, words: &[u32]) -> After {
    let program = decode(insts).unwrap_or_else(|e| panic!("{e}"));
    let mut regs = RegFile::new(&program);
    for (i, &value) in words.iter().enumerate() {
        regs.set_word(WordReg(i as u16), u32::MAX, &[value; LANES]);
    }
    for inst in &program.insts {
        super::execute(&inst.op, &mut Lanes { regs: &mut regs, mask: u32::MAX });
    }
    After(regs)
}

/// Executes `inst` in all lanes.
pub(super) fn run(inst: &str, words: &[u32], doubles: &[u64]) -> After {
    run_masked(inst, u32::MAX, words, doubles, &[])
}

/// Returns the 32-bit result in `%r7` of an instruction on `%r0..`.
pub(super) fn word(inst: &str, words: &[u32]) -> u32 {
    run(inst, words, &[]).r(7)[13]
}

/// Returns the 64-bit result in `%rd7` of an instruction on `%rd0..`.
pub(super) fn double(inst: &str, doubles: &[u64]) -> u64 {
    run(inst, &[], doubles).rd(7)[13]
}
