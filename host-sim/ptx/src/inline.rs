//! Expansion of device functions at their calls, so that a kernel is one list of instructions (PTX
//! ISA 7.8 sections 7.1 and 9.7.12 "call", "ret").
//!
//! Each call has separate registers, labels and local variables; shared variables of a function are
//! common to all calls. Data passed in a call are cells (`cells.rs`). The call and the return
//! remain as control instructions. `call.rs` decodes the calls. Recursive functions are placed
//! once, after the kernel (`subroutine.rs`).

use super::ast::{Function, Instruction, Module, Operand, StateSpace, Variable};
use super::cells::Cells;
use super::error::PtxError;
use super::pointer;
use super::recursion;
use super::runtime::RuntimeCall;
use super::scope::{Frame, Level, Scopes, Symbol};
use super::subroutine::{Entering, Subroutine};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of instructions of an expanded kernel, which is the capacity of a trace.
const MAX_INSTRUCTIONS: usize = 1 << 16;

/// Action of an instruction after expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The action of its opcode.
    Decode,
    /// A call; lanes whose guard fails continue at this index.
    Call(u32),
    /// A return from a device function to this index.
    Return(u32),
    /// A call of a function that ends the kernel.
    Trap,
    /// Selection of the lanes that call the function at this address through a pointer.
    Choose(u64),
    /// Call of that function; all other lanes continue at this index.
    Chosen(u32),
    /// End of the call through a pointer with this number. A lane whose pointer is to none of its
    /// functions stops the kernel.
    Unknown(usize),
    /// Call of the run-time system with this number.
    Runtime(usize),
    /// Call of a recursive function with this number.
    Enter(usize),
    /// End of a recursive function with this number.
    Leave(usize),
    /// End of the kernel, before the recursive functions.
    End,
}

/// An instruction of the expanded kernel.
#[derive(Debug)]
pub(super) struct FlatInst<'m, 'a> {
    pub(super) inst: &'m Instruction<'a>,
    /// Index of its scope.
    pub(super) scope: usize,
    pub(super) action: Action,
}

/// An expanded kernel.
pub(super) struct Flat<'m, 'a> {
    pub(super) module: &'m Module<'a>,
    pub(super) scopes: Scopes<'m, 'a>,
    pub(super) insts: Vec<FlatInst<'m, 'a>>,
    pub(super) cells: Cells,
    /// Parameter memory.
    pub(super) params: Frame,
    /// Static shared memory.
    pub(super) shared: Frame,
    /// Start of dynamic shared memory, if the kernel has any.
    pub(super) dynamic_shared: Option<u32>,
    /// Local memory in use at the current point of the expansion, and its maximum.
    pub(super) local: Frame,
    pub(super) local_bytes: u32,
    /// Functions being expanded, with the kernel first.
    pub(super) open: Vec<&'m str>,
    /// Addresses of the possible callees of each call through a pointer.
    pub(super) candidates: Vec<Box<[u64]>>,
    /// Calls of the run-time system.
    pub(super) runtime: Vec<RuntimeCall>,
    /// Recursive functions of the module.
    pub(super) recursive: BTreeSet<&'a str>,
    /// Recursive functions that the kernel calls, in the order of their code after it.
    pub(super) subroutines: Vec<Subroutine<'m, 'a>>,
    /// Calls of recursive functions.
    pub(super) entering: Vec<Entering>,
    /// Recursive function that is being expanded.
    pub(super) inside: Option<usize>,
    /// Shared variables of functions expanded before: function, scope, name.
    placed: BTreeMap<(&'m str, usize, &'m str), u32>,
}

impl<'m, 'a> Flat<'m, 'a> {
    /// Expands `entry`. The outermost scope already contains the module's variables.
    pub(super) fn new(module: &'m Module<'a>, entry: &'m Function<'a>, mut scopes: Scopes<'m, 'a>) -> Result<Self, PtxError> {
        for function in &module.functions {
            let address = pointer::address(module, function.name).unwrap_or_default();
            scopes.levels[0].symbols.insert(function.name, Symbol::Function(address));
        }
        let mut flat = Flat {
            module,
            scopes,
            insts: Vec::new(),
            cells: Cells::default(),
            params: Frame::PARAM,
            shared: Frame::SHARED,
            dynamic_shared: None,
            local: Frame::LOCAL,
            local_bytes: 0,
            open: Vec::new(),
            candidates: Vec::new(),
            runtime: Vec::new(),
            recursive: recursion::recursive(module),
            subroutines: Vec::new(),
            entering: Vec::new(),
            inside: None,
            placed: BTreeMap::new(),
        };
        let mut params = Vec::new();
        for param in &entry.params {
            let offset = flat.params.place(&flat.scopes, param)?;
            params.push((param.name, Symbol::Param(offset, param.bytes())));
        }
        flat.expand(entry, params)?;
        flat.append_subroutines(entry)?;
        flat.place_dynamic_shared();
        flat.local.bytes = flat.local_bytes;
        flat.settle()?;
        flat.local_bytes = flat.local.bytes.next_multiple_of(4);
        Ok(flat)
    }

    fn is_kernel(&self) -> bool {
        self.open.len() == 1 && self.inside.is_none()
    }

    /// Appends a function's instructions; `bound` gives the meanings of its parameters and results.
    pub(super) fn expand(&mut self, function: &'m Function<'a>, bound: Vec<(&'a str, Symbol)>) -> Result<(), PtxError> {
        self.open.push(function.name);
        let base = self.scopes.levels.len();
        let local_before = self.local;
        for (index, scope) in function.scopes.iter().enumerate() {
            let parent = scope.parent.map_or(0, |parent| base + parent);
            self.scopes.levels.push(Level { parent: Some(parent), symbols: BTreeMap::new() });
            for decl in &scope.registers {
                let range = self.scopes.registers(decl.ty, decl.count, decl.at, decl.name)?;
                self.declare(base + index, decl.name, Symbol::Registers(range));
            }
            for variable in &scope.variables {
                let symbol = self.variable(function, index, variable)?;
                self.declare(base + index, variable.name, symbol);
            }
        }
        for (name, symbol) in bound {
            self.declare(base, name, symbol);
        }
        let mut places = Vec::new();
        let mut returns = Vec::new();
        for inst in function.body.iter().flatten() {
            places.push(self.insts.len() as u32);
            if inst.opcode == "call" || inst.opcode == "call.uni" {
                self.call(inst, base + inst.scope)?;
                continue;
            }
            if matches!(inst.opcode, "ret" | "ret.uni") && !self.is_kernel() {
                returns.push(self.insts.len());
            }
            self.note_names(inst, base + inst.scope)?;
            self.push(inst, base + inst.scope, Action::Decode)?;
        }
        let end = self.insts.len() as u32;
        places.push(end);
        for at in returns {
            self.insts[at].action = Action::Return(end);
        }
        self.labels(function, base, &places)?;
        self.local_bytes = self.local_bytes.max(self.local.bytes);
        self.local = local_before;
        self.open.pop();
        Ok(())
    }

    pub(super) fn declare(&mut self, scope: usize, name: &'a str, symbol: Symbol) {
        self.scopes.levels[scope].symbols.insert(name, symbol);
    }

    fn labels(&mut self, function: &'m Function<'a>, base: usize, places: &[u32]) -> Result<(), PtxError> {
        for (index, scope) in function.scopes.iter().enumerate() {
            for &(label, at) in &scope.labels {
                self.declare(base + index, label, Symbol::Label(places[at]));
            }
        }
        for (index, scope) in function.scopes.iter().enumerate() {
            for (table, names) in &scope.tables {
                let mut targets = Vec::new();
                for name in names {
                    match self.scopes.symbol(base + index, name) {
                        Some(&Symbol::Label(at)) => targets.push(at),
                        _ => return Err(self.scopes.syntax(function.at, "expected a declared label in `.branchtargets`", name)),
                    }
                }
                self.declare(base + index, table, Symbol::Table(targets));
            }
        }
        Ok(())
    }

    pub(super) fn push(&mut self, inst: &'m Instruction<'a>, scope: usize, action: Action) -> Result<(), PtxError> {
        if self.insts.len() >= MAX_INSTRUCTIONS {
            let message = format!("more than {MAX_INSTRUCTIONS} instructions with all calls expanded");
            return Err(self.scopes.syntax(inst.at, message, inst.opcode));
        }
        self.insts.push(FlatInst { inst, scope, action });
        Ok(())
    }

    fn variable(&mut self, function: &'m Function<'a>, scope: usize, variable: &'m Variable<'a>) -> Result<Symbol, PtxError> {
        match variable.space {
            StateSpace::Param => Ok(Symbol::Cell(self.cells.add(variable, self.inside))),
            StateSpace::Local => self.place_local(variable),
            _ => {
                let key = (function.name, scope, variable.name);
                if let Some(&offset) = self.placed.get(&key) {
                    return Ok(Symbol::Shared(offset));
                }
                let offset = self.shared.place(&self.scopes, variable)?;
                self.placed.insert(key, offset);
                Ok(Symbol::Shared(offset))
            }
        }
    }

    /// Places a shared variable of the module when the kernel first names it, and records the
    /// accesses of cells.
    fn note_names(&mut self, inst: &'m Instruction<'a>, scope: usize) -> Result<(), PtxError> {
        for operand in &inst.operands {
            let (Operand::Name(name) | Operand::Address { base: Some(name), .. }) = operand else { continue };
            let module = self.module;
            let Some(symbol) = self.scopes.symbol(scope, name) else {
                if let Some(variable) = module.variables.iter().find(|v| v.name == *name && v.space == StateSpace::Shared) {
                    let symbol = match variable.count {
                        None => Symbol::DynamicShared,
                        Some(_) if variable.external => Symbol::Undefined,
                        Some(_) => Symbol::Shared(self.shared.place(&self.scopes, variable)?),
                    };
                    self.scopes.levels[0].symbols.insert(variable.name, symbol);
                }
                continue;
            };
            if let &Symbol::Cell(cell) = symbol {
                self.cells.note(cell, inst, operand);
            }
        }
        Ok(())
    }

    /// Places dynamic shared memory after the static part, with all arrays at one address.
    fn place_dynamic_shared(&mut self) {
        let open = |v: &&Variable<'_>| v.space == StateSpace::Shared && v.count.is_none();
        let align = self.module.variables.iter().filter(open).map(|v| v.align).max().unwrap_or(1);
        let start = self.shared.bytes.next_multiple_of(align);
        for symbol in self.scopes.levels[0].symbols.values_mut() {
            if matches!(symbol, Symbol::DynamicShared) {
                *symbol = Symbol::Shared(start);
                self.dynamic_shared = Some(start);
            }
        }
    }
}
