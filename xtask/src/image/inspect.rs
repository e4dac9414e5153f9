//! Parsing of the LLVM tools' output about an image. Pure functions of text, so that they can be
//! tested without tools.
//!
//! Float and helper names: Arm's run-time ABI (RTABI32, "floating-point helper functions") and the
//! generic names of compiler-rt, which Rust's `compiler_builtins` defines.

use anyhow::{Context, Result, bail};

/// Size of an image in bytes, from the sections that `llvm-size --format=sysv` lists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Code, read-only data, and the initial values of variables.
    pub(crate) flash: u64,
    /// Variables. The stack and an empty heap, which some linker scripts list as sections, do not
    /// count.
    pub(crate) ram: u64,
}

impl Size {
    /// Parses the table.
    pub(crate) fn parse(table: &str) -> Result<Self> {
        let mut size = Self { flash: 0, ram: 0 };
        for line in table.lines().filter(|line| line.starts_with('.')) {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            let bytes: u64 = words.next().and_then(|word| word.parse().ok()).with_context(|| format!("llvm-size printed {line:?}"))?;
            let is_part = |names: &[&str]| names.iter().any(|part| name == *part || name.starts_with(&format!("{part}.")));
            if is_part(&[".data", ".bss", ".uninit", ".crash_record"]) {
                size.ram += bytes;
            }
            if is_part(&[".vector_table", ".init", ".text", ".rodata", ".data", ".gnu.sgstubs", ".eh_frame"]) {
                size.flash += bytes;
            }
        }
        if size.flash == 0 {
            bail!("llvm-size printed no code:\n{table}");
        }
        Ok(size)
    }
}

/// Returns the address of a symbol, from the output of `llvm-nm`.
pub(crate) fn address(symbols: &str, name: &str) -> Result<u64> {
    let line = symbols.lines().find(|line| line.split_whitespace().last() == Some(name));
    let address = line.and_then(|line| u64::from_str_radix(line.split_whitespace().next()?, 16).ok());
    address.with_context(|| format!("the image has no symbol {name}"))
}

/// Returns whether a linker's message reports `symbol` as undefined.
pub(crate) fn names_undefined(message: &str, symbol: &str) -> bool {
    message.lines().any(|line| (line.contains("undefined symbol") || line.contains("undefined reference")) && line.contains(symbol))
}

/// Returns the number of instructions in a disassembly; data in code (`.word`) does not count.
pub(crate) fn instruction_count(disassembly: &str) -> usize {
    disassembly.lines().filter(|line| mnemonic(line).is_some()).count()
}

/// Returns the float instructions in a disassembly, each with its function. All of Arm's VFP
/// mnemonics begin with `v`, and no integer mnemonic of Thumb-2 does. RISC-V's of the F, D and Zfh
/// extensions begin with `f`, as otherwise only `fence` does. Unknown instructions (`<unknown>`)
/// are reported too.
pub(crate) fn float_instructions(disassembly: &str, is_riscv: bool) -> Vec<String> {
    let mut function = "an unnamed function";
    let mut found = Vec::new();
    let is_float = |name: &str| if is_riscv { name.starts_with('f') && !name.starts_with("fence") } else { name.starts_with('v') };
    for line in disassembly.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
            function = name.1;
        } else if mnemonic(line).is_some_and(|name| is_float(name) || name.starts_with('<')) {
            found.push(format!("float or unknown instruction in {function}: {}", line.trim().replace('\t', " ")));
        }
    }
    found
}

/// Returns the mnemonic of a line: the first word after the address and its colon, unless it is
/// data (`.word`).
fn mnemonic(line: &str) -> Option<&str> {
    let (address, rest) = line.split_once(':')?;
    u64::from_str_radix(address.trim(), 16).ok()?;
    rest.split_whitespace().next().filter(|word| !word.starts_with('.'))
}

/// Returns whether a symbol is a helper of float arithmetic, or of parsing and printing floats.
pub(crate) fn is_soft_float(symbol: &str) -> bool {
    let name = symbol.trim();
    let arm = name.strip_prefix("__aeabi_").is_some_and(|helper| {
        let conversion = ["2f", "2d", "2h", "2iz", "2uiz", "2lz", "2ulz"].iter().any(|end| helper.ends_with(end));
        conversion || ["f", "d", "cf", "cd"].iter().any(|kind| helper.strip_prefix(kind).is_some_and(is_operation))
    });
    let generic = name.starts_with("__") && ["sf2", "df2", "hf2", "tf2", "sf3", "df3", "hf3", "tf3"].iter().any(|end| name.ends_with(end));
    let converting = ["__fixsf", "__fixdf", "__fixunssf", "__fixunsdf", "__floatsi", "__floatdi", "__floatunsi", "__floatundi"];
    let text = ["compiler_builtins::float", "core::num::flt2dec", "core::num::dec2flt", "core::num::imp::flt2dec", "core::fmt::float"];
    arm || generic || converting.iter().any(|start| name.starts_with(start)) || text.iter().any(|path| name.contains(path))
}

/// Returns whether a name is an operation that RTABI32 defines per float type (`__aeabi_fadd`,
/// `__aeabi_cdcmple`, ...).
fn is_operation(name: &str) -> bool {
    ["add", "sub", "rsub", "mul", "div", "neg", "cmp"].iter().any(|operation| name.starts_with(operation))
}

/// Returns whether a symbol belongs to an allocator.
pub(crate) fn is_allocator(symbol: &str) -> bool {
    let name = symbol.trim();
    let hooks = ["__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rust_no_alloc_shim", "__rg_", "__rdl_"];
    ["malloc", "calloc", "realloc", "free"].contains(&name)
        || hooks.iter().any(|hook| name.contains(hook))
        || ["alloc::", "<alloc::", "core::alloc::global::"].iter().any(|path| name.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
image:	file format elf32-littlearm

Disassembly of section .text:

00000400 <decide>:
     400:      	push	{r4, lr}
     402:      	umull	r0, r1, r2, r3
     406:      	bl	0x410 <mean> @ imm = #0x6

00000410 <mean>:
     410:      	vldr	s0, [pc, #4]
     414:      	bx	lr
     416:      	<unknown>
     418:      	.word	0x3f800000
";

    #[test]
    fn instructions_are_counted_without_data() {
        assert_eq!(instruction_count(CODE), 6);
        assert_eq!(instruction_count("image:	file format elf32-littlearm\n\n00000400 <decide>:\n"), 0);
    }

    #[test]
    fn float_and_unknown_instructions_are_found_with_their_function() {
        let found = float_instructions(CODE, false);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("in mean") && found[0].contains("vldr s0"), "{found:?}");
        assert!(found[1].contains("in mean") && found[1].contains("<unknown>"), "{found:?}");
        let found = float_instructions(&CODE.replace("umull", "fadd.s").replace("push", "fence"), true);
        assert!(found.len() == 2 && found[0].contains("in decide"), "{found:?}");
    }

    #[test]
    fn soft_float_helpers_are_told_from_integer_helpers() {
        for name in [
            "__aeabi_fadd",
            "__aeabi_ddiv",
            "__aeabi_cdcmple",
            "__aeabi_ui2f",
            "__aeabi_l2d",
            "__aeabi_f2iz",
            "__aeabi_d2ulz",
            "__aeabi_f2d",
            "__addsf3",
            "__ltdf2",
            "__extendsfdf2",
            "__floatunsisf",
            "__fixunsdfsi",
            "core::fmt::float::float_to_decimal_common_exact",
        ] {
            assert!(is_soft_float(name), "{name}");
        }
        for name in [
            "__aeabi_uldivmod",
            "__aeabi_memcpy4",
            "__aeabi_idiv",
            "__aeabi_lmul",
            "__udivmoddi4",
            "Reset",
            "mias_firmware::metric::factor",
        ] {
            assert!(!is_soft_float(name), "{name}");
        }
    }

    #[test]
    fn allocator_symbols_are_found() {
        for name in [
            "__rust_alloc",
            "__rdl_dealloc",
            "alloc::vec::Vec<T>::push",
            "<alloc::string::String as core::fmt::Write>::write_str",
            "malloc",
        ] {
            assert!(is_allocator(name), "{name}");
        }
        for name in ["mias_firmware::config::allocate", "heapless::vec::Vec<T,N>::push", "Reset"] {
            assert!(!is_allocator(name), "{name}");
        }
    }

    #[test]
    fn the_linker_must_name_the_symbol_as_undefined() {
        assert!(names_undefined(
            "rust-lld: error: undefined symbol: __panic_is_reachable\n>>> referenced by lib.rs",
            "__panic_is_reachable"
        ));
        assert!(!names_undefined("error: package has no feature `inject-panic`", "__panic_is_reachable"));
        assert!(!names_undefined("undefined symbol: memcpy\nnote: in __panic_is_reachable", "__panic_is_reachable"));
    }

    #[test]
    fn symbols_have_addresses() {
        let symbols = "00000400 T Reset\n20000e10 B __ebss\n         U missing\n";
        assert_eq!(address(symbols, "__ebss").unwrap(), 0x2000_0e10);
        assert!(address(symbols, "ebss").is_err() && address(symbols, "missing").is_err());
    }

    #[test]
    fn sizes_are_those_of_the_sections_that_are_loaded() {
        let table = "image  :\nsection size addr\n.vector_table 1024 0\n.text 8000 1024\n.rodata 16 9024\n.data 4 536870912\n\
            .bss 2820 536870916\n.stack 4190808 2151682088\n.debug_line 99999 0\nTotal 4302675\n";
        assert_eq!(Size::parse(table).unwrap(), Size { flash: 1024 + 8000 + 16 + 4, ram: 4 + 2820 });
        assert!(Size::parse("llvm-size: error\n").is_err());
    }
}
