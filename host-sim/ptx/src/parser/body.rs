//! Parser of function bodies: declarations, labels, instructions, blocks (PTX ISA 7.8 sections 4.3
//! and 6).

use super::{Parser, PtxError, number};
use crate::ast::{Function, GuardText, Instruction, Operand, RegisterDecl, Scope, StateSpace, Type};
use crate::lexer::{Token, TokenKind};

/// Value of the constant `WARP_SZ`: threads of a warp.
const WARP_SZ: u64 = crate::LANES as u64;

impl<'a> Parser<'_, 'a> {
    /// Parses up to the brace that closes `scope`, including inner blocks.
    pub(super) fn block(&mut self, function: &mut Function<'a>, scope: usize) -> Result<(), PtxError> {
        // Blocks are parsed without recursion, so a file may nest them to any depth.
        let mut open = vec![scope];
        while let Some(&scope) = open.last() {
            if self.accept("}") {
                open.pop();
            } else if self.accept("{") {
                open.push(function.scopes.len());
                function.scopes.push(Scope { parent: Some(scope), ..Scope::default() });
            } else {
                self.statement(function, scope)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, function: &mut Function<'a>, scope: usize) -> Result<(), PtxError> {
        let token = self.peek();
        let spaces = [(".shared", StateSpace::Shared), (".local", StateSpace::Local), (".param", StateSpace::Param)];
        if let Some(&(_, space)) = spaces.iter().find(|(text, _)| *text == token.text) {
            self.take();
            return self.variables(space, false, &mut function.scopes[scope].variables);
        }
        match token.text {
            // `.reg.b32` is one word.
            text if text == ".reg" || text.starts_with(".reg.") => self.registers(&mut function.scopes[scope]),
            ".pragma" => self.skip_statement(),
            ".loc" | ".file" => {
                self.take();
                self.debug_directive(token)
            }
            text if text.starts_with('.') && token.kind == TokenKind::Word => Err(self.unsupported(token, "directive")),
            _ if token.kind == TokenKind::End => Err(self.syntax(token, "expected `}`")),
            _ => self.instruction_or_label(function, scope),
        }
    }

    fn registers(&mut self, scope: &mut Scope<'a>) -> Result<(), PtxError> {
        let token = self.take();
        let ty = match token.text.strip_prefix(".reg.") {
            Some(ty) => Type::parse(ty).ok_or_else(|| self.syntax(token, "expected a type"))?,
            None => self.ty()?,
        };
        loop {
            let name = self.word("a register name")?;
            let mut count = None;
            if self.accept("<") {
                count = Some(self.count("a register count")?);
                self.expect(">")?;
            }
            if scope.registers.iter().any(|r| r.name == name.text) {
                return Err(self.syntax(name, "a register declared twice"));
            }
            scope.registers.push(RegisterDecl { name: name.text, count, ty, at: name.at });
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";")
    }

    fn instruction_or_label(&mut self, function: &mut Function<'a>, scope: usize) -> Result<(), PtxError> {
        let mut guard = None;
        if self.accept("@") {
            let negated = self.accept("!");
            guard = Some(GuardText { register: self.word("a predicate")?.text, negated });
        }
        let word = self.word("an instruction")?;
        if guard.is_none() && self.accept(":") {
            return self.label(function, scope, word);
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
        let body = function.body.get_or_insert_with(Vec::new);
        body.push(Instruction { guard, opcode: word.text, operands, at: word.at, scope });
        Ok(())
    }

    fn label(&mut self, function: &mut Function<'a>, scope: usize, word: Token<'a>) -> Result<(), PtxError> {
        let declared = &mut function.scopes[scope];
        if declared.labels.iter().any(|&(label, _)| label == word.text) || declared.tables.iter().any(|&(table, _)| table == word.text) {
            return Err(self.syntax(word, "a label declared twice"));
        }
        if self.accept(".branchtargets") {
            let mut targets = vec![self.word("a label")?.text];
            while self.accept(",") {
                targets.push(self.word("a label")?.text);
            }
            declared.tables.push((word.text, targets));
            return self.expect(";");
        }
        // Only calls through pointers use these, and they are refused at the call.
        if self.accept(".callprototype") || self.accept(".calltargets") {
            return self.skip_statement();
        }
        declared.labels.push((word.text, function.body.as_ref().map_or(0, Vec::len)));
        Ok(())
    }

    fn operand(&mut self) -> Result<Operand<'a>, PtxError> {
        if self.accept("{") {
            return self.items("}").map(Operand::Vector);
        }
        if self.accept("(") {
            return if self.accept(")") { Ok(Operand::List(Vec::new())) } else { self.items(")").map(Operand::List) };
        }
        if self.accept("[") {
            return self.address();
        }
        if self.accept("!") {
            return Ok(Operand::Not(self.word("a predicate")?.text));
        }
        let first = self.scalar()?;
        match first {
            Operand::Name(first) if self.accept("|") => Ok(Operand::Pair(first, self.word("a predicate")?.text)),
            // The address of a variable plus an offset.
            Operand::Name(name) if self.is("+") => {
                self.take();
                let offset = self.offset()?;
                Ok(Operand::Address { base: Some(name), offset })
            }
            _ => Ok(first),
        }
    }

    pub(super) fn items(&mut self, close: &str) -> Result<Vec<Operand<'a>>, PtxError> {
        let mut items = Vec::new();
        loop {
            items.push(self.scalar()?);
            if self.accept(close) {
                return Ok(items);
            }
            self.expect(",")?;
        }
    }

    /// Parses an address after `[`.
    fn address(&mut self) -> Result<Operand<'a>, PtxError> {
        let mut base = None;
        let mut offset = 0;
        if self.peek().kind == TokenKind::Word {
            let name = self.take();
            if self.accept(",") {
                return self.texel(name.text);
            }
            base = Some(name.text);
            // Both `+ -8` and `-8` occur.
            if self.accept("+") || self.is("-") {
                offset = self.offset()?;
            }
        } else {
            offset = self.offset()?;
        }
        self.expect("]")?;
        Ok(Operand::Address { base, offset })
    }

    pub(super) fn offset(&mut self) -> Result<i64, PtxError> {
        let at = self.peek();
        match self.scalar()? {
            Operand::Integer(value) => Ok(value as i64),
            _ => Err(self.syntax(at, "expected an offset in bytes")),
        }
    }

    pub(super) fn scalar(&mut self) -> Result<Operand<'a>, PtxError> {
        let negative = self.accept("-");
        let token = self.take();
        match token.kind {
            // A constant of the language (PTX ISA 7.8 section 4.5.5).
            TokenKind::Word if token.text == "WARP_SZ" => Ok(Operand::Integer(if negative { WARP_SZ.wrapping_neg() } else { WARP_SZ })),
            TokenKind::Word if !negative => Ok(Operand::Name(token.text)),
            TokenKind::Number => match number::literal(token.text) {
                Some(Operand::Integer(value)) if negative => Ok(Operand::Integer(value.wrapping_neg())),
                Some(value) if !negative => Ok(value),
                _ => Err(self.syntax(token, "expected a number")),
            },
            _ => Err(self.syntax(token, "expected an operand")),
        }
    }
}
