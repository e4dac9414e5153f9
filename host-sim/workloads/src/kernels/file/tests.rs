use super::*;
use crate::kernels::{Input, Instance, KernelError, KernelType, Prepared, Spec, names};
use mias_ptx::Arg;
use proptest::prelude::*;

/// Writes a file of the guide's example.
fn saxpy(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/saxpy").join(name)).unwrap()
}

const TOML: &str = "ptx = \"saxpy.ptx\"\ngrid = 4\nblock = 256\nptxas = \"saxpy.ptxas.txt\"\n\
    args = [\n 1000,\n 2.0,\n \"buf:f32:1000:iota\",\n \"buf:f32:1000:ones\",\n]\n";

/// A variant for any size, with named buffers: y after x in one buffer.
const SIZED: &str = "ptx = \"saxpy.ptx\"\nptxas = \"saxpy.ptxas.txt\"\ngrid = \"blocks\"\nblock = \"threads\"\n\
    args = [\"size\", \"f32:2\", \"&both\", \"&both[size]\"]\n\
    [settings.threads]\ndefault = 256\nvalues = [128, 256]\n\
    [size]\nunit = \"elements\"\ndefault = 1000\nfrom = 2\nto = 2048\n\
    [let]\nblocks = \"(size + threads - 1) / threads\"\n\
    [buffers]\nboth = { type = \"f32\", count = \"2 * size\", fill = \"iota\" }\n";

/// Prepares a kernel's file in a folder with its PTX; the word's settings are added.
fn prepared(toml: &str, settings: &str) -> Result<Prepared, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("saxpy.ptx", saxpy("saxpy.ptx")), ("saxpy.ptxas.txt", saxpy("saxpy.ptxas.txt")), ("saxpy.toml", toml.to_owned())]
    {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let word = format!("{}/saxpy.toml{settings}", folder.path().display());
    let spec = Spec::parse(&word).map_err(|error| error.to_string());
    let prepared = spec.and_then(|spec| spec.prepare().map_err(|error| error.to_string()));
    prepared.map_err(|message| message.replace(&format!("{}/", folder.path().display()), ""))
}

/// Returns the contents of `y` after the run.
fn computed(prepared: Prepared, count: u64) -> Vec<f32> {
    let Arg::U64(y) = prepared.instance.launch.args[3] else { panic!() };
    let (program, Instance { launch, memory, .. }) = (prepared.program, prepared.instance);
    mias_ptx::lower::record::execute(&program, &launch, &memory).unwrap();
    let mut view = memory.view();
    (0..count).map(|index| f32::from_bits(view.load(y + 4 * index, 4, 0, 4).unwrap() as u32)).collect()
}

/// y = 2 x + y over x = 0, 1, 2, .. and y = 1.
#[test]
fn a_users_kernel_computes_what_it_should() {
    let prepared = prepared(TOML, "").unwrap();
    assert_eq!((prepared.info.name.as_str(), prepared.info.tbs(), prepared.info.registers_per_thread), ("saxpy", 4, 10));
    let expected: Vec<f32> = (0..1000u16).map(|index| 2.0 * f32::from(index) + 1.0).collect();
    assert_eq!(computed(prepared, 1000), expected);
}

/// y = 2 x + y over x = 0, 1, .. and y = n, n + 1, ..
#[test]
fn a_users_kernel_has_sizes_and_settings() {
    for (settings, size, grid, threads) in
        [("", 1000u16, 4, 256), (":100", 100, 1, 256), (":size=300,threads=128", 300, 3, 128), (":2,seed=7", 2, 1, 256)]
    {
        let prepared = prepared(SIZED, settings).unwrap();
        assert_eq!((prepared.info.grid, prepared.info.block), ([grid, 1, 1], [threads, 1, 1]), "{settings}");
        let expected: Vec<f32> = (0..size).map(|index| 3.0 * f32::from(index) + f32::from(size)).collect();
        assert_eq!(computed(prepared, size.into()), expected, "{settings}");
    }
    for (settings, message) in [
        (":1", "kernel `saxpy`: size 1: must be from 2 to 2048"),
        (":2049", "kernel `saxpy`: size 2049: must be from 2 to 2048"),
        (":threads=64", "kernel `saxpy`: threads `64`: must be 128 or 256"),
        (":threads=0256", "kernel `saxpy`: threads `0256`: must be 128 or 256"),
        (":thread=64", "unknown setting `thread`; did you mean `threads`? known: size, seed, threads, registers"),
        (":many", "size `many`: expected a whole number, as in saxpy:1000"),
    ] {
        let found = prepared(SIZED, settings).unwrap_err();
        assert!(found.ends_with(message), "{found}\nexpected {message}");
    }
    let found = prepared(TOML, ":64").unwrap_err();
    assert!(found.ends_with("it has one size; add a table [size] to its file for others"), "{found}");
}

/// One stream for all buffers with a name, one for each without, which count up from the seed.
#[test]
fn random_numbers_follow_from_the_seed() {
    use crate::random::Random;
    let floats = |prepared: &Prepared, number: usize| {
        let words = prepared.instance.memory.allocations().nth(number).unwrap().2;
        words.map(f32::from_bits).collect::<Vec<_>>()
    };
    let drawn = |random: &mut Random, count: usize| (0..count).map(|_| random.float()).collect::<Vec<_>>();
    let named = SIZED.replace("&both\"", "&x\"").replace("&both[size]", "&y");
    let (start, _) = named.split_once("both =").unwrap();
    let buffer = |name: &str| format!("{name} = {{ type = \"f32\", count = \"size\", fill = \"random\" }}\n");
    let named = format!("{start}{}{}", buffer("y"), buffer("x"));
    let prepared_named = prepared(&named, ":3,seed=9").unwrap();
    let mut random = Random::new(9);
    assert_eq!([floats(&prepared_named, 0), floats(&prepared_named, 1)], [drawn(&mut random, 3), drawn(&mut random, 3)]);
    let [y, x] = [0, 1].map(|number| prepared_named.instance.memory.allocations().nth(number).unwrap().0);
    assert_eq!(prepared_named.instance.launch.args[2..], [Arg::U64(x), Arg::U64(y)], "in the order of the file, not of their names");
    let unnamed = TOML.replace("iota", "random").replace("ones", "random");
    let prepared_unnamed = prepared(&unnamed, ":seed=5").unwrap();
    // The third and the fourth argument.
    for (number, seed) in [(0, 7), (1, 8)] {
        assert_eq!(floats(&prepared_unnamed, number), drawn(&mut Random::new(seed), 1000));
    }
}

/// A graph's and a picture's words come into buffers of kernels that are not ours.
#[test]
fn a_users_kernel_takes_a_graph_or_a_picture() {
    let with = |tables: &str, args: &str| {
        format!("ptx = \"saxpy.ptx\"\nptxas = \"saxpy.ptxas.txt\"\ngrid = 1\nblock = 32\nargs = [{args}]\n{tables}")
    };
    let graph = with(
        "[graph]\ndefault = \"rmat\"\n[size]\ndefault = 64\n[buffers]\noffsets = { type = \"u32\", fill = \"graph:offsets\" }\n\
         targets = { type = \"i32\", count = \"edges\", fill = \"graph:targets\" }\n",
        "\"size\", \"f32:0\", \"&offsets\", \"&targets\"",
    );
    let lengths = |prepared: Prepared| prepared.instance.memory.allocations().map(|(_, bytes, _)| bytes / 4).collect::<Vec<_>>();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("g.el");
    std::fs::write(&file, "1 2\n2 3\n").unwrap();
    assert_eq!(lengths(prepared(&graph, &format!(":graph={}", file.display())).unwrap()), [4, 2]);
    assert_eq!(lengths(prepared(&graph, ":128,degree=2").unwrap())[0], 129);
    assert!(prepared(&graph, ":100").unwrap_err().ends_with("size 100: the number of nodes of an R-MAT graph is a power of two"));
    let picture = with(
        "[picture]\nmultiple_of = 8\n[size]\ndefault = 20\n[buffers]\npixels = { type = \"u32\", fill = \"picture:pixels\" }\n",
        "\"width\", \"f32:0\", \"&pixels\", \"&pixels\"",
    );
    assert_eq!(lengths(prepared(&picture, "").unwrap()), [24 * 24]);
    assert_eq!(lengths(prepared(&picture, ":8").unwrap()), [64]);
}

/// Every mistake is shown where it is.
fn shown(sound: &str, mistakes: &[(&str, &str, &str)]) {
    for (from, to, expected) in mistakes {
        let toml = sound.replacen(from, to, 1);
        assert_ne!(toml, sound, "{from}");
        let found = prepared(&toml, "").and_then(|p| p.execute().map_err(|e| e.to_string()));
        let message = found.expect_err(expected);
        assert!(message.contains(expected), "{message}\nexpected {expected}");
    }
}

#[test]
fn mistakes_are_shown_where_they_are() {
    shown(
        TOML,
        &[
            ("grid = 4", "grid = 0", "saxpy.toml:2:8: TBs of the grid: expected 1 to 4294967295, found 0\n"),
            ("grid = 4", "grid = [1, 2, 3, 4]", "saxpy.toml:2:8: expected one to three numbers, each at least 1\n"),
            ("grid = 4", "grid = true", "saxpy.toml:2:8: expected a whole number, or a list of up to three\n"),
            ("grid = 4", "grid = \"size\"", "saxpy.toml:2:8: unknown name `size`; named numbers are not available here\n"),
            ("block = 256\n", "", "saxpy.toml:1:1: missing field `block`\n"),
            ("block", "blok", "saxpy.toml:3:1: unknown field `blok`, expected one of "),
            ("ptxas = \"saxpy.ptxas.txt\"\n", "", "saxpy.toml: give either registers = N per thread, or ptxas = \"FILE\", "),
            ("ptxas = \"saxpy.ptxas.txt\"", "registers = 0", "saxpy.toml:4:13: a thread has at least 1 register\n"),
            ("ptxas = \"saxpy.ptxas.txt\"", "registers = 256", "saxpy.toml: 256 registers per thread; a thread has at most 255"),
            ("saxpy.ptxas.txt", "no.txt", "cannot read the ptxas report no.txt: "),
            ("\"saxpy.ptx\"", "\"no.ptx\"", "cannot read the PTX file no.ptx: "),
            ("grid", "entry = \"saxpi\"\ngrid", "saxpy.ptx: no entry `saxpi`; the module has: saxpy"),
            ("grid", "reference = \"matrix-product\"\ngrid", "saxpy.toml:2:13: only the simulator's own kernels have a reference"),
            ("2.0", "\"f64:2.0\"", "saxpy.toml:7: argument 2: a f64 is given, but parameter `saxpy_param_1` is a f32"),
            ("2.0", "\"&x\"", "saxpy.toml:7:2: unknown buffer `x`: the table [buffers] is missing\n"),
            ("iota", "itoa", "saxpy.toml:8:2: `itoa`: expected zeros, "),
            ("iota", "graph:rows", "saxpy.toml:8:2: a graph, picture or reference fills buffers of the table [buffers]\n"),
            ("\"buf:f32:1000:ones\",\n", "", "3 arguments, entry `saxpy` takes 4: saxpy_param_0 (4 bytes), "),
            ("buf:f32:1000:ones", "buf:f32:999:ones", "saxpy.ptx:"),
        ],
    );
}

#[test]
fn mistakes_in_sizes_and_buffers_are_shown_where_they_are() {
    shown(
        SIZED,
        &[
            ("\"blocks\"", "\"blocs\"", "saxpy.toml:3:8: unknown name `blocs`; did you mean `blocks`? known: threads, size, blocks\n"),
            (
                "\"blocks\"",
                "\"blocks - 4\"",
                "saxpy.toml:3:8: TBs of the grid: expected 1 to 4294967295, found 0: `blocks - 4`, with blocks = 4\n",
            ),
            (
                "\"blocks\"",
                "\"blocks / (size - 1000)\"",
                "saxpy.toml:3:8: `blocks / (size - 1000)` divides by zero, with blocks = 4, size = 1000\n",
            ),
            ("\"size\", \"f32:2\"", "\"sise\", \"f32:2\"", "saxpy.toml:5:9: unknown name `sise`; did you mean `size`?"),
            ("&both[size]", "&botch", "saxpy.toml:5:35: unknown buffer `botch`; did you mean `both`? known: both\n"),
            (
                "&both[size]",
                "&both[3 * size]",
                "saxpy.toml:5: argument 4: `&both[3 * size]` is element 3000, but `both` has 2000, with size = 1000",
            ),
            ("[settings.threads]", "[settings.size]", "saxpy.toml:6:11: `size` is a reserved name; use another\n"),
            (
                "[settings.threads]",
                "[settings.\"2x\"]",
                "saxpy.toml:6:11: `2x`: a name has letters, digits and _, and begins with a letter\n",
            ),
            ("values = [128, 256]", "values = []", "saxpy.toml:8:10: the list is empty; name at least one\n"),
            ("values = [128, 256]", "values = [1]\nfrom = 1", "saxpy.toml:9:8: a range conflicts with values; leave one out\n"),
            ("default = 256", "default = 64", "saxpy.toml:7:11: the default, 64, must be 128 or 256\n"),
            ("default = 1000", "default = \"size\"", "saxpy.toml:11:11: unknown name `size`; known: threads\n"),
            ("default = 1000", "default = 1", "saxpy.toml:11:11: the default, 1, must be from 2 to 2048\n"),
            (
                "from = 2",
                "power_of_two = true\nmultiple_of = 2",
                "saxpy.toml:13:15: multiple_of conflicts with power_of_two; leave one out\n",
            ),
            ("blocks = ", "threads = ", "saxpy.toml:15:1: `threads` is a reserved name; use another\n"),
            (
                "(size + threads - 1) / threads",
                "(size + ",
                "saxpy.toml:15:10: `(size + `: expected a number, a name or `(`, found its end\n",
            ),
            ("\"f32\"", "\"b32\"", "saxpy.toml:17:17: unknown type `b32`; known: f16, f32, f64, "),
            ("\"2 * size\"", "\"1000 - 2 * size\"", "saxpy.toml:17:32: `1000 - 2 * size` elements are -1000, below 0, with size = 1000\n"),
            ("\"2 * size\"", "\"size * size * size * size\"", "saxpy.toml:17:1: buffer `both`: a buffer has at most 4294967296 bytes\n"),
            ("count = \"2 * size\", ", "", "saxpy.toml:17:1: buffer `both`: missing number of elements; set `count`\n"),
            ("\"iota\"", "[]", "saxpy.toml:17:51: the list is empty; name at least one\n"),
            ("\"iota\"", "\"graph:rows\"", "saxpy.toml:17:51: no graph: add a table [graph]\n"),
            ("\"iota\"", "\"picture:pixels\"", "saxpy.toml:17:51: no picture: add a table [picture]\n"),
            ("\"iota\"", "\"reference:all\"", "saxpy.toml:17:51: no reference that fills buffers\n"),
            ("grid", "entry = { size = { 1 = \"saxpy\" } }\ngrid", "saxpy.toml:3:9: no numeric setting `size`; expected one setting"),
            ("grid", "entry = { threads = { 128 = \"saxpy\" } }\ngrid", "saxpy.toml:3:9: no entry for threads = 256\n"),
            ("grid", "name = \"my kernel\"\ngrid", "saxpy.toml:3:8: a kernel's name has letters, digits, "),
            ("grid", "type = \"fast\"\ngrid", "saxpy.toml:3:8: unknown variant `fast`, expected `compute` or `memory`"),
            ("grid", "shared = -4\ngrid", "saxpy.toml:3:10: dynamic shared memory in bytes: expected 0 to 4294967295, found -4\n"),
            ("[let]", "[graph]\ndefault = \"rmta\"\n[let]", "unknown variant `rmta`, expected `uniform` or `rmat`"),
            ("[let]", "[picture]\nmultiple_of = 0\n[let]", "saxpy.toml:15:15: expected 1 to 1024\n"),
            ("[let]", "[graph]\n[picture]\n[let]", "a kernel takes a graph or a picture, not both\n"),
        ],
    );
}

/// The kernel type sorts groups in evaluations; it is `None` if the file omits it.
#[test]
fn a_file_says_what_bounds_the_kernel() {
    let kernel_type = |toml: &str| parse("k.toml", toml, Origin::Path(Path::new("k.toml"))).unwrap().kernel_type();
    assert_eq!(kernel_type(TOML), None);
    for (word, expected) in [("compute", KernelType::Compute), ("memory", KernelType::Memory)] {
        assert_eq!(kernel_type(&TOML.replacen("grid", &format!("type = \"{word}\"\ngrid"), 1)), Some(expected));
    }
}

/// Running off the end of a buffer names kernel, TB, thread, line and address.
#[test]
fn an_overrun_is_located() {
    let message = prepared(&TOML.replace("buf:f32:1000:ones", "buf:f32:999:ones"), "").unwrap().execute().unwrap_err().to_string();
    assert!(message.contains("kernel `saxpy`, TB [3, 0, 0], thread [231, 0, 0]: out of bounds"), "{message}");
}

#[test]
fn words_that_name_no_kernel_get_a_hint() {
    let message = |word: &str| Spec::parse(word).unwrap_err().to_string();
    assert!(message("./saxpy.ptx").contains("name a user kernel by its TOML file, or run it with --ptx"));
    assert!(message("no/such.toml").starts_with("cannot read the kernel file no/such.toml: "));
    assert!(message("no/such.toml:64").starts_with("cannot read the kernel file no/such.toml: "));
    assert!(message("mn").contains("did you mean `mm`?"));
}

#[test]
fn built_in_kernels_are_described() {
    for files in mias_kernels::ALL {
        let kernel = built_in(files).unwrap();
        assert_eq!((kernel.name(), kernel.suite(), kernel.built_in_name()), (files.name, Some(files.suite), Some(files.name)));
        assert!(kernel.reference.is_some() && kernel.kernel_type().is_some() && !kernel.description().is_empty(), "{}", files.name);
        assert!(
            !kernel.size_unit().is_empty() && kernel.settings().iter().all(|setting| !setting.description.is_empty()),
            "{}",
            files.name
        );
    }
}

/// The least and the greatest size are possible, those beyond are refused.
#[test]
fn sizes_end_where_the_files_say() {
    let ends = [
        ("mm", 16, 32_768),
        ("fwt", 1024, 1 << 28),
        ("nbdy", 256, 1 << 26),
        ("blk", 256, 1 << 28),
        ("bopt", 1, 1 << 10),
        ("bfs", 1, 1 << 27),
        ("dxtc", 1, 4096),
        ("cp", 1, 256),
        ("hs", 1, 16_384),
        ("dc", 1, 4096),
        ("pf", 1, 1 << 20),
        ("bp", 16, (1 << 20) - 16),
        ("bs", 1, 1 << 27),
        ("st", 3, 1024),
        ("3m", 1, 1 << 14),
        ("sv", 192, 262_080),
        ("cd", 1728, 7_077_888),
        ("s2", 2, 1 << 16),
        ("ks", 1, 1 << 24),
        ("ax", 1, 1 << 20),
        ("sc", 4, 1 << 20),
        ("dwt", 64, 1 << 14),
        ("dwtc", 256, 1 << 28),
        ("km", 1, 1 << 24),
        ("stc", 3, 1024),
        ("sr1", 16, 1 << 14),
        ("sr2", 16, 1 << 14),
        ("btr", 1, 1 << 20),
        ("bt", 1, 1 << 20),
        ("nw1", 16, 1 << 14),
        ("nw2", 32, 1 << 14),
        ("bfs1", 1, 1 << 27),
        ("bfs2", 1, 1 << 27),
        ("bpl", 16, (1 << 20) - 16),
        ("bpa", 16, (1 << 20) - 16),
        ("hw", 1, 4096),
        ("preempt", 1, 1 << 28),
        ("tpacf", 1, 1000),
        ("leu", 45, 1 << 14),
        ("coulomb", 8, 1 << 16),
        ("merge", 1024, 1 << 24),
        ("lavamd", 1, 64),
        ("gaussian", 1, 4096),
        ("lbm", 2, 400),
        ("gesummv", 1, 1 << 18),
        ("pvc", 1, 1 << 25),
        ("conv", 3, 1 << 14),
        ("fdtd1", 1, 1 << 14),
        ("fdtd2", 1, 1 << 14),
        ("gemm", 1, 1 << 14),
        ("hg", 1, 1 << 24),
        ("mm2", 1, 1 << 14),
        ("mms", 32, 1 << 14),
        ("sad1", 16, 4096),
    ];
    assert_eq!(ends.map(|(name, ..)| name).to_vec(), names().collect::<Vec<_>>());
    for (name, least, most) in ends {
        let kernel = crate::kernels::find(name).unwrap();
        let settings = kernel.settings_of(&Input::default()).unwrap();
        let size = |size| kernel.size_of(&Input::sized(size, 1), &settings);
        for possible in [least, most] {
            assert_eq!(size(possible), Ok(Some(possible as i64)), "{name}");
        }
        for beyond in [least - 1, most + 1, 2 * most] {
            let Err(KernelError::Size { size, message, .. }) = size(beyond) else { panic!("{name}:{beyond}") };
            assert!(size == beyond && message.starts_with("must be ") && message.contains(&most.to_string()), "{name}: {message}");
        }
    }
}

proptest! {
    /// The files of the built-in kernels with a piece cut out, doubled or overwritten are read, or
    /// refused with a line.
    #[test]
    fn damaged_files_are_refused_with_a_line(
        which in 0..mias_kernels::ALL.len(),
        at in 0usize..3000,
        length in 1usize..60,
        how in 0u8..3,
        with in "[a-z0-9.,;{}&:=\"\\[\\]+*/() \n]{0,8}",
    ) {
        let files = &mias_kernels::ALL[which];
        let text = files.description;
        let (at, end) = (at % text.len(), (at % text.len() + length).min(text.len()));
        let (before, piece, after) = (&text[..at], &text[at..end], &text[end..]);
        let text = match how {
            0 => format!("{before}{after}"),
            1 => format!("{before}{piece}{piece}{after}"),
            _ => format!("{before}{with}{after}"),
        };
        if let Err(error) = parse("d.toml", &text, Origin::BuiltIn(files)) {
            let message = error.to_string();
            let line = message.strip_prefix("d.toml:").and_then(|rest| rest.split_once(':')).and_then(|(line, _)| line.parse().ok());
            prop_assert!(line.is_some_and(|line: usize| line <= text.lines().count() + 1), "{}", message);
        }
    }
}
