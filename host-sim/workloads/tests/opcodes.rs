//! Every instruction of every kernel, spelled as Turing's code, is read back as the unit that the
//! model gave it.

use mias_ptx::Program;
use mias_ptx::lower::Lowered;
use mias_ptx::lower::opcode::opcode;
use mias_trace::accelsim::opcodes::{Isa, Operation};
use mias_warp_trace::isa::{Class, Space, StaticInst};
use mias_workloads::kernels::{Spec, names};

fn spelled(program: &Program) -> Vec<(String, StaticInst)> {
    let lowered = Lowered::new(program);
    let kept = program.insts.iter().zip(&lowered.statics).filter_map(|(inst, lowered)| Some((inst, (*lowered)?)));
    kept.map(|(inst, lowered)| (opcode(inst, &lowered), lowered)).collect()
}

/// Checks that Turing's table, by which traces are read, gives each opcode the unit that the model
/// gave the instruction.
fn check(program: &Program) {
    for (text, lowered) in spelled(program) {
        let stem = text.split('.').next().unwrap();
        // The listed width, not the table, tells which loads from constant memory are accesses.
        if lowered.class == Class::Load(Space::Constant) {
            assert_eq!(stem, "LDC");
            continue;
        }
        // Accel-Sim's traces list no addresses of texels: a fetch that is read back is an
        // instruction of the texture unit.
        if lowered.class == Class::Load(Space::Texture) {
            assert_eq!(Isa::Turing.operation(stem), Some(Operation::Of(Class::Texture)), "{text}");
            continue;
        }
        let expected = if lowered.class == Class::Exit { Operation::Exit } else { Operation::Of(lowered.class) };
        assert_eq!(Isa::Turing.operation(stem), Some(expected), "{text}");
    }
}

#[test]
fn our_kernels_keep_their_units() {
    for name in names() {
        check(&Spec::parse(name).unwrap().compile().unwrap().0);
    }
}
