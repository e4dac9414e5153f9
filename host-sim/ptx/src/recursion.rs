//! Detection of recursive device functions, direct or indirect (PTX ISA 7.8 section 9.7.12 "call").
//!
//! They cannot be expanded at their calls (`inline.rs`), and are executed with a stack
//! (`frames.rs`). A call through a pointer may reach any possible callee (`pointer.rs`).

use super::ast::{Function, Instruction, Module, Operand, StateSpace, Variable};
use super::pointer;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the names of the functions on a cycle of calls.
pub(super) fn recursive<'a>(module: &Module<'a>) -> BTreeSet<&'a str> {
    let calls: BTreeMap<&str, BTreeSet<&str>> = bodies(module).map(|function| (function.name, called(module, function))).collect();
    bodies(module).map(|function| function.name).filter(|name| reaches_itself(&calls, name)).collect()
}

fn bodies<'m, 'a>(module: &'m Module<'a>) -> impl Iterator<Item = &'m Function<'a>> {
    module.functions.iter().filter(|function| function.body.is_some())
}

/// Returns the functions with a body that a function may call.
fn called<'a>(module: &Module<'a>, function: &Function<'a>) -> BTreeSet<&'a str> {
    let mut called = BTreeSet::new();
    for inst in function.body.iter().flatten().filter(|inst| is_call(inst)) {
        let Some(Operand::Name(name)) = inst.operands.iter().find(|operand| matches!(operand, Operand::Name(_))) else { continue };
        if module.functions.iter().any(|f| f.name == *name) {
            called.extend(bodies(module).map(|f| f.name).filter(|known| known == name));
        } else if let Some([given, expected]) = sizes(function, inst) {
            called.extend(pointer::candidates(module, &given, &expected).into_iter().map(|f| f.name));
        }
    }
    called
}

fn is_call(inst: &Instruction<'_>) -> bool {
    matches!(inst.opcode, "call" | "call.uni")
}

/// Returns the sizes in bytes of the arguments and results of a call through a pointer; `None` for
/// a call that is refused anyway.
fn sizes(function: &Function<'_>, inst: &Instruction<'_>) -> Option<[Vec<u32>; 2]> {
    let (results, rest) = match inst.operands.as_slice() {
        [Operand::List(results), rest @ ..] => (results.as_slice(), rest),
        rest => (&[][..], rest),
    };
    let arguments = match rest {
        [_, Operand::List(arguments), ..] => arguments.as_slice(),
        _ => &[],
    };
    let of = |operands: &[Operand<'_>]| operands.iter().map(|operand| size(function, inst.scope, operand)).collect::<Option<Vec<u32>>>();
    Some([of(arguments)?, of(results)?])
}

/// Returns the size of a `.param` variable that is named in a block.
fn size(function: &Function<'_>, block: usize, operand: &Operand<'_>) -> Option<u32> {
    let Operand::Name(name) = operand else { return None };
    let param = |variable: &&Variable<'_>| variable.name == *name && variable.space == StateSpace::Param;
    let blocks = std::iter::successors(function.scopes.get(block), |scope| scope.parent.and_then(|parent| function.scopes.get(parent)));
    let own = blocks.flat_map(|scope| &scope.variables);
    own.chain(&function.params).chain(&function.returns).find(param).map(Variable::bytes)
}

fn reaches_itself(calls: &BTreeMap<&str, BTreeSet<&str>>, name: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![name]);
    while let Some(caller) = open.pop() {
        for &callee in calls.get(caller).into_iter().flatten() {
            if callee == name {
                return true;
            }
            if seen.insert(callee) {
                open.push(callee);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;

    /// Finds the recursive functions among functions without results or parameters, each with its
    /// callees.
    fn found(functions: &[(&str, &[&str])]) -> Vec<String> {
        let heads: String = functions.iter().map(|(name, _)| format!(".func {name}();\n")).collect();
        let body = |calls: &[&str]| calls.iter().map(|callee| format!("call {callee};\n")).collect::<String>();
        let bodies: String = functions.iter().map(|(name, calls)| format!(".func {name}()\n{{\n{}ret;\n}}\n", body(calls))).collect();
        let text = format!(".version 7.8\n.target sm_75\n.address_size 64\n{heads}{bodies}");
        let module = parse("t.ptx", &text).unwrap();
        recursive(&module).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn those_on_a_cycle_are_found_and_no_others() {
        assert_eq!(found(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]), [""; 0]);
        assert_eq!(found(&[("a", &["a"])]), ["a"]);
        assert_eq!(found(&[("a", &["b"]), ("b", &["c", "d"]), ("c", &["b"]), ("d", &[])]), ["b", "c"]);
    }

    /// A pointer may refer to the function itself, if its address is taken and it fits.
    #[test]
    fn pointers_may_close_a_cycle() {
        let text = |taken: &str, ty: &str| {
            format!(
                ".version 7.8\n.target sm_75\n.address_size 64\n.func f(.param .b64 f_param_0)\n{{\n.reg .b64 %rd<4>;\n\
                 ld.param.u64 %rd1, [f_param_0];\n{{\n.param .{ty} param0;\nst.param.{ty} [param0+0], %rd1;\n\
                 prototype_0 : .callprototype ()_ (.param .{ty} _);\ncall %rd1, (param0), prototype_0;\n}}\nret;\n}}\n\
                 .visible .entry k()\n{{\n.reg .b64 %rd<2>;\nmov.u64 %rd1, {taken};\nret;\n}}\n"
            )
        };
        let found = |taken, ty| recursive(&parse("t.ptx", &text(taken, ty)).unwrap()).len();
        assert_eq!(found("f", "b64"), 1);
        assert_eq!(found("7", "b64"), 0);
        assert_eq!(found("f", "b32"), 0);
    }
}
