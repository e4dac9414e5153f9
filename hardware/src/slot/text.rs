//! An entry in PTX text: the positions of its name, parameters and body (PTX ISA 7.8 section 11.1.1
//! ".entry"). The text is as printed by nvcc: an instruction is a line, and declarations precede
//! instructions.

/// Parts of an entry.
#[derive(Debug, PartialEq, Eq)]
pub struct EntryText<'a> {
    /// Parameter declarations, between the brackets.
    pub parameters: &'a str,
    /// Performance directives, between the closing bracket and the brace.
    pub directives: &'a str,
    /// Declarations at the beginning of the body.
    pub declarations: &'a str,
    /// Instructions, to the closing brace.
    pub instructions: &'a str,
}

/// Returns the entry called `name`; none if it does not exist, or has no body.
pub fn entry<'a>(ptx: &'a str, name: &str) -> Option<EntryText<'a>> {
    let head = format!(".entry {name}(");
    let start = ptx.find(&head)? + head.len();
    let close = start + ptx[start..].find(')')?;
    let open = close + ptx[close..].find('{')?;
    let end = open + closing(&ptx[open..])?;
    let body = &ptx[open + 1..end];
    let first = first_instruction(body);
    Some(EntryText {
        parameters: &ptx[start..close],
        directives: &ptx[close + 1..open],
        declarations: &body[..first],
        instructions: &body[first..],
    })
}

/// Returns the offset of the brace that closes the one at the start of the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the offset of the first line that is neither empty, a comment, nor a declaration.
fn first_instruction(body: &str) -> usize {
    let mut offset = 0;
    for line in body.split_inclusive('\n') {
        let text = line.trim();
        if !(text.is_empty() || text.starts_with("//") || text.starts_with('.')) {
            return offset;
        }
        offset += line.len();
    }
    offset
}
