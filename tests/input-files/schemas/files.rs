//! The three kinds of files, each with its schema, its reader and example files.

use jsonschema::Validator;
use mias_firmware::configs::ConfigTable;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::policy::{Context, Plan, Policy, Spatial};
use mias_lab::evaluate::plan;
use mias_lab::experiment::custom_policy::{Custom, CustomPolicy};
use mias_lab::experiment::policies::Policies;
use mias_lab::gpus;
use mias_workloads::input::schema::shared;
use mias_workloads::kernels::{self, Spec};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use toml::Table;

/// A plan with every key, except one of each two that exclude each other, which the other
/// experiment has.
pub(crate) const EVERY_PLAN_KEY: &str = include_str!("../data/every-key.plan.toml");

/// Optional keys of a GPU file.
pub(crate) const GPU_OPTIONS: &str = include_str!("../data/every-option.gpu.toml");

/// Two kernels that together have every key.
pub(crate) const EVERY_KERNEL_KEY: [&str; 2] =
    [include_str!("../data/every-key.kernel.toml"), include_str!("../data/every-key-of-graphs.kernel.toml")];

type Read = Box<dyn Fn(&str) -> Result<(), String>>;

/// A kind of file with its printed schema and `$defs`.
pub(crate) struct Kind {
    pub(crate) schema: Value,
    validator: Validator,
    read: Read,
    /// Check that rejects a readable but unusable file.
    used: Read,
    /// Names and contents of files.
    pub(crate) files: Vec<(String, Table)>,
}

impl Kind {
    fn new(schema: Value, read: Read, used: Read, files: impl IntoIterator<Item = (String, String)>) -> Self {
        let validator = jsonschema::validator_for(&shared(&schema)).expect("a schema");
        let files = files.into_iter().map(|(name, text)| (name, text.parse().expect("TOML"))).collect();
        Kind { schema, validator, read, used, files }
    }

    /// Returns whether the schema accepts a file.
    pub(crate) fn takes(&self, file: &Table) -> bool {
        self.validator.is_valid(&json(file))
    }

    /// Returns the schema's errors for a file.
    pub(crate) fn complaints(&self, file: &Table) -> String {
        let all = self.validator.iter_errors(&json(file)).map(|error| format!("{}: {error}\n", error.instance_path())).collect::<String>();
        all.chars().take(2_000).collect()
    }

    /// Reads a file.
    pub(crate) fn reads(&self, file: &Table) -> Result<(), String> {
        (self.read)(&toml::to_string(file).expect("TOML"))
    }

    /// Reads and uses a file.
    pub(crate) fn uses(&self, file: &Table) -> Result<(), String> {
        self.reads(file)?;
        (self.used)(&toml::to_string(file).expect("TOML"))
    }
}

/// Converts a file to the form in which editors validate it.
fn json(file: &Table) -> Value {
    serde_json::to_value(file).expect("JSON")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> (String, String) {
    (path.to_owned(), std::fs::read_to_string(root().join(path)).expect(path))
}

fn nothing_more() -> Read {
    Box::new(|_| Ok(()))
}

/// Returns a GPU file with every optional key.
pub(crate) fn every_gpu_key() -> Table {
    let mut gpu: Table = mias_gpus::text("rtx2060").expect("a GPU").parse().expect("TOML");
    merge(&mut gpu, GPU_OPTIONS.parse().expect("TOML"));
    gpu
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(into)), toml::Value::Table(from)) => merge(into, from),
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

pub(crate) fn gpu() -> Kind {
    let read = |text: &str| gpus::parse("m.toml", text).map(drop).map_err(|error| error.to_string());
    let mut files: Vec<(String, String)> = mias_gpus::all().map(|(name, text)| (name.into(), text.into())).collect();
    files.push(("inherited".into(), mias_gpus::file("rtx2060-hw").expect("a GPU").into()));
    files.push(("every key".into(), toml::to_string(&every_gpu_key()).expect("TOML")));
    // Contexts have one location, which excludes both preemption and an L1 that grows.
    let mut oversubscription: Table = mias_gpus::text("lin18-lines").expect("a GPU").parse().expect("TOML");
    let keys = "[sm.oversubscription]\nmechanism = \"duet\"\nextra = 2\nbytes_per_cycle = 64\nwarp_state_bytes = 96\nlive_permille = 440\ncompressed_permille = 900\n\
                table_warps = 96\ntable_tbs = 16\nin_l1 = \"always\"\ninterval_cycles = 5_000\ndeadlock = \"one-tb\"\nsustained_permille = 550\n";
    merge(&mut oversubscription, keys.parse().expect("TOML"));
    files.push(("oversubscription".into(), toml::to_string(&oversubscription).expect("TOML")));
    let mut controlled: Table = mias_gpus::text("lin18-lines").expect("a GPU").parse().expect("TOML");
    let keys = "[sm.oversubscription]\nmechanism = \"duet\"\ncontroller = \"firmware\"\n";
    merge(&mut controlled, keys.parse().expect("TOML"));
    files.push(("oversubscription by firmware".into(), toml::to_string(&controlled).expect("TOML")));
    // Keys for other limits in flight than those of that file.
    for (in_flight, key) in [("dynamic-global", "broadcast_cycles"), ("firmware", "interval_cycles")] {
        let mut gpu: Table = mias_gpus::text("rtx2060").expect("a GPU").parse().expect("TOML");
        let limits = format!("[sm.memory_issue]\nin_flight = \"{in_flight}\"\n{key} = 20_000\n");
        merge(&mut gpu, limits.parse().expect("TOML"));
        files.push((key.into(), toml::to_string(&gpu).expect("TOML")));
    }
    Kind::new(gpus::schema::schema(), Box::new(read), nothing_more(), files)
}

pub(crate) fn plan() -> Kind {
    let mut files: Vec<(String, String)> = mias_plans::ALL.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
    files.extend([text("examples/plans/two.toml"), text("examples/plans/urgent.toml"), text("host-sim/lab/tests/data/pairs.toml")]);
    files.push(("every key".into(), EVERY_PLAN_KEY.into()));
    plan_of(Policies::default(), files)
}

fn plan_of(policies: Policies, files: Vec<(String, String)>) -> Kind {
    let schema = plan::schema(&policies);
    let read = move |text: &str| plan::parse("p.toml", text, &policies).map(drop).map_err(|error| error.to_string());
    Kind::new(schema, Box::new(read), nothing_more(), files)
}

/// Policy of `examples/own-policy`, by name only.
#[derive(Clone, Debug)]
struct BusyShare;

impl Policy for BusyShare {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        Spatial.generate_configs(context, table)
    }
}

impl CustomPolicy for BusyShare {
    const NAME: &'static str = "busy-share";
    const HELP: &'static str = "for a test";

    fn new(_: &GpuProperties, _: &Settings) -> Self {
        BusyShare
    }
}

/// Returns plans of a program with its own policy.
pub(crate) fn own_plan() -> Kind {
    plan_of(Policies::with(&[Custom::of::<BusyShare>()]).expect("a name"), vec![text("examples/own-policy/plan.toml")])
}

/// Returns kernels, with built-in ones as a user's own: without keys that only built-in ones may
/// have.
pub(crate) fn kernel() -> Kind {
    let folder = tempfile::tempdir().expect("a folder");
    let beside = |path: &Path| {
        std::fs::copy(path, folder.path().join(path.file_name().expect("a name"))).expect("a copy");
    };
    for entry in std::fs::read_dir(root().join("examples/saxpy")).expect("a folder") {
        beside(&entry.expect("an entry").path());
    }
    beside(&root().join("host-sim/ptx/tests/data/textures.ptx"));
    beside(&root().join("tests/input-files/data/graphs.ptx"));
    let mut files = vec![text("examples/saxpy/saxpy.toml"), text("examples/saxpy/sized.toml")];
    for kernel in mias_kernels::ALL {
        beside(&root().join(kernel.ptx_file));
        beside(&root().join(kernel.report_file));
        let mut own: Table = kernel.description.parse().expect("TOML");
        own.remove("reference");
        let own = toml::to_string(&own).expect("TOML").replace("reference:", "file:");
        files.push((kernel.name.into(), own));
    }
    files.extend(EVERY_KERNEL_KEY.map(|text| ("every key".to_owned(), text.to_owned())));
    let folder = std::rc::Rc::new(folder);
    let spec = |folder: &TempDir, text: &str| {
        let path = folder.path().join("k.toml");
        std::fs::write(&path, text).expect("a file");
        Spec::parse(path.to_str().expect("UTF-8")).map_err(|error| error.to_string())
    };
    let (beside, read_in) = (folder.clone(), folder);
    let read = move |text: &str| spec(&read_in, text).map(drop);
    let used = move |text: &str| spec(&beside, text)?.prepare().map(drop).map_err(|error| error.to_string());
    Kind::new(kernels::file::schema(), Box::new(read), Box::new(used), files)
}

#[test]
fn the_schemas_are_schemas() {
    for kind in [gpu(), plan(), kernel()] {
        assert!(jsonschema::meta::is_valid(&kind.schema));
        // A key is described at its place, or at its first occurrence.
        for reference in references(&kind.schema) {
            let place = reference.strip_prefix('#').expect("a place of the same schema");
            let first = kind.schema.pointer(place).unwrap_or_else(|| panic!("nothing at {reference}"));
            assert!(first["description"].is_string(), "{reference}");
        }
    }
}

/// Returns the references of parts of a schema.
fn references(schema: &Value) -> Vec<&str> {
    let inner: Vec<&Value> = match schema {
        Value::Object(parts) => parts.values().collect(),
        Value::Array(parts) => parts.iter().collect(),
        _ => Vec::new(),
    };
    schema["$ref"].as_str().into_iter().chain(inner.into_iter().flat_map(references)).collect()
}

#[test]
fn what_is_shipped_is_read_and_taken() {
    for kind in [gpu(), plan(), own_plan(), kernel()] {
        for (name, file) in &kind.files {
            assert_eq!(kind.reads(file), Ok(()), "{name}");
            assert!(kind.takes(file), "{name}: {}", kind.complaints(file));
        }
    }
    // As shipped, with the keys that only built-in ones may have.
    let kind = kernel();
    for kernel in mias_kernels::ALL {
        let file = kernel.description.parse().expect("TOML");
        assert!(kind.takes(&file), "{}: {}", kernel.name, kind.complaints(&file));
    }
}

/// The schema of a program's plans has its policies. That of the command rejects them, as the
/// command does.
#[test]
fn a_programs_own_policies_are_in_its_schema() {
    let (stock, own) = (plan(), own_plan());
    let (_, file) = &own.files[0];
    assert!(own.takes(file) && own.reads(file).is_ok());
    assert!(!stock.takes(file) && stock.reads(file).unwrap_err().contains("unknown policy `busy-share`"));
}
