//! Machine files: the ones of `mias-gpus`, which are built in, and the user's own.

pub mod borrowed;
mod by_kernel;
pub mod fields;
pub mod plausible;
pub mod schema;

pub use by_kernel::numbers_by_kernel;

use mias_hw_model::config::GpuConfig;
use mias_workloads::input::toml_text::{parse_error, point_at};
use mias_workloads::input::{file, suggest};
use std::ops::Range;
use std::path::Path;

/// Why a machine cannot be used. Each message names file, line and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuFileError {
    /// Neither a machine that is built in nor a file.
    #[error("{0}, or the path of a TOML file")]
    Unknown(String),
    /// The file cannot be read.
    #[error("cannot read the GPU file {path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        error: String,
    },
    /// The file is not TOML, or lacks a key, or has one too many, or a value of the wrong kind or range.
    #[error("{0}")]
    Invalid(String),
}

/// Names of the machines built in.
pub fn names() -> Vec<&'static str> {
    mias_gpus::ALL.iter().map(|(name, _)| *name).collect()
}

/// The machines built in, in the order of lists.
pub fn built_in() -> Vec<GpuConfig> {
    mias_gpus::ALL.iter().filter_map(|(name, _)| load(name).ok()).collect()
}

/// The machine `name_or_path`: one that is built in, else the TOML file at that path.
///
/// # Errors
/// [`GpuFileError`]; the suggestion is the nearest built-in name.
pub fn load(name_or_path: &str) -> Result<GpuConfig, GpuFileError> {
    if let Some(text) = mias_gpus::text(name_or_path) {
        return parse(&format!("{name_or_path}.toml"), text);
    }
    let path = Path::new(name_or_path);
    let looks_like_a_path = path.components().count() > 1 || path.extension().is_some_and(|extension| extension == "toml");
    if !looks_like_a_path && !path.is_file() {
        return Err(GpuFileError::Unknown(suggest::unknown("GPU", name_or_path, &names())));
    }
    let text = file::text(path).map_err(|error| GpuFileError::Io { path: name_or_path.to_owned(), error })?;
    parse(name_or_path, &text)
}

/// Parses and checks the machine in `text`; `file` is its name in messages.
///
/// # Errors
/// [`GpuFileError::Invalid`] with file, line, column and the offending text.
pub fn parse(file: &str, text: &str) -> Result<GpuConfig, GpuFileError> {
    let gpu: GpuConfig = toml::from_str(text).map_err(|error| GpuFileError::Invalid(parse_error(file, text, &error)))?;
    if let Some(key) = listed(text, &gpu) {
        let message = format!("`{key}` is a table of named values, and here it is a list");
        return Err(GpuFileError::Invalid(point_at(file, text, locate(text, &key), &message)));
    }
    gpu.check().map_err(|error| GpuFileError::Invalid(point_at(file, text, locate(text, error.key), &error.to_string())))?;
    Ok(gpu)
}

/// The first key whose value is a list where the machine has a table: a structure may be read from a list as well, by order, and nobody could say
/// which number is which.
fn listed(text: &str, gpu: &GpuConfig) -> Option<String> {
    fn compare(file: &toml::Value, machine: &toml::Value) -> Option<Vec<String>> {
        match (file, machine) {
            (toml::Value::Array(_), toml::Value::Table(_)) => Some(Vec::new()),
            (toml::Value::Table(file), toml::Value::Table(machine)) => file.iter().find_map(|(key, value)| {
                let mut path = compare(value, machine.get(key)?)?;
                path.insert(0, key.clone());
                Some(path)
            }),
            (toml::Value::Array(file), toml::Value::Array(machine)) => {
                file.iter().zip(machine).find_map(|(file, machine)| compare(file, machine))
            }
            _ => None,
        }
    }
    let file = toml::Value::Table(text.parse().ok()?);
    compare(&file, &toml::Value::try_from(gpu).ok()?).map(|path| path.join("."))
}

/// Where the dotted `key` is set, as `key = value` under its table's header.
fn locate(text: &str, key: &str) -> Option<Range<usize>> {
    let mut table = String::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        if let Some(name) = code.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            table = format!("{name}.");
        } else if let Some((name, _)) = code.split_once('=') {
            let full = format!("{table}{}", name.trim());
            if key == full || key.starts_with(&format!("{full}.")) {
                let indent = line.len() - line.trim_start().len();
                let width = code.split('#').next().unwrap_or(code).trim_end().len();
                return Some(begin + indent..begin + indent + width);
            }
        }
        begin += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse("my.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_list_is_no_table() {
        let text = mias_gpus::text("rtx2060").unwrap();
        let changed = text.replacen("sp = { latency = ", "sp = [1, 1] # ", 1);
        assert_ne!(text, changed);
        let said = refused(&changed);
        assert!(said.contains("`sm.units.sp` is a table of named values, and here it is a list") && said.contains("my.toml"), "{said}");
    }

    #[test]
    fn every_machine_that_is_built_in_can_be_used() {
        for name in names() {
            assert_eq!(load(name).unwrap().name, name);
        }
    }

    #[test]
    fn an_unknown_name_suggests_the_nearest() {
        let message = load("rtx2600").unwrap_err().to_string();
        assert!(message.starts_with("unknown GPU `rtx2600`; did you mean `rtx2060`?"), "{message}");
        assert!(load("no/such.toml").unwrap_err().to_string().starts_with("cannot read the GPU file no/such.toml: "));
    }

    #[test]
    fn malformed_files_are_shown_where_they_break() {
        let text = mias_gpus::text("rtx2060").unwrap();
        let line = |needle: &str| text[..text.find(needle).unwrap()].matches('\n').count() + 1;

        let message = refused(&text.replace("count = 30", "count = 30 30"));
        assert!(message.starts_with(&format!("my.toml:{}:", line("count = 30"))), "{message}");
        assert!(message.contains("| count = 30 30\n"), "{message}");

        let message = refused(&text.replace("count = 30", "count = -3"));
        assert!(message.contains("`-3`") && message.contains("| count = -3\n"), "{message}");

        let message = refused(&text.replace("count = 30", "count = 30\ncuont = 1"));
        assert!(message.contains("unknown field `cuont`") && message.contains("| ^^^^^"), "{message}");

        let message = refused(&text.replace("count = 30\n", ""));
        assert!(message.contains("missing field `count`"), "{message}");
    }

    #[test]
    fn what_an_sm_may_have_is_read_and_shown_and_else_left_out() {
        let text = mias_gpus::text("rtx2060").unwrap();
        let plain = parse("my.toml", text).unwrap();
        assert_eq!((plain.sm.constant_cache, plain.sm.texel_latency), (None, 0));
        let shown = toml::to_string(&plain).unwrap();
        assert!(!shown.contains("constant_cache") && !shown.contains("texel_latency"));

        let options = "texel_latency = 90\n\n[sm.constant_cache]\nlatency = 20\nword_cycles = 2\n\n[sm.units]";
        let with = text.replace("[sm.units]", options);
        let machine = parse("my.toml", &with).unwrap();
        let cache = machine.sm.constant_cache.unwrap();
        assert_eq!((cache.latency, cache.word_cycles, machine.sm.texel_latency), (20, 2, 90));
        assert_eq!(parse("shown.toml", &toml::to_string(&machine).unwrap()), Ok(machine));

        let message = refused(&with.replace("word_cycles = 2", "word_cycles = 0"));
        assert!(message.contains("sm.constant_cache.word_cycles = 0: must be 1 to 512 cycles"), "{message}");
        assert!(message.contains("| word_cycles = 0\n"), "{message}");
        let message = refused(&with.replace("word_cycles = 2\n", ""));
        assert!(message.contains("missing field `word_cycles`"), "{message}");
        let message = refused(&with.replace("texel_latency = 90", "texel_latency = 9000"));
        assert!(
            message.contains("sm.texel_latency = 9000: must be at most 512 cycles") && message.contains("| texel_latency"),
            "{message}"
        );
    }

    #[test]
    fn impossible_values_are_shown_where_they_are() {
        let text = mias_gpus::text("rtx2060").unwrap();
        let message = refused(&text.replace("count = 30", "count = 0"));
        let line = text[..text.find("count = 30").unwrap()].matches('\n').count() + 1;
        let expected = format!("my.toml:{line}:1: sm.count = 0: must be at least 1\n   |\n{line} | count = 0\n   | ^^^^^^^^^");
        assert_eq!(message, expected.replace("\n   |", &format!("\n{} |", " ".repeat(line.to_string().len()))));
        let message = refused(&text.replace("t_rtp = 4", "t_rtp = 4\nt_refi = 500\nt_rfc = 100"));
        assert!(message.contains("| t_refi = 500\n") && message.contains("twice the sum"), "{message}");
        let message = refused(&text.replace("t_rtp = 4", "t_rtp = 4\nt_rfc = 100"));
        assert!(message.contains("must both be given"), "{message}");
        let message = refused(&text.replace("int = { latency = 2,", "int = { latency = 0,"));
        assert!(message.contains("| int = { latency = 0,"), "{message}");
        let message = refused(&text.replace("clock_khz = 400_000", "clock_khz = 400"));
        assert!(message.contains("microcontroller.clock_khz = 400: must be 1000 to 10000000, which is 1 MHz to 10 GHz"), "{message}");
        assert!(message.contains("| clock_khz = 400"), "{message}");
        let message = refused(&text.replace("cortex-m4f", "cortex-m7"));
        assert!(message.contains("unknown variant `cortex-m7`, expected one of `cortex-m4f`, `cortex-m0`, `rv32imac`"), "{message}");
    }
}
