//! Transformation of an entry to its slot form: the body reads its place in the grid from shared
//! memory, and the end of a thread becomes the end of the TB's turn.

use super::text::{EntryText, entry};
use super::{PARAMETERS, SUFFIX, code};
use std::fmt;

/// Reason why an entry has no slot form.
#[derive(Debug, PartialEq, Eq)]
pub struct SlotError(pub String);

impl fmt::Display for SlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SlotError {}

/// A module with the slot form of one of its entries.
#[derive(Debug)]
pub struct Slot {
    /// Original text and, after it, the new entry.
    pub ptx: String,
    /// Name of the new entry.
    pub name: String,
}

/// Unsupported opcodes of a persistent TB. Textures and surfaces are not set up here, a `trap` or a
/// call may end threads elsewhere, and partial barriers may collide with the slot's own.
const REFUSED: [(&str, &str); 8] = [
    ("tex.", "reads textures"),
    ("tld4.", "reads textures"),
    ("suld.", "reads surfaces"),
    ("sust.", "writes surfaces"),
    ("call", "calls functions"),
    ("exit", "ends threads by `exit`"),
    ("trap", "traps"),
    ("barrier.", "has barriers of parts of a TB"),
];

/// Adds the slot form of the entry `name` to a module.
///
/// `registers` limits registers per thread. Parameters whose numbers are in `shifted` are
/// addresses, to which every pass adds `mias_stride`.
///
/// # Errors
/// [`SlotError`] for unsupported code.
pub fn transform(ptx: &str, name: &str, shifted: &[usize], registers: Option<u32>) -> Result<Slot, SlotError> {
    let fail = |message: String| SlotError(format!("entry `{name}`: {message}"));
    let parts = entry(ptx, name).ok_or_else(|| fail("not found in the PTX".into()))?;
    if ptx.contains(".extern .shared") {
        return Err(fail("shared memory of the launch's size, which would move".into()));
    }
    let names = parameter_names(parts.parameters);
    let shifted: Vec<&str> = shifted.iter().filter_map(|&number| names.get(number).copied()).collect();
    let mut body = String::with_capacity(2 * parts.instructions.len());
    for line in parts.instructions.lines() {
        body.push_str(&instruction(line, &shifted).map_err(fail)?);
        body.push('\n');
    }
    let name = format!("{name}{SUFFIX}");
    let text = assemble(&parts, &name, &body, !shifted.is_empty(), registers);
    Ok(Slot { ptx: format!("{ptx}\n{text}"), name })
}

fn assemble(parts: &EntryText<'_>, name: &str, body: &str, shifted: bool, registers: Option<u32>) -> String {
    let EntryText { parameters, directives, declarations, .. } = parts;
    let own: Vec<String> = PARAMETERS.iter().map(|(name, ty)| format!("\t.param .{ty} {name}")).collect();
    let comma = if parameters.trim().is_empty() { "" } else { "," };
    let limit = registers.map_or(String::new(), |count| format!(".maxnreg {count}\n"));
    let (before, labels) = (code::before(shifted), renamed(body));
    let parameters = format!("{}{comma}\n{}\n", parameters.trim_end(), own.join(",\n"));
    let declarations = format!("{declarations}{}", code::DECLARATIONS);
    format!(".visible .entry {name}({parameters}){directives}{limit}{{{declarations}{before}{labels}{}}}\n", code::AFTER)
}

/// Renames labels. They are local to a function, but debuggers and readers need distinct names.
fn renamed(body: &str) -> String {
    body.replace("$L__", "$MIAS_L__")
}

/// Returns the names of parameters, in order.
fn parameter_names(parameters: &str) -> Vec<&str> {
    let name = |parameter: &'_ str| -> usize { parameter.rfind([' ', '\t']).map_or(0, |at| at + 1) };
    let declared = parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty());
    declared.map(|parameter| &parameter[name(parameter)..]).map(|word| word.split('[').next().unwrap_or(word)).collect()
}

/// Transforms one line of the body.
fn instruction(line: &str, shifted: &[&str]) -> Result<String, String> {
    let code = line.split("//").next().unwrap_or(line);
    let (guard, text) = match code.trim().strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map_or(("", rest), |(guard, text)| (guard, text.trim())),
        None => ("", code.trim()),
    };
    let guard = if guard.is_empty() { String::new() } else { format!("@{guard} ") };
    let opcode = text.split([' ', '\t', ';']).next().unwrap_or("");
    if let Some((_, why)) = REFUSED.iter().find(|(start, _)| opcode.starts_with(start)) {
        return Err((*why).into());
    }
    if opcode == "ret" || opcode == "ret.uni" {
        return Ok(format!("\t{guard}bra MIAS_DONE;"));
    }
    if opcode.starts_with("bar.") && text.split_whitespace().nth(1) != Some("0;") {
        return Err(format!("a barrier of part of a TB, or another than 0: `{text}`"));
    }
    if let Some(at) = text.find("%ctaid").or_else(|| text.find("%nctaid")) {
        return place(text, at).map(|text| format!("\t{guard}{text}"));
    }
    if let Some(name) = shifted.iter().find(|name| opcode.starts_with("ld.param") && text.contains(&format!("[{name}]"))) {
        let to = operand(text).filter(|_| opcode == "ld.param.u64").ok_or_else(|| format!("the address `{name}` is read by `{text}`"))?;
        return Ok(format!("{code}\n\tld.shared.u64 %mias_d10, [mias_slot+16];\n\tadd.s64 {to}, {to}, %mias_d10;"));
    }
    if text.contains("%gridid") || text.contains("%dynamic_smem") || text.contains("%total_smem") {
        return Err(format!("a value specific to its own launch: `{text}`"));
    }
    Ok(line.to_owned())
}

/// Returns the first operand.
fn operand(text: &str) -> Option<&str> {
    text.split_once(char::is_whitespace).map(|(_, rest)| rest.split(',').next().unwrap_or(rest).trim())
}

/// Transforms a move from `%ctaid` or `%nctaid` at `at`.
fn place(text: &str, at: usize) -> Result<String, String> {
    let unknown = || format!("expected `mov.u32` of a place in the grid, found `{text}`");
    let register = text[at..].trim_end_matches(';').trim();
    let to = operand(text).filter(|_| text.starts_with("mov.u32")).ok_or_else(unknown)?;
    let from = match register {
        "%ctaid.x" => "shared.u32 TO, [mias_slot+4]",
        "%ctaid.y" => "shared.u32 TO, [mias_slot+8]",
        "%ctaid.z" => "shared.u32 TO, [mias_slot+12]",
        "%nctaid.x" => "param.u32 TO, [mias_grid_x]",
        "%nctaid.y" => "param.u32 TO, [mias_grid_y]",
        "%nctaid.z" => "param.u32 TO, [mias_grid_z]",
        _ => return Err(unknown()),
    };
    Ok(format!("ld.{};", from.replace("TO", to)))
}
