//! The table `[limits]` of a kernel's file.

use super::super::*;
use mias_ptx::Limits;

/// A hundred thousand rounds of three instructions.
const ROUNDS: &str = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n.reg .pred %p<2>;\n\
    .reg .b32 %r<2>;\nmov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 100000;\n@%p1 bra L;\nret;\n}\n";

const KERNEL: &str =
    "ptx = \"k.ptx\"\ngrid = 1\nblock = 64\nregisters = 16\nargs = [\"buf:u32:16:zeros\"]\n[size]\ndefault = 50\n[limits]\n";

fn prepared(limits: &str) -> Result<Prepared, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), ROUNDS).unwrap();
    let path = folder.path().join("k.toml");
    std::fs::write(&path, format!("{KERNEL}{limits}")).unwrap();
    let spec = Spec::parse(path.to_str().unwrap()).map_err(|error| error.to_string());
    let prepared = spec.and_then(|spec| spec.prepare().map_err(|error| error.to_string()));
    prepared.map_err(|message| message.replace(&format!("{}/", folder.path().display()), ""))
}

fn run(limits: &str) -> Result<(), String> {
    prepared(limits)?.record().map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn a_limit_that_is_reached_is_named() {
    run("").unwrap();
    // Each bound just below what the kernel needs, and at it: 300,002 instructions of each warp.
    run("warp_instructions = 300_002").unwrap();
    for (limits, key) in [
        ("warp_instructions = \"6000 * size + 1\"", "warp_instructions"),
        ("tb_instructions = 100_000", "tb_instructions"),
        ("tb_record_bytes = 1000", "tb_record_bytes"),
    ] {
        let message = run(limits).unwrap_err();
        assert!(message.contains(&format!("if it needs more, raise `{key}` in the table [limits] of its file")), "{message}");
    }
}

#[test]
fn limits_are_those_of_the_file() {
    let limits = |text: &str| prepared(text).unwrap().instance.launch.limits;
    assert_eq!(limits(""), Limits::default());
    let text = "warp_instructions = 1\ntb_instructions = 2\ntb_record_bytes = 3\nstack_bytes = \"size * 8\"";
    assert_eq!(limits(text), Limits { warp_instructions: 1, tb_instructions: 2, record_bytes: 3, stack_bytes: 400 });
}

#[test]
fn limits_that_cannot_be_are_refused() {
    for (limits, expected) in [
        ("stack_bytes = 600_000", "k.toml:9:15: bytes of a thread's stack: expected 1 to 524288, found 600000"),
        ("stack_bytes = 0", "k.toml:9:15: bytes of a thread's stack: expected 1 to 524288, found 0"),
        ("warp_instructions = \"0 - size\"", "k.toml:9:21: instructions of a warp: expected 1 to 9223372036854775807, found -50"),
        ("instructions = 5", "k.toml:9:1: unknown field `instructions`"),
    ] {
        let message = run(limits).unwrap_err();
        assert!(message.starts_with(expected), "{message}");
    }
}
