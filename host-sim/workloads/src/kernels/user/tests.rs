use super::*;
use crate::kernels::Request;

const SAXPY: &str = include_str!("../../../../../examples/saxpy/saxpy.ptx");
const REPORT: &str = include_str!("../../../../../examples/saxpy/saxpy.ptxas.txt");

const TOML: &str = "ptx = \"saxpy.ptx\"\ngrid = 4\nblock = 256\nptxas = \"saxpy.ptxas.txt\"\n\
    args = [\n 1000,\n 2.0,\n \"buf:f32:1000:iota\",\n \"buf:f32:1000:ones\",\n]\n";

/// A folder with the kernel in it.
fn folder(toml: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("saxpy.ptx", SAXPY), ("saxpy.ptxas.txt", REPORT), ("saxpy.toml", toml)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn prepared(toml: &str) -> Result<Prepared, String> {
    let folder = folder(toml);
    let request = Request::parse(folder.path().join("saxpy.toml").to_str().unwrap()).map_err(|error| error.to_string());
    let prepared = request.and_then(|request| request.prepare().map_err(|error| error.to_string()));
    let path = folder.path().display().to_string();
    prepared.map_err(|message| message.replace(&format!("{path}/"), ""))
}

/// y = 2 x + y over x = 0, 1, 2, .. and y = 1.
#[test]
fn a_users_kernel_computes_what_it_should() {
    let prepared = prepared(TOML).unwrap();
    assert_eq!((prepared.info.name.as_str(), prepared.info.tbs(), prepared.info.registers_per_thread), ("saxpy", 4, 10));
    let mias_ptx::Arg::U64(y) = prepared.instance.launch.args[3] else { panic!() };
    let (program, Instance { launch, memory, .. }) = (prepared.program, prepared.instance);
    mias_ptx::lower::record::execute(&program, &launch, &memory).unwrap();
    let mut view = memory.view();
    for index in 0..1000 {
        let bits = view.load(y + 4 * index, 4, 0, 4).unwrap();
        assert_eq!(f32::from_bits(bits as u32), 2.0 * index as f32 + 1.0);
    }
}

#[test]
fn mistakes_are_shown_where_they_are() {
    for (from, to, expected) in [
        ("grid = 4", "grid = 0", "saxpy.toml:2:8: expected one to three numbers, each at least 1\n"),
        ("grid = 4", "grid = [1, 2, 3, 4]", "saxpy.toml:2:8: expected one to three numbers, each at least 1\n"),
        ("grid = 4", "grid = \"4\"", "saxpy.toml:2:8: expected a whole number, or a list of up to three\n"),
        ("block = 256\n", "", "saxpy.toml:1:1: missing field `block`\n"),
        ("block", "blok", "saxpy.toml:3:1: unknown field `blok`, expected one of "),
        ("ptxas = \"saxpy.ptxas.txt\"\n", "", "saxpy.toml: give either registers = N per thread, or ptxas = \"FILE\", "),
        ("ptxas = \"saxpy.ptxas.txt\"", "registers = 0", "saxpy.toml:4:13: a thread has at least 1 register\n"),
        ("saxpy.ptxas.txt", "no.txt", "cannot read the ptxas report no.txt: "),
        ("\"saxpy.ptx\"", "\"no.ptx\"", "cannot read the PTX file no.ptx: "),
        ("grid", "entry = \"saxpi\"\ngrid", "saxpy.ptx: no entry `saxpi`; the module has: saxpy"),
        ("2.0", "\"f64:2.0\"", "saxpy.toml:7: argument 2: a f64 is given, but parameter `saxpy_param_1` is a f32"),
        ("iota", "itoa", "saxpy.toml:8:2: `itoa`: expected zeros, "),
        ("\"buf:f32:1000:ones\",\n", "", "3 arguments are given, entry `saxpy` takes 4: saxpy_param_0 (4 bytes), "),
        ("buf:f32:1000:ones", "buf:f32:999:ones", "saxpy.ptx:"),
    ] {
        let toml = TOML.replacen(from, to, 1);
        assert_ne!(toml, TOML);
        let found = prepared(&toml).and_then(|p| p.execute().map_err(|e| e.to_string()));
        let message = found.expect_err(expected);
        assert!(message.contains(expected), "{message}\nexpected {expected}");
    }
}

/// Running off the end of a buffer names kernel, TB, thread, line and address.
#[test]
fn an_overrun_is_located() {
    let message = prepared(&TOML.replace("buf:f32:1000:ones", "buf:f32:999:ones")).unwrap().execute().unwrap_err().to_string();
    assert!(message.contains("kernel `saxpy`, TB [3, 0, 0], thread [231, 0, 0]: out of bounds"), "{message}");
}

#[test]
fn words_that_name_no_kernel_get_a_hint() {
    let message = |word: &str| Request::parse(word).unwrap_err().to_string();
    assert!(message("./saxpy.ptx").contains("named by its TOML file, or run with --ptx"));
    assert!(message("no/such.toml").starts_with("cannot read the kernel file no/such.toml: "));
    assert!(message("mn").contains("did you mean `mm`?"));
}
