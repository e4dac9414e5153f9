//! The parser on small texts, good and bad.

use super::*;
use crate::ast::{GuardText, Instruction};
use proptest::prelude::*;

const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

fn one(body: &str) -> Result<Instruction<'_>, PtxError> {
    // Leaked so that the test can hand the borrowed instruction out; a few bytes per test.
    let text: &'static str = Box::leak(format!("{HEAD}.visible .entry k()\n{{\n{body}\n}}\n").into_boxed_str());
    let module = parse("k.ptx", text)?;
    match module.refused.first() {
        Some(refused) => Err(refused.error.clone()),
        None => Ok(module.entries[0].body.as_ref().unwrap()[0].clone()),
    }
}

#[test]
fn operands_of_every_form() {
    let inst = one("@!%p1 ld.shared.v2.f32 {%f1, %f2}, [%r8+-16];").unwrap();
    assert_eq!(inst.guard, Some(GuardText { register: "%p1", negated: true }));
    assert_eq!(inst.operands[0], Operand::Vector(vec![Operand::Name("%f1"), Operand::Name("%f2")]));
    assert_eq!(inst.operands[1], Operand::Address { base: Some("%r8"), offset: -16 });
    let inst = one("fma.rn.f32 %f1, 0fBF800000, -5, 0x10U;").unwrap();
    assert_eq!(inst.operands[1..], [Operand::Float32(0xbf80_0000), Operand::Integer(-5i64 as u64), Operand::Integer(16)]);
}

#[test]
fn the_size_of_a_warp_is_a_number() {
    let inst = one("mad.lo.s32 %r1, %r2, WARP_SZ, -WARP_SZ;").unwrap();
    assert_eq!(inst.operands[2..], [Operand::Integer(32), Operand::Integer(-32i64 as u64)]);
}

#[test]
fn what_cannot_be_read_does_not_hide_the_rest() {
    let text = format!(
        "{HEAD}.func (.reg .b32 r) f(.reg .b32 a)\n{{ ret; }}\n.entry bad()\n{{\n{{ .reg .b32 %r<2>; }}\nfrob %r1 \"}}\" 5;\n}}\n\
         .func odd(.param .b32 x);\n.entry good()\n{{\nret;\n}}\n"
    );
    let module = parse("k.ptx", &text).unwrap();
    assert_eq!(module.entries.iter().map(|e| e.name).collect::<Vec<_>>(), ["good"]);
    let refused: Vec<(&str, bool, String)> = module.refused.iter().map(|r| (r.name, r.entry, r.error.to_string())).collect();
    assert_eq!(refused.iter().map(|r| (r.0, r.1)).collect::<Vec<_>>(), [("f", false), ("bad", true)]);
    assert!(refused[0].2.contains("unsupported parameter in a register") && refused[1].2.starts_with("k.ptx:9:"), "{refused:?}");
    let program = |entry: &str| crate::Program::parse("k.ptx", &text, entry).map_err(|e| e.to_string());
    assert!(program("good").is_ok());
    assert_eq!(program("bad").unwrap_err(), refused[1].2);
    assert!(program("none").unwrap_err().ends_with("the module has: good, bad"));
}

#[test]
fn errors_name_the_place_and_the_text() {
    let error = one("mov.u32 %r1 %r2;").unwrap_err().to_string();
    assert_eq!(error, "k.ptx:6:13: expected `,`, found `%r2`");
    let error = parse("k.ptx", ".version 99.0\n").unwrap_err().to_string();
    assert_eq!(error, "k.ptx:1:10: unsupported PTX version: `99.0`");
    let error = parse("k.ptx", &format!("{HEAD}.entry k()\n{{\n ret;\n")).unwrap_err().to_string();
    assert_eq!(error, "k.ptx:7:1: expected `}`, found `end of file`");
}

proptest! {
    /// Dropping any one token of a good file gives a module or an error, never a panic.
    #[test]
    fn a_missing_token_never_panics(skip in 0usize..60) {
        let text = format!("{HEAD}.visible .entry k(.param .u64 a)\n{{\n.reg .b32 %r<3>;\n.shared .align 4 .b8 s[64];\nL: @%p1 ld.shared.v2.f32 {{%f1, %f2}}, [%r8+16];\n ret;\n}}");
        let kept: Vec<&str> = tokenize("k.ptx", &text).unwrap().iter().enumerate()
            .filter(|(i, t)| *i != skip && t.kind != TokenKind::End).map(|(_, t)| t.text).collect();
        let _ = parse("k.ptx", &kept.join(" "));
    }
}
