//! Random control flow against an interpreter, what lanes do together, and atomics.

use super::run;
use proptest::prelude::*;

/// A statement of a random structured program on %r3 (a running value) and %r1 (the thread).
#[derive(Clone, Debug)]
enum Statement {
    Mix(u32),
    If(u32, Vec<Statement>, Vec<Statement>),
    /// Rounds 0 to `value & 3`.
    Loop(Vec<Statement>),
    /// Ends threads by predicate.
    Leave(u32),
    /// All threads that are left wait for each other.
    Barrier,
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = prop_oneof![4 => (1u32..1000).prop_map(Statement::Mix), 1 => (0u32..32).prop_map(Statement::Leave)];
    let nested = leaf.prop_recursive(4, 40, 4, |inner| {
        let block = prop::collection::vec(inner, 0..4);
        prop_oneof![
            (0u32..5, block.clone(), block.clone()).prop_map(|(bit, yes, no)| Statement::If(bit, yes, no)),
            block.prop_map(Statement::Loop),
        ]
    });
    prop::collection::vec(prop_oneof![5 => nested, 1 => Just(Statement::Barrier)], 1..8)
}

/// PTX text of a block; `label` counts labels, `depth` the loop counters in use.
fn emit(block: &[Statement], label: &mut u32, depth: u32, out: &mut String) {
    use std::fmt::Write as _;
    for statement in block {
        *label += 1;
        let (id, counter) = (*label, 8 + depth);
        let _ = match statement {
            Statement::Mix(k) => writeln!(out, "mad.lo.u32 %r3, %r3, 5, {k};\nst.global.u32 [%rd3], %r3;"),
            Statement::Leave(k) => writeln!(out, "and.b32 %r4, %r3, 31;\nsetp.eq.u32 %p1, %r4, {k};\n@%p1 exit;"),
            Statement::Barrier => writeln!(out, "bar.sync 0;"),
            Statement::If(bit, yes, no) => {
                let _ = writeln!(out, "bfe.u32 %r4, %r3, {bit}, 1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra E{id};");
                emit(yes, label, depth, out);
                let _ = writeln!(out, "bra.uni F{id};\nE{id}:");
                emit(no, label, depth, out);
                writeln!(out, "F{id}:")
            }
            Statement::Loop(body) => {
                let _ = writeln!(out, "and.b32 %r{counter}, %r3, 3;\nL{id}: setp.eq.u32 %p1, %r{counter}, 0;\n@%p1 bra D{id};");
                emit(body, label, depth + 1, out);
                writeln!(out, "sub.u32 %r{counter}, %r{counter}, 1;\nbra L{id};\nD{id}:")
            }
        };
    }
}

/// Interprets the block for one thread; false if the thread left.
fn interpret(block: &[Statement], value: &mut u32, stored: &mut u32) -> bool {
    block.iter().all(|statement| match statement {
        Statement::Mix(k) => {
            *value = value.wrapping_mul(5).wrapping_add(*k);
            *stored = *value;
            true
        }
        Statement::Leave(k) => *value & 31 != *k,
        Statement::Barrier => true,
        Statement::If(bit, yes, no) => interpret(if *value >> bit & 1 == 1 { yes } else { no }, value, stored),
        Statement::Loop(body) => (0..*value & 3).all(|_| interpret(body, value, stored)),
    })
}

proptest! {
    /// Random nests of branches, loops and exits, lane by lane against an interpreter; the stack
    /// drains every time.
    #[test]
    fn structured_control_flow(block in statements(), threads in 1u32..70) {
        let mut body = String::from("add.u32 %r3, %r1, 1;\nmul.lo.u32 %r3, %r3, 40503;\n");
        emit(&block, &mut 0, 0, &mut body);
        body.push_str("add.u32 %r3, %r3, 1;\nst.global.u32 [%rd3], %r3;\nret;");
        let expected: Vec<u32> = (0..threads).map(|i| {
            let (mut value, mut stored) = ((i + 1) * 40503, 0);
            if interpret(&block, &mut value, &mut stored) { value.wrapping_add(1) } else { stored }
        }).collect();
        prop_assert_eq!(run(&body, threads).unwrap(), expected);
    }

    /// Shuffles within segments of a power of two, by the description of CUDA's `__shfl_*_sync`.
    #[test]
    fn shuffles(by in 0u32..32, log in 0u32..6, mode in 0usize..4) {
        let (width, name) = (1u32 << log, ["up", "down", "bfly", "idx"][mode]);
        let segment = (32 - width) << 8;
        let c = segment | if name == "up" { 0 } else { 31 };
        let body = format!(
            "mul.lo.u32 %r2, %r1, 7;\nshfl.sync.{name}.b32 %r3|%p1, %r2, {by}, {c}, -1;\nselp.u32 %r4, 1000, 0, %p1;\n\
             add.u32 %r3, %r3, %r4;\nst.global.u32 [%rd3], %r3;\nret;"
        );
        let expected: Vec<u32> = (0..32i64).map(|lane| {
            let (first, w, by) = (lane & !(i64::from(width) - 1), i64::from(width), i64::from(by));
            let from = match mode { 0 => lane - by, 1 => lane + by, 2 => lane ^ by, _ => first + by % w };
            // A butterfly may reach into lower segments, not into higher ones.
            let valid = from < first + w && (from >= first || mode == 2);
            if valid { from as u32 * 7 + 1000 } else { lane as u32 * 7 }
        }).collect();
        prop_assert_eq!(run(&body, 32).unwrap(), expected);
    }

    /// Votes and matches of the threads below a bound, in a branch.
    #[test]
    fn votes(bound in 1u32..33, below in 0u32..40, modulus in 1u32..5) {
        let members: Vec<u32> = (0..bound).collect();
        let mask = members.iter().fold(0u32, |m, i| m | 1 << i);
        let run_one = |inst: &str| {
            let body = format!(
                "mov.u32 %r9, 0;\nsetp.ge.u32 %p1, %r1, {bound};\n@%p1 bra OUT;\nsetp.lt.u32 %p2, %r1, {below};\nrem.u32 %r2, %r1, {modulus};\n\
                 {inst}\nst.global.u32 [%rd3], %r9;\nOUT: ret;"
            );
            run(&body, 32).unwrap()
        };
        let yes = (0..bound.min(below)).fold(0u32, |m, i| m | 1 << i);
        prop_assert_eq!(run_one("vote.sync.ballot.b32 %r9, %p2, -1;")[0], yes);
        prop_assert_eq!(run_one("activemask.b32 %r9;")[0], mask);
        for (name, expected) in [("all", yes == mask), ("any", yes != 0), ("uni", yes == mask || yes == 0)] {
            let found = run_one(&format!("vote.sync.{name}.pred %p3, %p2, -1;\nselp.u32 %r9, 1, 0, %p3;"));
            prop_assert_eq!(found[0], u32::from(expected), "{}", name);
        }
        for (lane, found) in run_one("match.any.sync.b32 %r9, %r2, -1;").into_iter().enumerate().take(bound as usize) {
            let same = members.iter().filter(|&&i| i % modulus == lane as u32 % modulus).fold(0u32, |m, i| m | 1 << i);
            prop_assert_eq!(found, same);
        }
        let all = run_one("match.all.sync.b32 %r9|%p3, %r2, -1;")[0];
        prop_assert_eq!(all, if bound == 1 || modulus == 1 { mask } else { 0 });
    }
}

proptest! {
    /// Reductions (`redux`) give one value of those of the threads below a bound.
    #[test]
    fn reductions_of_a_warp(bound in 1u32..33, k: u32) {
        let values: Vec<u32> = (0..bound).map(|i| i.wrapping_mul(k).rotate_left(i)).collect();
        let run_one = |op: &str| {
            let body = format!(
                "setp.ge.u32 %p1, %r1, {bound};\n@%p1 bra OUT;\nmul.lo.u32 %r2, %r1, {k};\nshf.l.wrap.b32 %r2, %r2, %r2, %r1;\n\
                 redux.sync.{op} %r9, %r2, -1;\nst.global.u32 [%rd3], %r9;\nOUT: ret;"
            );
            run(&body, 32).unwrap()[0]
        };
        prop_assert_eq!(run_one("add.s32"), values.iter().copied().fold(0, u32::wrapping_add));
        prop_assert_eq!(run_one("min.u32"), *values.iter().min().unwrap());
        prop_assert_eq!(run_one("max.s32") as i32, values.iter().map(|&v| v as i32).max().unwrap());
        prop_assert_eq!(run_one("and.b32"), values.iter().fold(u32::MAX, |a, &b| a & b));
        prop_assert_eq!(run_one("or.b32"), values.iter().fold(0, |a, &b| a | b));
        prop_assert_eq!(run_one("xor.b32"), values.iter().fold(0, |a, &b| a ^ b));
    }
}

proptest! {
    /// Each update, by all threads of several warps on one word of shared memory, against its
    /// definition in any order.
    #[test]
    fn atomics_on_one_word(start: u32, threads in 1u32..70, k in 1u32..50) {
        let one = |op: &str, operand: &str| {
            let body = format!(
                "mov.u32 %r5, {start};\nst.shared.u32 [s], %r5;\nmul.lo.u32 %r6, %r1, {k};\nbar.sync 0;\nred.shared.{op} [s], {operand};\n\
                 membar.cta;\nbar.sync 0;\nld.shared.u32 %r7, [s];\nst.global.u32 [%rd3], %r7;\nret;"
            );
            run(&body, threads).unwrap()[0]
        };
        let values: Vec<u32> = (0..threads).map(|i| i * k).collect();
        prop_assert_eq!(one("add.u32", "%r6"), values.iter().fold(start, |a, &b| a.wrapping_add(b)));
        prop_assert_eq!(one("min.s32", "%r6"), values.iter().fold(start as i32, |a, &b| a.min(b as i32)) as u32);
        prop_assert_eq!(one("max.u32", "%r6"), values.iter().fold(start, |a, &b| a.max(b)));
        prop_assert_eq!(one("and.b32", "%r6"), values.iter().fold(start, |a, &b| a & b));
        prop_assert_eq!(one("or.b32", "%r6"), values.iter().fold(start, |a, &b| a | b));
        prop_assert_eq!(one("xor.b32", "%r6"), values.iter().fold(start, |a, &b| a ^ b));
        // Wrapping counters: modulo k + 1 once in range.
        let up = (0..threads).fold(start, |a, _| if a >= k { 0 } else { a + 1 });
        prop_assert_eq!(one("inc.u32", &k.to_string()), up);
        let down = (0..threads).fold(start, |a, _| if a == 0 || a > k { k } else { a - 1 });
        prop_assert_eq!(one("dec.u32", &k.to_string()), down);
    }

    /// On global memory the old values are a permutation of the partial counts; exchange and
    /// compare hand on what was there.
    #[test]
    fn atomics_return_what_was_there(threads in 2u32..70) {
        let mut olds = run("atom.global.add.u32 %r5, [%rd1], 0;\nbar.sync 0;\natom.global.cas.b32 %r6, [%rd1], 0, 77;\n\
            bar.sync 0;\nsetp.eq.u32 %p1, %r6, 0;\nselp.u32 %r7, 1, 0, %p1;\natom.global.exch.b32 %r8, [%rd3], %r7;\nret;", threads).unwrap();
        // Exactly one thread saw the 0 and wrote 77; it noted 1.
        prop_assert_eq!(olds.iter().sum::<u32>(), 1);
        olds = run("cvt.rn.f32.u32 %r5, %r1;\nred.global.add.f32 [%rd1], %r5;\nret;", threads).unwrap();
        prop_assert_eq!(f32::from_bits(olds[0]), (0..threads).sum::<u32>() as f32);
    }
}

#[test]
fn blocks_and_their_registers() {
    let found = run(
        "{ .reg .b32 t; mov.u32 t, 5; add.u32 %r3, t, 1; }\n{ .reg .b32 t; mov.u32 t, 7; add.u32 %r3, %r3, t; }\n\
        prefetch.global.L1 [%rd3];\nst.global.u32 [%rd3], %r3;\nret;",
        32,
    )
    .unwrap();
    assert_eq!(found, [13; 32]);
}
