//! Worst-case stack usage, from a disassembly: the frame of every function, the call graph, and the
//! deepest path. A pure function of text.
//!
//! A frame is the sum of all stack pointer decrements of a function, whether or not they execute
//! together. An unknown instruction on the stack pointer is an error, as are a call through a
//! register and recursion, since the bound would be invalid.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};

/// Functions with their frames and callees.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CallGraph {
    functions: BTreeMap<String, Function>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Function {
    frame: u64,
    callees: Vec<String>,
    /// Reason why no bound exists if this function is reached.
    trouble: Option<String>,
}

/// Deepest path of calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Deepest {
    /// Stack usage in bytes.
    pub(crate) bytes: u64,
    /// Functions with their frames, outermost first.
    pub(crate) path: Vec<(String, u64)>,
}

impl CallGraph {
    /// Parses the output of `llvm-objdump --disassemble --no-show-raw-insn`.
    pub(crate) fn parse(disassembly: &str) -> Self {
        let mut functions: BTreeMap<String, Function> = BTreeMap::new();
        let mut name = String::new();
        let words: BTreeMap<u64, u32> = disassembly.lines().filter_map(word).collect();
        // Register that the last instruction loaded with a constant, and the constant.
        let mut loaded = None;
        let mut lines = disassembly.lines().peekable();
        while let Some(line) = lines.next() {
            if is_fill(line) && lines.peek().is_none_or(|next| instruction(next).is_none()) {
                continue;
            }
            if let Some((_, rest)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
                name = rest.to_owned();
                functions.entry(name.clone()).or_default();
            } else if let Some((mnemonic, operands)) = instruction(line)
                && let Some(function) = functions.get_mut(&name)
            {
                let constant = loaded.take();
                loaded = literal(line, mnemonic, operands, &words);
                match large_frame(mnemonic, operands, constant).map_or_else(|| frame_bytes(mnemonic, operands), Ok) {
                    Ok(bytes) => function.frame += bytes,
                    Err(trouble) => function.trouble = Some(format!("{trouble}: {mnemonic} {operands}")),
                }
                if let Some(callee) = target(operands).filter(|callee| *callee != name) {
                    function.callees.push(callee);
                } else if is_indirect_call(mnemonic, operands) {
                    function.trouble = Some(format!("calls through a register: {mnemonic} {operands}"));
                }
            }
        }
        Self { functions }
    }

    /// Returns the deepest path from a function.
    pub(crate) fn deepest(&self, root: &str) -> Result<Deepest> {
        let mut known = BTreeMap::new();
        let bytes = self.depth(root, &mut Vec::new(), &mut known)?;
        let mut path = Vec::new();
        let mut at = Some(root);
        while let Some(name) = at {
            let function = self.function(name)?;
            path.push((name.to_owned(), function.frame));
            at = function.callees.iter().max_by_key(|callee| known.get(*callee)).map(String::as_str);
        }
        Ok(Deepest { bytes, path })
    }

    fn function(&self, name: &str) -> Result<&Function> {
        self.functions.get(name).with_context(|| format!("no function {name} in the image"))
    }

    fn depth(&self, name: &str, open: &mut Vec<String>, known: &mut BTreeMap<String, u64>) -> Result<u64> {
        if let Some(bytes) = known.get(name) {
            return Ok(*bytes);
        }
        ensure!(!open.iter().any(|caller| caller == name), "recursion: {} > {name}", open.join(" > "));
        let function = self.function(name)?;
        if let Some(trouble) = &function.trouble {
            bail!("no bound for the stack: {name} {trouble}");
        }
        open.push(name.to_owned());
        let mut below = 0;
        for callee in &function.callees {
            below = self.depth(callee, open, known)?.max(below);
        }
        open.pop();
        let bytes = function.frame + below;
        known.insert(name.to_owned(), bytes);
        Ok(bytes)
    }
}

/// Returns mnemonic and operands of a line, without comments.
fn instruction(line: &str) -> Option<(&str, &str)> {
    let (address, rest) = line.split_once(':')?;
    u64::from_str_radix(address.trim(), 16).ok()?;
    let rest = rest.split(" @ ").next()?.trim();
    let (mnemonic, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!mnemonic.is_empty() && !mnemonic.starts_with('.')).then_some((mnemonic, operands.trim()))
}

/// Returns address and value of a constant in the code.
fn word(line: &str) -> Option<(u64, u32)> {
    let (address, rest) = line.split_once(':')?;
    // The bytes precede it.
    let (_, value) = rest.split_once(".word")?;
    let value = value.trim().strip_prefix("0x")?;
    Some((u64::from_str_radix(address.trim(), 16).ok()?, u32::from_str_radix(value, 16).ok()?))
}

/// Returns the register that a line loads with a constant, and the constant: `ldr r6, [pc, #0x220]
/// @ 0x3504 <..>`.
fn literal<'a>(line: &str, mnemonic: &str, operands: &'a str, words: &BTreeMap<u64, u32>) -> Option<(&'a str, u32)> {
    let (register, _) = operands.split_once(", [pc").filter(|_| mnemonic == "ldr")?;
    let (_, comment) = line.split_once(" @ 0x")?;
    let address = u64::from_str_radix(comment.split(' ').next()?, 16).ok()?;
    Some((register, *words.get(&address)?))
}

/// Returns the bytes of a frame beyond the immediate range of the Cortex-M0: `add sp, r6`, right
/// after the load of `r6`.
fn large_frame(mnemonic: &str, operands: &str, constant: Option<(&str, u32)>) -> Option<u64> {
    let (register, value) = constant?;
    let moves = mnemonic == "add" && operands.strip_prefix("sp, ") == Some(register);
    // A positive value releases the frame.
    moves.then(|| u64::from((value as i32).min(0).unsigned_abs()))
}

/// Returns whether a line is the linker's fill between two functions: 0xd4d4, which is never
/// executed, disassembles as `bmi` 0x58 back. As the last instruction of a function it cannot be
/// code, since a conditional branch would continue beyond the function's end.
fn is_fill(line: &str) -> bool {
    instruction(line).is_some_and(|(mnemonic, _)| mnemonic == "bmi") && line.ends_with("imm = #-0x58")
}

/// Returns the target function of a branch or a call.
fn target(operands: &str) -> Option<String> {
    let (_, name) = operands.strip_suffix('>')?.split_once('<')?;
    Some(name.rsplit_once("+0x").map_or(name, |(name, _)| name).to_owned())
}

/// Returns whether an instruction is a call through a register, as `blx r3`, `jalr a5`, with an
/// unknown target. Jumps (`bx lr`, `jr t0`: returns and tables) stay inside a function.
fn is_indirect_call(mnemonic: &str, operands: &str) -> bool {
    matches!(mnemonic, "blx" | "jalr" | "c.jalr") && !operands.contains('<')
}

/// Returns the bytes that an instruction subtracts from the stack pointer.
fn frame_bytes(mnemonic: &str, operands: &str) -> Result<u64, &'static str> {
    let number = |text: &str| -> Result<u64, &'static str> {
        let text = text.trim().trim_start_matches('#');
        let (text, radix) = text.strip_prefix("0x").map_or((text, 10), |hex| (hex, 16));
        u64::from_str_radix(text, radix).map_err(|_| "moves the stack pointer by a non-number")
    };
    let name = mnemonic.trim_end_matches(".w");
    let operand = |index: usize| operands.split(',').nth(index).unwrap_or("").trim();
    if matches!(name, "push" | "stmdb") && (name == "push" || operand(0) == "sp!") {
        let list = operands.split_once('{').map_or("", |(_, list)| list);
        return Ok(4 * list.split(',').count() as u64);
    }
    if let Some((_, offset)) = operands.split_once("[sp, #-") {
        // Pre-indexed with write-back.
        return if operands.ends_with("]!") { number(offset.trim_end_matches("]!")) } else { Ok(0) };
    }
    if operand(0) != "sp" {
        return Ok(0);
    }
    match name {
        "sub" | "subw" | "subs" => number(if operand(1) == "sp" { operand(2) } else { operand(1) }),
        "addi" | "c.addi16sp" | "c.addi" => {
            let amount = if operand(1) == "sp" { operand(2) } else { operand(1) };
            amount.strip_prefix('-').map_or(Ok(0), number)
        }
        "add" | "addw" if operands.contains('#') => Ok(0),
        // These restore it from the frame pointer, set it up at reset, or only read it.
        "mov" | "mv" | "lw" | "la" | "auipc" | "lui" | "ldr" | "cmp" | "bne" | "beq" | "stm" | "ldm" => Ok(0),
        _ => Err("moves the stack pointer in an unknown way"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: &str = "
00000400 <main>:
     400:      	push	{r4, r5, r6, r7, lr}
     402:      	push.w	{r8, r9}
     406:      	sub	sp, #0x54
     408:      	bl	0x420 <decide> @ imm = #0x16
     40c:      	bne	0x402 <main+0x2> @ imm = #-0xe
     410:      	b.w	0x440 <leaf> @ imm = #0x2c

00000420 <decide>:
     420:      	str	lr, [sp, #-8]!
     424:      	sub.w	sp, sp, #0x100
     428:      	bl	0x440 <leaf> @ imm = #0x10
     42c:      	add.w	sp, sp, #0x100
     430:      	pop	{pc}

00000440 <leaf>:
     440:      	push	{r4}
     442:      	ldr	r0, [sp, #0x4]
     444:      	bx	lr
";

    #[test]
    fn frames_add_up_along_the_deepest_path() {
        let deepest = CallGraph::parse(ARM).deepest("main").unwrap();
        // 7 registers and 0x54, then 8 and 0x100, then one register.
        assert_eq!(deepest.bytes, (28 + 84) + (8 + 256) + 4);
        assert_eq!(deepest.path.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["main", "decide", "leaf"]);
    }

    /// As for the Cortex-M0, which subtracts 0xbfc at once: 3,068 bytes, and 5 registers.
    #[test]
    fn a_frame_that_is_loaded_from_the_code_is_read() {
        let code = |word: &str| {
            format!(
                "\n00000100 <main>:\n     100:      \tpush\t{{r4, r5, r6, r7, lr}}\n     102:      \tldr\tr6, [pc, #0x8]        @ 0x10c <main+0xc>\n\
                 \x20    104:      \tadd\tsp, r6\n     106:      \tpop\t{{r4, r5, r6, r7, pc}}\n     10c: {word}\n"
            )
        };
        let deepest = |code: &str| CallGraph::parse(code).deepest("main").map(|deepest| deepest.bytes);
        assert_eq!(deepest(&code(" 04 f4 ff ff  \t.word\t0xfffff404")).unwrap(), 20 + 0xbfc);
        assert_eq!(deepest(&code(" fc 0b 00 00  \t.word\t0x00000bfc")).unwrap(), 20, "the way back");
        assert!(deepest(&code("      \tnop")).is_err(), "nobody knows how much");
        assert!(deepest(&code(" 04 f4 ff ff  \t.word\t0xfffff404").replace("add\tsp, r6", "add\tsp, r5")).is_err(), "another register");
    }

    #[test]
    fn risc_v_frames_are_read_too() {
        let code = "\n80000000 <main>:\n80000000:      \taddi\tsp, sp, -0x40\n80000002:      \tjal\t0x80000010 <leaf>\n\
            80000006:      \taddi\tsp, sp, 0x40\n\n80000010 <leaf>:\n80000010:      \taddi\tsp, sp, -16\n80000012:      \tret\n";
        assert_eq!(CallGraph::parse(code).deepest("main").unwrap().bytes, 64 + 16);
    }

    #[test]
    fn recursion_and_calls_through_registers_are_errors_where_they_are_reached() {
        let recursive = ARM.replace("ldr	r0, [sp, #0x4]", "bl	0x420 <decide>");
        assert!(CallGraph::parse(&recursive).deepest("main").unwrap_err().to_string().starts_with("recursion: main > "));
        let indirect = ARM.replace("ldr	r0, [sp, #0x4]", "blx	r3");
        assert!(CallGraph::parse(&indirect).deepest("main").unwrap_err().to_string().contains("leaf calls through a register"));
        let unreached = format!("{indirect}\n00000500 <other>:\n     500:      	bx	lr\n");
        assert_eq!(CallGraph::parse(&unreached).deepest("other").unwrap().bytes, 0);
    }

    #[test]
    fn what_fills_a_gap_is_no_call() {
        let filled = ARM.replace("bx	lr\n", "bx	lr\n     446:      	bmi	0x420 <decide+0x2> @ imm = #-0x58\n");
        assert_eq!(CallGraph::parse(&filled), CallGraph::parse(ARM));
        let code = filled.replace("#-0x58\n", "#-0x58\n     448:      	bx	lr\n");
        assert!(CallGraph::parse(&code).deepest("main").unwrap_err().to_string().starts_with("recursion: "));
    }

    #[test]
    fn using_the_stack_pointer_is_no_move() {
        for used in ["ldm.w	sp, {r0, r1, r2, r3}", "stm.w	sp, {r0, r1}"] {
            let code = ARM.replace("sub	sp, #0x54", used);
            assert_eq!(CallGraph::parse(&code).deepest("main").unwrap().bytes, 28 + (8 + 256) + 4, "{used}");
        }
    }

    #[test]
    fn an_unknown_move_of_the_stack_pointer_is_an_error() {
        let code = ARM.replace("sub	sp, #0x54", "add	sp, r4");
        assert!(CallGraph::parse(&code).deepest("main").unwrap_err().to_string().contains("unknown way"));
    }
}
