//! Registers of one warp: flat arrays of 32 lanes per register, so that one instruction is one loop
//! over lanes.

use super::LANES;
use super::program::{DoubleReg, PredReg, Program, Src, Src32, Src64, WordReg};

/// All registers of a warp; zero until written.
#[derive(Clone, Debug)]
pub struct RegFile {
    preds: Vec<u32>,
    words: Vec<[u32; LANES]>,
    doubles: Vec<[u64; LANES]>,
}

impl RegFile {
    /// Creates the registers of one warp of `program`.
    pub fn new(program: &Program) -> Self {
        RegFile {
            preds: vec![0; program.pred_count.into()],
            words: vec![[0; LANES]; program.word_count.into()],
            doubles: vec![[0; LANES]; program.double_count.into()],
        }
    }

    /// Clears all registers.
    pub fn clear(&mut self) {
        self.preds.fill(0);
        self.words.fill([0; LANES]);
        self.doubles.fill([0; LANES]);
    }

    /// Returns the value of a predicate, one bit per lane.
    pub fn pred(&self, reg: PredReg) -> u32 {
        self.preds[usize::from(reg.0)]
    }

    /// Returns the values of a 32-bit source per lane.
    #[inline]
    pub fn word(&self, src: Src32) -> [u32; LANES] {
        match src {
            Src::Reg(reg) => self.words[usize::from(reg.0)],
            Src::Imm(value) => [value; LANES],
        }
    }

    /// Returns the values of a 64-bit source per lane.
    #[inline]
    pub fn double(&self, src: Src64) -> [u64; LANES] {
        match src {
            Src::Reg(reg) => self.doubles[usize::from(reg.0)],
            Src::Imm(value) => [value; LANES],
        }
    }

    /// Writes a predicate in the lanes of `mask`, one bit per lane.
    pub fn set_pred(&mut self, reg: PredReg, mask: u32, bits: u32) {
        let old = &mut self.preds[usize::from(reg.0)];
        *old = *old & !mask | bits & mask;
    }

    /// Writes a 32-bit register in the lanes of `mask`.
    #[inline]
    pub fn set_word(&mut self, reg: WordReg, mask: u32, values: &[u32; LANES]) {
        select(&mut self.words[usize::from(reg.0)], mask, values);
    }

    /// Writes a 64-bit register in the lanes of `mask`.
    #[inline]
    pub fn set_double(&mut self, reg: DoubleReg, mask: u32, values: &[u64; LANES]) {
        select(&mut self.doubles[usize::from(reg.0)], mask, values);
    }
}

#[inline]
fn select<T: Copy>(old: &mut [T; LANES], mask: u32, values: &[T; LANES]) {
    if mask == u32::MAX {
        *old = *values;
    } else {
        for lane in 0..LANES {
            if mask >> lane & 1 == 1 {
                old[lane] = values[lane];
            }
        }
    }
}

/// Registers and executing lanes of a warp, on which the arithmetic families operate.
pub struct Lanes<'a> {
    /// Registers of the warp.
    pub regs: &'a mut RegFile,
    /// Lanes that are active and whose guard holds.
    pub mask: u32,
}

impl Lanes<'_> {
    /// Computes `dst = f(a)` in 32 bits.
    #[inline]
    pub fn word1(&mut self, dst: WordReg, a: Src32, f: impl Fn(u32) -> u32) {
        let values = self.regs.word(a).map(f);
        self.regs.set_word(dst, self.mask, &values);
    }

    /// Computes `dst = f(a, b)` in 32 bits.
    #[inline]
    pub fn word2(&mut self, dst: WordReg, [a, b]: [Src32; 2], f: impl Fn(u32, u32) -> u32) {
        let (a, b) = (self.regs.word(a), self.regs.word(b));
        let values = std::array::from_fn(|lane| f(a[lane], b[lane]));
        self.regs.set_word(dst, self.mask, &values);
    }

    /// Computes `dst = f(a, b, c)` in 32 bits.
    #[inline]
    pub fn word3(&mut self, dst: WordReg, [a, b, c]: [Src32; 3], f: impl Fn(u32, u32, u32) -> u32) {
        let (a, b, c) = (self.regs.word(a), self.regs.word(b), self.regs.word(c));
        let values = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]));
        self.regs.set_word(dst, self.mask, &values);
    }

    /// Computes `dst = f(a)` in 64 bits.
    #[inline]
    pub fn double1(&mut self, dst: DoubleReg, a: Src64, f: impl Fn(u64) -> u64) {
        let values = self.regs.double(a).map(f);
        self.regs.set_double(dst, self.mask, &values);
    }

    /// Computes `dst = f(a, b)` in 64 bits.
    #[inline]
    pub fn double2(&mut self, dst: DoubleReg, [a, b]: [Src64; 2], f: impl Fn(u64, u64) -> u64) {
        let (a, b) = (self.regs.double(a), self.regs.double(b));
        let values = std::array::from_fn(|lane| f(a[lane], b[lane]));
        self.regs.set_double(dst, self.mask, &values);
    }

    /// Computes `dst = f(a, b, c)` in 64 bits.
    #[inline]
    pub fn double3(&mut self, dst: DoubleReg, [a, b, c]: [Src64; 3], f: impl Fn(u64, u64, u64) -> u64) {
        let (a, b, c) = (self.regs.double(a), self.regs.double(b), self.regs.double(c));
        let values = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane]));
        self.regs.set_double(dst, self.mask, &values);
    }
}

/// Builds a mask from a test per lane.
#[inline]
pub fn mask_of(test: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).fold(0, |mask, lane| mask | u32::from(test(lane)) << lane)
}
