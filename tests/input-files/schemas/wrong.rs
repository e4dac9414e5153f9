//! Invalid files, which both schema and reader reject: unknown keys, values of a wrong kind,
//! numbers out of range.

use super::files::{EVERY_KERNEL_KEY, EVERY_PLAN_KEY, Kind, every_gpu_key, gpu, kernel, plan};
use super::mutation::{Mutation, changed, paths};
use mias_hw_model::config::{GpuConfig, Range};
use toml::{Table, Value};

fn both_refuse(kind: &Kind, file: &Table, what: &str) {
    assert!(!kind.takes(file), "the schema takes {what}");
    assert!(kind.uses(file).is_err(), "{what} is read");
}

/// Returns the path of a dotted key; for a list, of its first element.
fn path(file: &Table, key: &str) -> Vec<String> {
    let mut path: Vec<String> = Vec::new();
    let mut at = Value::Table(file.clone());
    for name in key.split('.') {
        if at.is_array() {
            path.push("0".into());
            at = at[0].clone();
        }
        path.push(name.into());
        at = at[name].clone();
    }
    if at.is_array() {
        path.push("0".into());
    }
    path
}

/// Returns the value at a path of a file.
fn value<'a>(file: &'a Table, path: &[String]) -> &'a Value {
    let (first, rest) = path.split_first().expect("a path");
    rest.iter().fold(&file[first], |at, name| match at {
        Value::Array(elements) => &elements[name.parse::<usize>().expect("a place")],
        table => &table[name.as_str()],
    })
}

#[test]
fn numbers_of_a_gpu_out_of_their_ranges() {
    let (kind, file) = (gpu(), every_gpu_key());
    for Range { key, within, multiple_of, power_of_two } in GpuConfig::ranges() {
        let below = within.start().checked_sub(1).map(i64::from);
        let above = i64::from(*within.end()) + 1;
        let between = (power_of_two && *within.end() > 3 || multiple_of > 1).then_some(3);
        for number in [below, Some(above), between].into_iter().flatten() {
            let file = changed(&file, &path(&file, &key), &Mutation::Becomes(Value::Integer(number)));
            both_refuse(&kind, &file, &format!("{key} = {number}"));
        }
    }
}

/// Every value of a GPU file as one of another kind, or as an invalid number, and every key under
/// another name.
#[test]
fn gpus_with_values_of_a_wrong_kind_and_with_unknown_keys() {
    let (kind, file) = (gpu(), every_gpu_key());
    for path in paths(&file) {
        let is_element = path.last().is_some_and(|last| last.parse::<usize>().is_ok());
        let others = [Value::Boolean(true), Value::Integer(-1), Value::Float(0.5), Value::Array(vec![Value::Boolean(true)])];
        for other in others.into_iter().filter(|other| !(other.is_bool() && value(&file, &path).is_bool())) {
            both_refuse(&kind, &changed(&file, &path, &Mutation::Becomes(other.clone())), &format!("{path:?} = {other}"));
        }
        if !is_element {
            both_refuse(&kind, &changed(&file, &path, &Mutation::Renamed("nothing")), &format!("another name for {path:?}"));
        }
    }
}

/// Tests files with one text replaced by another.
fn replaced(kind: &Kind, text: &str, changes: &[(&str, &str)]) {
    let sound: Table = text.parse().expect("TOML");
    assert_eq!(kind.uses(&sound), Ok(()));
    assert!(kind.takes(&sound));
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        let wrong = text.replacen(from, to, 1).parse().unwrap_or_else(|error| panic!("{to}: {error}"));
        both_refuse(kind, &wrong, to);
    }
}

#[test]
fn plans() {
    let changes = [
        ("name = \"every\"", "name = \"Every\""),
        ("name = \"every\"", "name = 3"),
        ("name = \"every\"", ""),
        ("description = ", "about = "),
        ("include = [\"quick\"]", "include = []"),
        ("include = [\"quick\"]", "include = \"quick\""),
        ("title = \"All\"", ""),
        ("gpu = [\"rtx2060\", \"dai18\"]", "gpu = []"),
        ("gpu = [\"rtx2060\", \"dai18\"]", "gpu = 2060"),
        ("kernels = [\"mm:64\", \"bopt:8\"]", "kernels = \"mm:64\""),
        ("together = [1, 2]", "together = 0"),
        ("together = [1, 2]", "together = 5"),
        ("together = [1, 2]", "together = [1, 2]\ngroups = [[\"mm:64\"]]"),
        ("groups = [[\"mm:64\", \"bopt:8\"]]", "groups = [\"mm:64\", \"bopt:8\"]"),
        ("groups = [[\"mm:64\", \"bopt:8\"]]", "groups = [[]]"),
        ("\"mias-ipc\"", "\"mias-ipx\""),
        ("configurations = false", "configurations = \"no\""),
        ("configurations = false", "configuration = false"),
        ("cycles = { from", "cycles = { form"),
        ("step = 10_000", "step = 0"),
        ("step = 10_000", "step = 10_000, by = 1"),
        ("cycles = { from = 20_000", "cycles = { from = 0"),
        ("profile-cycles = [1_000, 4_000]", "profile-cycles = 131_072"),
        ("profile-cycles = [1_000, 4_000]", "profile-cycles = [1_000, 0]"),
        ("profile-cycles = [1_000, 4_000]", "profile_cycles = 1_000"),
        ("transition = [\"drain\", \"ideal\"]", "transition = \"drained\""),
        ("latency = \"per-metric\"", "latency = \"none\""),
        ("ipc = \"warp\"", "ipc = \"lane\""),
        ("order = [\"given\", \"reversed\"]", "order = [\"given\", \"random\"]"),
        ("arrive = 100", "arrive = 1_000_000_001"),
        ("relaunch = false", "relaunch = \"off\""),
        ("until = \"done\"", "until = \"end\""),
        ("until = \"done\"", "until = \"done\"\ncycles = 5"),
        ("until = \"done\"", "until = \"done\"\nrelaunch = true"),
        ("sm.count = [2, 3]", "sm.cuont = 3"),
        ("sm.count = [2, 3]", "sm.count = 257"),
        ("sm.count = [2, 3]", "sm.count = [2, 0]"),
        ("sm.count = [2, 3]", "sm.count = { from = 0, to = 2, step = 1 }"),
        ("sm.count = [2, 3]", "sm.count = []"),
        ("sm.warp_scheduler = \"lrr\"", "sm.warp_scheduler = \"rr\""),
        ("sm.warp_scheduler = \"lrr\"", "dram.address.row_bits = [9]"),
    ];
    replaced(&plan(), EVERY_PLAN_KEY, &changes);
}

#[test]
fn kernels() {
    let kind = kernel();
    let [of_textures, of_graphs] = EVERY_KERNEL_KEY;
    let changes = [
        ("name = \"every.key\"", "name = \"every key\""),
        ("type = \"memory\"", "type = \"memories\""),
        ("ptx = \"textures.ptx\"", ""),
        ("ptx = \"textures.ptx\"", "ptx = [\"textures.ptx\"]"),
        ("registers = 20", "registers = 0"),
        ("registers = 20", "registers = \"20\""),
        ("registers = 20", "register = 20"),
        ("grid = [2, 2]", "grid = []"),
        ("grid = [2, 2]", "grid = [2, 2, 1, 1]"),
        ("grid = [2, 2]", "grid = [2, 0]"),
        ("grid = [2, 2]", "grid = 2.5"),
        ("shared = 0", "shared = -1"),
        ("args = [", "args = [true, "),
        ("unit = \"pixels\"", "units = \"pixels\""),
        ("default = 32", "default = 32.5"),
        ("values = [16, 32]", "values = []"),
        ("values = [16, 32]", "values = [\"16\"]"),
        ("power_of_two = true", "power_of_two = 1"),
        ("height = 16", "height = [16]"),
        ("type = \"u32\", count", "type = \"u33\", count"),
        ("type = \"u32\", count", "kind = \"u32\", count"),
        ("fill = \"random\", before = 4", "fill = [], before = 4"),
        ("before = 4", "before = -4"),
        ("stack_bytes = 2_048", "stack_bytes = 524_289"),
        ("warp_instructions = 50_000", "warp_instructions = 0"),
        ("tb_instructions = \"size * 100_000\"", "tb_instruction = 1"),
        ("type = \"u8\"\nchannels = 4", "type = \"f64\"\nchannels = 4"),
        ("channels = 4\nwidth = \"size\"", "channels = 3\nwidth = \"size\""),
        ("filter = \"linear\"", "filter = \"cubic\""),
        ("address = [\"clamp\", \"border\"]", "address = \"mirrored\""),
        ("address = [\"clamp\", \"border\"]", "address = []"),
        ("normalized = false", "normal = false"),
        ("read = \"normalized\"", "read = \"float\""),
        ("buffer = \"out\"", ""),
    ];
    replaced(&kind, of_textures, &changes);
    replaced(&kind, of_graphs, &[("[graph]\ndefault = \"uniform\"", "[graph]\ndefault = \"grid\"")]);
    let picture = of_graphs
        .replace("[graph]\ndefault = \"uniform\"", "[picture]\nmultiple_of = 4")
        .replace("graph:targets", "picture:pixels")
        .replace("\"size\"", "\"width\"");
    replaced(&kind, &picture, &[("multiple_of = 4", "multiple_of = 0"), ("multiple_of = 4", "multiple_of = 1_025")]);
}
