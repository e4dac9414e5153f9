//! Properties of the slot form over the whole library, and its execution by the simulator's
//! executor: one slot that executes TBs one after the other leaves the same memory as the original.

use super::{ENDLESS, PARAMETERS, transform};
use crate::control;
use crate::kernel::{Kernel, Places};
use mias_ptx::warp::Unobserved;
use mias_ptx::{Arg, DeviceMemory, Launch, Program, TbRunner, parser};

/// Kernels without a slot form, because they read textures.
const WITHOUT: [&str; 2] = ["leu", "sad1"];

/// Returns the text of the new entry.
fn added<'a>(ptx: &'a str, original: &str) -> &'a str {
    assert_eq!(&ptx[..original.len()], original, "the module stays as it is");
    &ptx[original.len()..]
}

#[test]
fn places_in_the_grid_are_replaced_and_parameters_kept() {
    for kernel in mias_kernels::ALL.iter().filter(|kernel| !WITHOUT.contains(&kernel.name)) {
        let module = parser::parse("original", kernel.ptx).unwrap();
        for entry in &module.entries {
            let slot = transform(kernel.ptx, entry.name, &[], None).unwrap();
            let text = added(&slot.ptx, kernel.ptx);
            assert!(!text.contains("%ctaid") && !text.contains("%nctaid"), "{}", kernel.name);
            assert_eq!(text.matches("ret;").count(), 1, "{}: only the slot's own", kernel.name);
            let known = known(&slot.ptx);
            let again = parser::parse("slot form", &known).unwrap();
            let [old, new] = [entry.name, &slot.name].map(|name| Program::of(&again, name).unwrap().params);
            let places = |params: &[mias_ptx::program::Param]| params.iter().map(|p| (p.offset, p.bytes, p.ty)).collect::<Vec<_>>();
            assert_eq!(places(&new[..old.len()]), places(&old), "{}", kernel.name);
            let own: Vec<&str> = new[old.len()..].iter().map(|param| param.name.as_str()).collect();
            assert_eq!(own, PARAMETERS.map(|(name, _)| name));
        }
    }
}

#[test]
fn what_has_no_slot_form_is_refused() {
    let of = |body: &str| {
        transform(&format!(".visible .entry k(\n\t.param .u64 k_param_0\n)\n{{\n\t.reg .b32 %r<9>;\n\n{body}\n}}\n"), "k", &[0], None)
    };
    assert!(of("\tret;").is_ok());
    for (body, why) in [
        ("\tadd.u32 %r1, %ctaid.x, 1;", "expected `mov.u32` of a place in the grid"),
        ("\tbar.sync 1;\n\tret;", "a barrier of part of a TB"),
        ("\tbar.sync 0, 64;\n\tret;", "a barrier of part of a TB"),
        ("\ttex.1d.v4.f32.s32 {%f1}, [t, {%r1}];", "reads textures"),
        ("\t@%p1 exit;", "ends threads by `exit`"),
        ("\tld.param.u32 %r1, [k_param_0];", "the address `k_param_0` is read by"),
    ] {
        let found = of(body).unwrap_err().to_string();
        assert!(found.starts_with("entry `k`: ") && found.contains(why), "{found}");
    }
    assert!(transform("", "k", &[], None).unwrap_err().to_string().contains("not found"));
}

#[test]
fn ends_of_threads_are_ends_of_turns() {
    let ptx = ".visible .entry k(\n)\n{\n\t.reg .pred %p<2>;\n\n\t@%p1 ret;\n\tmov.u32 %r1, %nctaid.y;\n\tret;\n}\n";
    let text = transform(ptx, "k", &[], Some(24)).unwrap().ptx;
    assert!(text.contains("\t@%p1 bra MIAS_DONE;") && text.contains("ld.param.u32 %r1, [mias_grid_y];") && text.contains(".maxnreg 24"));
}

/// Pass of a test through a grid.
#[derive(Clone, Copy)]
struct Pass {
    tbs: u32,
    end: u32,
    window: u64,
    stride: u64,
}

/// Adapts the slot form to the executor, which does not support `%smid`.
fn known(ptx: &str) -> String {
    ptx.replace("mov.u32 %mias_r2, %smid;", "mov.u32 %mias_r2, 5;")
}

fn program(kernel: &Kernel) -> Program {
    let slot = kernel.slot(None).unwrap();
    Program::of(&parser::parse("slot form", &known(&slot.ptx)).unwrap(), &slot.name).unwrap()
}

/// Last possible kernel index, for all slots of these tests.
const LAST: u32 = control::KERNELS as u32 - 1;

/// Runs one slot on SM 5, of the last kernel of the run, and returns the control block.
fn run_slot(kernel: &Kernel, memory: &mut DeviceMemory, places: Places, pass: Pass) -> Vec<u8> {
    run_slot_with(kernel, memory, places, pass, &[])
}

/// Runs one slot with initial tickets from a table.
fn run_slot_with(kernel: &Kernel, memory: &mut DeviceMemory, places: Places, pass: Pass, tickets: &[u8]) -> Vec<u8> {
    let Pass { tbs, end, window, stride } = pass;
    let mut bytes = vec![0; control::BYTES];
    bytes[control::TICKETS as usize..][..tickets.len()].copy_from_slice(tickets);
    let block = memory.allocate_bytes(&bytes);
    let launch = &kernel.prepared.instance.launch;
    let mut args: Vec<Arg> = kernel.arguments(places).into_iter().map(Arg::Bytes).collect();
    let params = &kernel.prepared.program.params;
    args.iter_mut().zip(params).for_each(|(arg, param)| *arg = as_declared(arg, param.ty));
    let [x, y, z] = launch.grid;
    args.push(Arg::U64(block.address));
    args.extend([x, y, z, tbs, end, LAST, 1, 1].map(Arg::U32));
    args.extend([0, window, 1 << 20, stride].map(Arg::U64));
    let limits = mias_ptx::Limits { warp_instructions: u64::MAX, tb_instructions: u64::MAX, ..launch.limits };
    let launch = Launch { grid: [1, 1, 1], args, limits, ..launch.clone() };
    let program = program(kernel);
    TbRunner::new(&program, &launch, memory).unwrap().run(0, &mut Unobserved).unwrap();
    memory.read(block.address, control::BYTES).unwrap()
}

/// Converts an argument of bytes to the executor's format.
fn as_declared(arg: &Arg, ty: mias_ptx::ast::Type) -> Arg {
    let bytes = arg.bytes();
    match (ty, bytes.len()) {
        (mias_ptx::ast::Type::Float(_), _) => Arg::Bytes(bytes),
        (_, 8) => Arg::U64(u64::from_le_bytes(bytes.try_into().unwrap())),
        (_, 4) => Arg::U32(u32::from_le_bytes(bytes.try_into().unwrap())),
        _ => Arg::Bytes(bytes),
    }
}

/// Returns small inputs where the default is large. Every kernel with barriers is among those that
/// run.
fn small(name: &str) -> String {
    let size = match name {
        "mm" | "mms" | "gemm" | "mm2" | "dxtc" | "dc" | "coulomb" => "64",
        "blk" | "fwt" | "bs" | "bfs" | "bfs1" | "bfs2" | "merge" | "pvc" | "dwtc" | "hg" => "8192",
        "nbdy" | "ax" | "gesummv" | "ks" | "sc" => "512",
        "sv" => "960",
        "s2" => "20",
        "lavamd" => "2",
        "lbm" => "16",
        "stc" | "conv" | "fdtd1" | "fdtd2" => "64",
        "bopt" => "3,steps=512",
        _ => return name.into(),
    };
    format!("{name}:{size}")
}

#[test]
fn a_slot_leaves_what_the_tbs_leave() {
    let places = |kernel: &Kernel| Places { arena: kernel.arena.start, own: kernel.own.as_ref().map(|own| own.start) };
    let early = |name: &str| name == "nw1" || name == "nw2";
    assert!(Kernel::of("nw1").unwrap_err().contains("end before barriers of the others"));
    for name in mias_kernels::ALL.iter().map(|kernel| kernel.name).filter(|name| !WITHOUT.contains(name) && !early(name)) {
        let [original, mut slots] = [(); 2].map(|()| Kernel::of(&small(name)).unwrap());
        // Enough to include the grid's second row, if there is one.
        let tbs = original.tbs().min(original.prepared.instance.launch.grid[0].min(8) + 2);
        let instance = &original.prepared.instance;
        let mut runner = TbRunner::new(&original.prepared.program, &instance.launch, &instance.memory).unwrap();
        (0..tbs).for_each(|tb| runner.run(tb, &mut Unobserved).unwrap());
        let at = places(&slots);
        let mut memory = std::mem::take(&mut slots.prepared.instance.memory);
        let block = run_slot(&slots, &mut memory, at, Pass { tbs, end: tbs, window: u64::MAX >> 1, stride: 0 });
        slots.prepared.instance.memory = memory;
        assert!(slots.contents()[..original.contents().len()] == original.contents()[..], "{name}");
        let outcome = control::Outcome::read(&block);
        assert_eq!((outcome.arrived, outcome.gave_up, outcome.stopped), (1, false, true), "{name}");
        let [none @ .., last] = &outcome.slots;
        let [one] = last.as_slice() else { panic!("{name}: one slot of the last kernel") };
        assert!(none.iter().all(Vec::is_empty), "{name}");
        assert_eq!((one.sm, one.count, one.ended), (5, tbs, true), "{name}");
        assert!(one.start[0] < one.first && one.first <= one.last && one.last <= one.end[0] && one.cycles > 0, "{name}");
    }
}

/// A window counts the TBs until it closes, and repeats the grid while it is open.
#[test]
fn a_window_counts_what_is_done_in_it() {
    let mut kernel = Kernel::of("blk:512").unwrap();
    let at = Places { arena: kernel.arena.start, own: None };
    let mut counts = [100_000, 200_000].map(|window| {
        let mut memory = std::mem::take(&mut kernel.prepared.instance.memory);
        let block = run_slot(&kernel, &mut memory, at, Pass { tbs: 2, end: ENDLESS, window, stride: 0 });
        kernel.prepared.instance.memory = memory;
        let outcome = control::Outcome::read(&block);
        let one = outcome.slots[LAST as usize][0];
        assert!(!outcome.stopped && one.count > 20 && one.last - one.start[0] <= window && one.end[0] - one.start[0] > window);
        one.count
    });
    counts[1] /= 2;
    assert!(counts[0].abs_diff(counts[1]) <= 1, "{counts:?}");
}

/// Each pass through the grid works on memory of its own.
#[test]
fn passes_have_memory_of_their_own() {
    let mut kernel = Kernel::of("bfs:1024").unwrap();
    let own = kernel.own.clone().unwrap();
    let mut memory = std::mem::take(&mut kernel.prepared.instance.memory);
    let pristine = memory.read(own.start, (own.end - own.start) as usize).unwrap();
    let copies = memory.allocate_bytes(&pristine.repeat(3));
    let (at, tbs) = (Places { arena: kernel.arena.start, own: Some(copies.address) }, kernel.tbs());
    run_slot(&kernel, &mut memory, at, Pass { tbs, end: 2 * tbs, window: u64::MAX >> 1, stride: own.end - own.start });
    let copies = memory.read(copies.address, 3 * pristine.len()).unwrap();
    let [first, second, third] = [0, 1, 2].map(|pass| &copies[pass * pristine.len()..(pass + 1) * pristine.len()]);
    assert!(first == second && first != pristine && third == pristine);
    assert_eq!(memory.read(own.start, pristine.len()).unwrap(), pristine);
}

/// A kernel with separate SMs stays on no other: tickets start after the last slot's.
#[test]
fn tickets_keep_a_kernel_on_its_sms() {
    let table = control::tickets(&[8, 3, 1], &[0..5, 5..6, 6..132]);
    let first = |kernel: usize, sm: usize| u32::from(table[4 * (256 * kernel + sm)]);
    assert_eq!((table.len(), table.iter().map(|&byte| u32::from(byte)).sum::<u32>()), (4096, 8 * 251 + 3 * 255 + 130));
    assert_eq!([0, 4, 5, 131, 255].map(|sm| first(0, sm)), [0, 0, 8, 8, 8]);
    assert_eq!([4, 5, 6].map(|sm| [first(1, sm), first(2, sm)]), [[3, 1], [0, 1], [3, 0]]);
    let mut kernel = Kernel::of("blk:512").unwrap();
    let at = Places { arena: kernel.arena.start, own: None };
    for (sms, stays) in [(5..6, 1), (0..5, 0), (6..256, 0)] {
        let mut memory = std::mem::take(&mut kernel.prepared.instance.memory);
        let tickets = control::tickets(&[1; 4], &[0..0, 0..0, 0..0, sms]);
        let pass = Pass { tbs: 2, end: 2, window: u64::MAX >> 1, stride: 0 };
        let outcome = control::Outcome::read(&run_slot_with(&kernel, &mut memory, at, pass, &tickets));
        kernel.prepared.instance.memory = memory;
        assert_eq!((outcome.arrived, outcome.gave_up, outcome.slots[LAST as usize].len()), (stays, false, stays as usize));
    }
}
