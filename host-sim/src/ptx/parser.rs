//! Tokens to a [`Module`]. Definition: PTX ISA 7.8, sections 4 "Syntax", 5 "State Spaces" and 11 "Directives".

use super::ast::{Entry, GuardText, Instruction, Module, Operand, RegisterDecl, Type, Variable};
use super::error::{Position, PtxError};
use super::lexer::{Token, TokenKind, tokenize};

/// Parses a PTX text; `file` is its name in messages.
///
/// # Errors
/// [`PtxError::Syntax`], or [`PtxError::Unsupported`] for directives that are PTX but not read here.
pub fn parse<'a>(file: &str, text: &'a str) -> Result<Module<'a>> {
    let tokens = tokenize(file, text)?;
    Parser { file, tokens, next: 0 }.module()
}

struct Parser<'f, 'a> {
    file: &'f str,
    tokens: Vec<Token<'a>>,
    next: usize,
}

type Result<T> = std::result::Result<T, PtxError>;

impl<'a> Parser<'_, 'a> {
    fn peek(&self) -> Token<'a> {
        // The last token is End and is never passed.
        self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn take(&mut self) -> Token<'a> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn syntax(&self, token: Token<'a>, message: impl Into<String>) -> PtxError {
        PtxError::Syntax { file: self.file.into(), at: token.at, message: message.into(), found: token.text.into() }
    }

    fn unsupported(&self, token: Token<'a>, what: &'static str) -> PtxError {
        PtxError::Unsupported { file: self.file.into(), at: token.at, what, opcode: token.text.into() }
    }

    fn is(&self, text: &str) -> bool {
        self.peek().kind != TokenKind::Text && self.peek().text == text
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.is(text);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) { Ok(()) } else { Err(self.syntax(self.peek(), format!("expected `{text}`"))) }
    }

    fn word(&mut self, what: &str) -> Result<Token<'a>> {
        let token = self.peek();
        if token.kind == TokenKind::Word { Ok(self.take()) } else { Err(self.syntax(token, format!("expected {what}"))) }
    }

    fn count(&mut self, what: &str) -> Result<u32> {
        let token = self.take();
        number(token.text)
            .and_then(|operand| match operand {
                Operand::Integer(value) => u32::try_from(value).ok(),
                _ => None,
            })
            .ok_or_else(|| self.syntax(token, format!("expected {what}")))
    }

    fn module(mut self) -> Result<Module<'a>> {
        let mut entries = Vec::new();
        let mut versioned = false;
        loop {
            let token = self.take();
            match token.text {
                _ if token.kind == TokenKind::End => break,
                ".version" => {
                    let version = self.take();
                    let major = version.text.split('.').next().and_then(|m| m.parse::<u32>().ok());
                    match major {
                        Some(1..=8) => versioned = true,
                        _ => return Err(self.unsupported(version, "PTX version")),
                    }
                }
                ".target" => {
                    self.word("a target")?;
                    while self.accept(",") {
                        self.word("a target")?;
                    }
                }
                ".address_size" => {
                    let size = self.take();
                    if size.text != "64" {
                        return Err(self.unsupported(size, "address size"));
                    }
                }
                ".visible" | ".weak" | ".extern" => {}
                ".entry" if !versioned => return Err(self.syntax(token, "expected `.version` before the first entry")),
                ".entry" => entries.push(self.entry()?),
                text if text.starts_with('.') => return Err(self.unsupported(token, "directive")),
                _ => return Err(self.syntax(token, "expected a directive")),
            }
        }
        if !versioned {
            return Err(self.syntax(self.peek(), "expected `.version`"));
        }
        Ok(Module { file: self.file.into(), entries })
    }

    fn entry(&mut self) -> Result<Entry<'a>> {
        let name = self.word("the entry's name")?.text;
        let mut entry = Entry { name, params: Vec::new(), registers: Vec::new(), shared: Vec::new(), body: Vec::new(), labels: Vec::new() };
        if self.accept("(") && !self.accept(")") {
            loop {
                self.expect(".param")?;
                entry.params.push(self.variable()?);
                if self.accept(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        while !self.accept("{") {
            self.performance_directive()?;
        }
        while !self.accept("}") {
            self.statement(&mut entry)?;
        }
        Ok(entry)
    }

    /// `.maxntid 256, 1, 1` and its kin tell the compiler, not the machine.
    fn performance_directive(&mut self) -> Result<()> {
        let token = self.word("`{`")?;
        if !matches!(token.text, ".maxntid" | ".reqntid" | ".minnctapersm" | ".maxnreg") {
            return Err(self.unsupported(token, "directive"));
        }
        self.count("a number")?;
        while self.accept(",") {
            self.count("a number")?;
        }
        Ok(())
    }

    /// `.align 16 .b8 name[1024]`, after the state space.
    fn variable(&mut self) -> Result<Variable<'a>> {
        let mut align = None;
        if self.accept(".align") {
            align = Some(self.count("an alignment")?);
        }
        let ty = self.ty()?;
        // `.ptr .global .align 4` after the type is a hint.
        while self.accept(".ptr") || self.accept(".global") || self.accept(".const") || self.accept(".shared") {}
        if self.accept(".align") {
            self.count("an alignment")?;
        }
        let name = self.word("a name")?;
        let mut count = 1;
        if self.accept("[") {
            let at = self.peek();
            count = self.count("a size; a size of the launch's choice is not supported")?;
            if count.checked_mul(u32::from(ty.bytes())).is_none() {
                return Err(self.syntax(at, "expected a size that fits 32 bits"));
            }
            self.expect("]")?;
        }
        let align = align.unwrap_or(u32::from(ty.bytes()));
        if !align.is_power_of_two() || align > 4096 {
            return Err(self.syntax(name, format!("the alignment {align} is no power of two up to 4096")));
        }
        Ok(Variable { name: name.text, ty, count, align, at: name.at })
    }

    fn ty(&mut self) -> Result<Type> {
        let token = self.word("a type")?;
        token.text.strip_prefix('.').and_then(Type::parse).ok_or_else(|| self.syntax(token, "expected a type"))
    }

    fn statement(&mut self, entry: &mut Entry<'a>) -> Result<()> {
        // A block, as in inline assembly; its registers join the entry's.
        if self.accept("{") {
            while !self.accept("}") {
                if self.peek().kind == TokenKind::End {
                    return Err(self.syntax(self.peek(), "expected `}`"));
                }
                self.block_statement(entry)?;
            }
            return Ok(());
        }
        self.block_statement(entry)
    }

    fn block_statement(&mut self, entry: &mut Entry<'a>) -> Result<()> {
        let token = self.peek();
        match token.text {
            ".reg" => {
                self.take();
                let ty = self.ty()?;
                loop {
                    let name = self.word("a register name")?.text;
                    let mut count = None;
                    if self.accept("<") {
                        count = Some(self.count("a register count")?);
                        self.expect(">")?;
                    }
                    let declared = RegisterDecl { name, count, ty };
                    match entry.registers.iter().find(|r| r.name == name) {
                        // Blocks in turn use the same names; each writes before it reads.
                        Some(known) if *known == declared => {}
                        Some(_) => return Err(self.syntax(token, format!("the register `{name}` is declared again, otherwise"))),
                        None => entry.registers.push(declared),
                    }
                    if !self.accept(",") {
                        break;
                    }
                }
                self.expect(";")
            }
            ".shared" => {
                self.take();
                entry.shared.push(self.variable()?);
                self.expect(";")
            }
            ".pragma" => {
                self.take();
                self.take();
                self.expect(";")
            }
            // Debug information for humans: file, line, column.
            ".loc" => {
                self.take();
                while self.peek().kind == TokenKind::Number {
                    self.take();
                }
                Ok(())
            }
            text if text.starts_with('.') && token.kind == TokenKind::Word => Err(self.unsupported(token, "directive")),
            _ if token.kind == TokenKind::End => Err(self.syntax(token, "expected `}`")),
            _ => self.instruction_or_label(entry),
        }
    }

    fn instruction_or_label(&mut self, entry: &mut Entry<'a>) -> Result<()> {
        let mut guard = None;
        if self.accept("@") {
            let negated = self.accept("!");
            guard = Some(GuardText { register: self.word("a predicate")?.text, negated });
        }
        let word = self.word("an instruction")?;
        if guard.is_none() && self.accept(":") {
            entry.labels.push((word.text, entry.body.len()));
            return Ok(());
        }
        let mut operands = Vec::new();
        if !self.accept(";") {
            loop {
                operands.push(self.operand()?);
                if self.accept(";") {
                    break;
                }
                self.expect(",")?;
            }
        }
        entry.body.push(Instruction { guard, opcode: word.text, operands, at: word.at });
        Ok(())
    }

    fn operand(&mut self) -> Result<Operand<'a>> {
        if self.accept("{") {
            let mut items = Vec::new();
            loop {
                items.push(self.scalar()?);
                if self.accept("}") {
                    return Ok(Operand::Vector(items));
                }
                self.expect(",")?;
            }
        }
        if self.accept("[") {
            let mut base = None;
            let mut offset = 0;
            if self.peek().kind == TokenKind::Word {
                base = Some(self.take().text);
                // `+ -8` and `-8` are both written.
                if self.accept("+") || self.is("-") {
                    offset = self.offset()?;
                }
            } else {
                offset = self.offset()?;
            }
            self.expect("]")?;
            return Ok(Operand::Address { base, offset });
        }
        if self.accept("!") {
            return Ok(Operand::Not(self.word("a predicate")?.text));
        }
        let first = self.scalar()?;
        match first {
            Operand::Name(first) if self.accept("|") => Ok(Operand::Pair(first, self.word("a predicate")?.text)),
            _ => Ok(first),
        }
    }

    fn offset(&mut self) -> Result<i64> {
        let at = self.peek();
        match self.scalar()? {
            Operand::Integer(value) => Ok(value as i64),
            _ => Err(self.syntax(at, "expected an offset in bytes")),
        }
    }

    fn scalar(&mut self) -> Result<Operand<'a>> {
        let negative = self.accept("-");
        let token = self.take();
        match token.kind {
            TokenKind::Word if !negative => Ok(Operand::Name(token.text)),
            TokenKind::Number => match number(token.text) {
                Some(Operand::Integer(value)) if negative => Ok(Operand::Integer(value.wrapping_neg())),
                Some(value) if !negative => Ok(value),
                _ => Err(self.syntax(token, "expected a number")),
            },
            _ => Err(self.syntax(token, "expected an operand")),
        }
    }
}

/// Reads a literal: PTX ISA section 4.5 "Constants".
fn number(text: &str) -> Option<Operand<'static>> {
    let radix = |digits: &str, base| u64::from_str_radix(digits, base).ok();
    let bits = |prefixes: [&str; 2], length: usize| {
        prefixes.iter().find_map(|p| text.strip_prefix(p)).filter(|d| d.len() == length).and_then(|d| radix(d, 16))
    };
    if let Some(value) = bits(["0f", "0F"], 8) {
        return Some(Operand::Float32(value as u32));
    }
    if let Some(value) = bits(["0d", "0D"], 16) {
        return Some(Operand::Float64(value));
    }
    let text = text.strip_suffix('U').unwrap_or(text);
    let value = if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        radix(hex, 16)
    } else if let Some(binary) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        radix(binary, 2)
    } else if text.len() > 1 && text.starts_with('0') {
        radix(text, 8)
    } else {
        radix(text, 10)
    };
    value.map(Operand::Integer)
}

/// The place just before the first character, for errors about a whole file.
pub const START: Position = Position { line: 1, column: 1 };

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: &str = ".version 7.8\n.target sm_75\n.address_size 64\n";

    fn one(body: &str) -> Result<Instruction<'_>> {
        // Leaked so that the test can hand the borrowed instruction out; a few bytes per test.
        let text: &'static str = Box::leak(format!("{HEAD}.visible .entry k()\n{{\n{body}\n}}\n").into_boxed_str());
        Ok(parse("k.ptx", text)?.entries[0].body[0].clone())
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
}
