//! Bit manipulation against definitions bit by bit.

use super::super::testing::{double, run, word};
use proptest::prelude::*;

fn bit(x: u64, i: u32) -> u64 {
    if i < 64 { x >> i & 1 } else { 0 }
}

/// Extracts a bit field by the loop of the PTX ISA's own pseudocode for `bfe`.
fn bfe(a: u64, pos: u32, len: u32, bits: u32, signed: bool) -> u64 {
    let msb = bits - 1;
    let sign = if !signed || len == 0 { 0 } else { bit(a, msb.min(pos + len - 1)) };
    (0..bits).fold(0, |d, i| d | (if i < len && pos + i <= msb { bit(a, pos + i) } else { sign }) << i)
}

/// Inserts a bit field by the loop of the PTX ISA's own pseudocode for `bfi`.
fn bfi(a: u64, b: u64, pos: u32, len: u32, bits: u32) -> u64 {
    (0..len).filter(|i| pos + i < bits).fold(b, |f, i| f & !(1 << (pos + i)) | bit(a, i) << (pos + i))
}

proptest! {
    #[test]
    fn fields(a: u64, b: u64, pos in 0u32..80, len in 0u32..80) {
        let (wa, wb) = (a as u32, b as u32);
        prop_assert_eq!(word("bfe.u32 %r7, %r0, %r1, %r2;", &[wa, pos, len]), bfe(wa.into(), pos, len, 32, false) as u32);
        prop_assert_eq!(word("bfe.s32 %r7, %r0, %r1, %r2;", &[wa, pos, len]), bfe(wa.into(), pos, len, 32, true) as u32);
        prop_assert_eq!(word("bfi.b32 %r7, %r0, %r1, %r2, %r3;", &[wa, wb, pos, len]), bfi(wa.into(), wb.into(), pos, len, 32) as u32);
        let wide = |op: &str, last: &str| run(&format!("{op} %rd7, {last}, %r1, %r2;"), &[0, pos, len], &[a, b]).rd(7)[4];
        prop_assert_eq!(wide("bfe.s64", "%rd0"), bfe(a, pos, len, 64, true));
        prop_assert_eq!(wide("bfe.u64", "%rd0"), bfe(a, pos, len, 64, false));
        prop_assert_eq!(wide("bfi.b64", "%rd0, %rd1"), bfi(a, b, pos, len, 64));
    }

    #[test]
    fn counting(a: u64, shift in 0u32..64) {
        let a = a >> shift;
        let w = a as u32;
        let ones = |x: u64, bits: u32| (0..bits).map(|i| bit(x, i) as u32).sum::<u32>();
        let top = |x: u64, bits: u32| (0..bits).rev().find(|&i| bit(x, i) == 1);
        prop_assert_eq!(word("popc.b32 %r7, %r0;", &[w]), ones(w.into(), 32));
        prop_assert_eq!(run("popc.b64 %r7, %rd0;", &[], &[a]).r(7)[0], ones(a, 64));
        prop_assert_eq!(word("clz.b32 %r7, %r0;", &[w]), top(w.into(), 32).map_or(32, |i| 31 - i));
        prop_assert_eq!(run("clz.b64 %r7, %rd0;", &[], &[a]).r(7)[0], top(a, 64).map_or(64, |i| 63 - i));
        let reversed = |bits: u32, x: u64| (0..bits).fold(0, |d, i| d | bit(x, i) << (bits - 1 - i));
        prop_assert_eq!(word("brev.b32 %r7, %r0;", &[w]), reversed(32, w.into()) as u32);
        prop_assert_eq!(double("brev.b64 %rd7, %rd0;", &[a]), reversed(64, a));
        prop_assert_eq!(word("bfind.u32 %r7, %r0;", &[w]), top(w.into(), 32).unwrap_or(u32::MAX));
        let positive = if (w as i32) < 0 { !w } else { w };
        prop_assert_eq!(word("bfind.s32 %r7, %r0;", &[w]), top(positive.into(), 32).unwrap_or(u32::MAX));
        prop_assert_eq!(word("bfind.shiftamt.u32 %r7, %r0;", &[w]), top(w.into(), 32).map_or(u32::MAX, |i| 31 - i));
        prop_assert_eq!(word("cnot.b32 %r7, %r0;", &[w]), u32::from(w == 0));
    }

    #[test]
    fn permuting(a: u32, b: u32, c: u32, table: u8, n in 0u32..70) {
        let bytes: Vec<u8> = a.to_le_bytes().into_iter().chain(b.to_le_bytes()).collect();
        let picked: [u8; 4] = std::array::from_fn(|i| {
            let select = c >> (4 * i) & 15;
            let byte = bytes[(select & 7) as usize];
            if select < 8 { byte } else if byte >= 128 { 255 } else { 0 }
        });
        prop_assert_eq!(word("prmt.b32 %r7, %r0, %r1, %r2;", &[a, b, c]), u32::from_le_bytes(picked));
        let looked = (0..32).fold(0, |d, i| {
            let row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1;
            d | u32::from(table >> row & 1) << i
        });
        prop_assert_eq!(word(&format!("lop3.b32 %r7, %r0, %r1, %r2, {table};"), &[a, b, c]), looked);
        let both = u128::from(b) << 32 | u128::from(a);
        let left = |n: u32| ((both << n) >> 32) as u32;
        let right = |n: u32| (both >> n) as u32;
        prop_assert_eq!(word("shf.l.wrap.b32 %r7, %r0, %r1, %r2;", &[a, b, n]), left(n % 32));
        prop_assert_eq!(word("shf.l.clamp.b32 %r7, %r0, %r1, %r2;", &[a, b, n]), left(n.min(32)));
        prop_assert_eq!(word("shf.r.wrap.b32 %r7, %r0, %r1, %r2;", &[a, b, n]), right(n % 32));
        prop_assert_eq!(word("shf.r.clamp.b32 %r7, %r0, %r1, %r2;", &[a, b, n]), right(n.min(32)));
        let dot = (0..4).map(|i| i32::from(a.to_le_bytes()[i] as i8).wrapping_mul(b.to_le_bytes()[i].into())).sum::<i32>();
        prop_assert_eq!(word("dp4a.s32.u32 %r7, %r0, %r1, %r2;", &[a, b, c]), c.wrapping_add(dot as u32));
    }

    #[test]
    fn halves_times_bytes_and_the_nth_bit(a: u32, b: u32, c: u32, base in 0u32..32, n in -33i32..34) {
        let signed = |i: usize| i64::from(i16::from_le_bytes([a.to_le_bytes()[2 * i], a.to_le_bytes()[2 * i + 1]]));
        let unsigned = |i: usize| signed(i) & 0xffff;
        let dot = |half: &dyn Fn(usize) -> i64, first: usize| {
            (0..2).map(|i| half(i) * i64::from(b.to_le_bytes()[first + i])).sum::<i64>() as u32
        };
        prop_assert_eq!(word("dp2a.lo.u32.u32 %r7, %r0, %r1, %r2;", &[a, b, c]), c.wrapping_add(dot(&unsigned, 0)));
        prop_assert_eq!(word("dp2a.hi.s32.u32 %r7, %r0, %r1, %r2;", &[a, b, c]), c.wrapping_add(dot(&signed, 2)));
        let bytes = (0..2).map(|i| signed(i) * i64::from(b.to_le_bytes()[i] as i8)).sum::<i64>() as u32;
        prop_assert_eq!(word("dp2a.lo.s32.s32 %r7, %r0, %r1, %r2;", &[a, b, c]), c.wrapping_add(bytes));
        // Walk from the base one bit at a time and count.
        let (mut at, mut left) = (base as i32, n.abs());
        let expected = loop {
            if !(0..32).contains(&at) { break u32::MAX; }
            if a >> at & 1 == 1 { left -= 1; if left <= 0 { break at as u32; } }
            if n == 0 { break u32::MAX; }
            at += n.signum();
        };
        prop_assert_eq!(word("fns.b32 %r7, %r0, %r1, %r2;", &[a, base, n as u32]), expected);
    }

    #[test]
    fn sixteen_bits(a: u32, b: u32, n in 0u32..20) {
        let (x, y) = (a as u16, b as u16);
        let low = |inst: &str, args: &[u32]| word(inst, args) as u16;
        prop_assert_eq!(low("and.b16 %r7, %r0, %r1;", &[a, b]), x & y);
        prop_assert_eq!(low("or.b16 %r7, %r0, %r1;", &[a, b]), x | y);
        prop_assert_eq!(low("xor.b16 %r7, %r0, %r1;", &[a, b]), x ^ y);
        prop_assert_eq!(low("not.b16 %r7, %r0;", &[a]), !x);
        prop_assert_eq!(low("shl.b16 %r7, %r0, %r1;", &[a, n]), (u32::from(x) << n) as u16);
        prop_assert_eq!(low("shr.u16 %r7, %r0, %r1;", &[a, n]), (u32::from(x) >> n) as u16);
        prop_assert_eq!(low("shr.s16 %r7, %r0, %r1;", &[a, n]), (i32::from(x as i16) >> n) as u16);
    }
}
