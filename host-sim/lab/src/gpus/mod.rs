//! GPU files: the built-in ones of `mias-gpus`, and the user's own, with inheritance.

pub mod borrowed;
mod by_kernel;
pub mod fields;
pub mod plausible;
pub mod schema;

pub use by_kernel::numbers_by_kernel;

use mias_gpus::inherit::{self, File, Inherited};
use mias_hw_model::config::GpuConfig;
use mias_workloads::input::toml_text::{parse_error, point_at};
use mias_workloads::input::{file, suggest};
use std::ops::Range;
use std::path::Path;

/// Maximum depth of inheritance between GPU files.
const MOST_BASES: usize = 8;

/// Reasons why a GPU cannot be used. Each message names file, line and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuFileError {
    /// The name is neither a built-in GPU nor a file.
    #[error("{0}, or the path of a TOML file")]
    Unknown(String),
    /// The file cannot be read.
    #[error("cannot read the GPU file {path}: {error}; give a TOML file, or a built-in GPU of `mias gpu list`")]
    Io {
        /// Path of the file.
        path: String,
        /// Error of the system.
        error: String,
    },
    /// The file is not TOML, lacks a key, or has an unknown key or an invalid value.
    #[error("{0}")]
    Invalid(String),
}

/// Returns the names of the built-in GPUs.
pub fn names() -> Vec<&'static str> {
    mias_gpus::FILES.iter().map(|(name, _)| *name).collect()
}

/// Returns the built-in GPUs, in the order of lists.
pub fn built_in() -> Vec<GpuConfig> {
    mias_gpus::FILES.iter().filter_map(|(name, _)| load(name).ok()).collect()
}

/// Loads the GPU `name_or_path`: a built-in one, else the TOML file at that path.
///
/// # Errors
/// [`GpuFileError`]; the suggestion is the nearest built-in name.
pub fn load(name_or_path: &str) -> Result<GpuConfig, GpuFileError> {
    read(&with_bases(found(name_or_path)?)?)
}

/// Returns the file of the GPU `name_or_path` with inherited values, each with the comments of its
/// origin; checked as [`load`] does.
///
/// # Errors
/// As [`load`].
pub fn resolved(name_or_path: &str) -> Result<String, GpuFileError> {
    let files = with_bases(found(name_or_path)?)?;
    read(&files)?;
    Ok(joined(&files)?.text())
}

/// Parses and checks the GPU in `text`; `file` is its name in messages, and its base is searched
/// relative to it.
///
/// # Errors
/// [`GpuFileError::Invalid`] with file, line, column and the offending text.
pub fn parse(file: &str, text: &str) -> Result<GpuConfig, GpuFileError> {
    read(&with_bases(File { name: file.to_owned(), text: text.to_owned() })?)
}

/// Reads the file of a GPU, without its bases.
fn found(name_or_path: &str) -> Result<File, GpuFileError> {
    if let Some(text) = mias_gpus::file(name_or_path) {
        return Ok(File { name: format!("{name_or_path}.toml"), text: text.to_owned() });
    }
    let path = Path::new(name_or_path);
    let looks_like_a_path = path.components().count() > 1 || path.extension().is_some_and(|extension| extension == "toml");
    if !looks_like_a_path && !path.is_file() {
        return Err(GpuFileError::Unknown(suggest::unknown("GPU", name_or_path, &names())));
    }
    let text = file::text(path).map_err(|error| GpuFileError::Io { path: name_or_path.to_owned(), error })?;
    Ok(File { name: name_or_path.to_owned(), text })
}

/// Returns a GPU's file, then its base, the base's base, and so on. A base is built in, or a file
/// relative to the one that names it.
fn with_bases(gpu: File) -> Result<Vec<File>, GpuFileError> {
    let mut files = vec![gpu];
    while let Some(last) = files.last()
        && let Some((base, span)) = inherit::base(&last.text)
    {
        let fail = |message: &str| GpuFileError::Invalid(point_at(&last.name, &last.text, Some(span.clone()), message));
        let base = base.ok_or_else(|| fail("base: expected the name of a GPU or the path of a file, in quotes"))?;
        let word = if mias_gpus::file(&base).is_some() { base } else { beside(&last.name, &base) };
        let next = found(&word).map_err(|error| fail(&format!("base: {error}")))?;
        if files.contains(&next) {
            return Err(fail(&format!("base: {} inherits from itself", next.name)));
        }
        if files.len() > MOST_BASES {
            return Err(fail(&format!("base: the chain has more than {MOST_BASES} files")));
        }
        files.push(next);
    }
    Ok(files)
}

/// Returns the path of a file that another names; a word that is no path stays unchanged.
fn beside(file: &str, word: &str) -> String {
    let path = Path::new(file).parent().unwrap_or(Path::new("")).join(word);
    if word.contains(['/', '\\', '.']) || path.is_file() { path.to_string_lossy().into_owned() } else { word.to_owned() }
}

/// Merges a GPU's file and its bases.
fn joined(files: &[File]) -> Result<Inherited<'_>, GpuFileError> {
    Inherited::of(files).map_err(|(file, error)| GpuFileError::Invalid(parse_error(&file.name, &file.text, &error)))
}

/// Parses and checks a GPU's file and its bases.
fn read(files: &[File]) -> Result<GpuConfig, GpuFileError> {
    let inherited = joined(files)?;
    let fail = |span: Option<Range<usize>>, message: &str| {
        let place = span.and_then(|span| inherited.place(span)).map(|(file, span)| (file, Some(span)));
        let place = place.or_else(|| files.first().map(|file| (file, None)));
        GpuFileError::Invalid(place.map_or_else(String::new, |(file, span)| point_at(&file.name, &file.text, span, message)))
    };
    let gpu: GpuConfig = inherited.read().map_err(|error| fail(error.span(), error.message().lines().next().unwrap_or_default()))?;
    if let Some(key) = listed(&inherited, &gpu) {
        return Err(fail(inherited.find(&key), &format!("`{key}` is a list, expected a table of named values")));
    }
    gpu.check().map_err(|error| fail(inherited.find(error.key), &error.to_string()))?;
    Ok(gpu)
}

/// Returns the first key with a list where the GPU has a table. serde also reads a structure from a
/// list by order, which would be unreadable.
fn listed(inherited: &Inherited<'_>, gpu: &GpuConfig) -> Option<String> {
    fn compare(file: &toml::Value, gpu: &toml::Value) -> Option<Vec<String>> {
        match (file, gpu) {
            (toml::Value::Array(_), toml::Value::Table(_)) => Some(Vec::new()),
            (toml::Value::Table(file), toml::Value::Table(gpu)) => file.iter().find_map(|(key, value)| {
                let mut path = compare(value, gpu.get(key)?)?;
                path.insert(0, key.clone());
                Some(path)
            }),
            (toml::Value::Array(file), toml::Value::Array(gpu)) => file.iter().zip(gpu).find_map(|(file, gpu)| compare(file, gpu)),
            _ => None,
        }
    }
    compare(&inherited.read().ok()?, &toml::Value::try_from(gpu).ok()?).map(|path| path.join("."))
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
        assert!(said.contains("`sm.units.sp` is a list, expected a table of named values") && said.contains("my.toml"), "{said}");
    }

    #[test]
    fn every_gpu_that_is_built_in_can_be_used() {
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
        let gpu = parse("my.toml", &with).unwrap();
        let cache = gpu.sm.constant_cache.unwrap();
        assert_eq!((cache.latency, cache.word_cycles, gpu.sm.texel_latency), (20, 2, 90));
        assert_eq!(parse("shown.toml", &toml::to_string(&gpu).unwrap()), Ok(gpu));

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

    fn in_folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
        folder
    }

    fn refused_of(folder: &tempfile::TempDir, name: &str) -> String {
        load(folder.path().join(name).to_str().unwrap()).unwrap_err().to_string()
    }

    /// Headers, dotted keys and inline tables, in a file based on another that is based on a
    /// built-in one.
    #[test]
    fn a_file_has_its_bases_values_but_for_its_own() {
        let folder = in_folder(&[
            (
                "mine.toml",
                "# Mine.\nname = \"mine\"\ndescription = \"\"\nbase = \"big.toml\"\nsm.units.sp.latency = 3\nl1.mshrs = 64 # few\n",
            ),
            (
                "big.toml",
                "name = \"big\"\ndescription = \"\"\nbase = \"rtx2060\"\n[sm]\ncount = 60 # twice\n[l1]\nmshrs = 8\ncarve_out = []\n",
            ),
        ]);
        let mine = folder.path().join("mine.toml");
        let mine = mine.to_str().unwrap();
        let mut expected = load("rtx2060").unwrap();
        (expected.name, expected.description) = ("mine".into(), String::new());
        (expected.sm.count, expected.sm.units.sp.latency, expected.l1.mshrs) = (60, 3, 64);
        assert_eq!(load(mine), Ok(expected.clone()));
        // The merged text parses to that GPU, and has the comments of each value's origin.
        let text = resolved(mine).unwrap();
        assert_eq!(parse("all.toml", &text), Ok(expected));
        for line in [
            "# Mine.",
            "count = 60 # twice",
            "mshrs = 64 # few",
            "[sm.units.sp]",
            "latency = 3",
            "register_rounds = 2              # assumption: two",
        ] {
            assert!(text.contains(&format!("\n{line}")) || text.starts_with(line), "{line}\n{text}");
        }
        assert!(!text.contains("base"), "{text}");
    }

    #[test]
    fn mistakes_are_shown_in_the_file_that_has_them() {
        let folder = in_folder(&[
            ("mine.toml", "name = \"mine\"\ndescription = \"\"\nbase = \"big.toml\"\n"),
            ("big.toml", "name = \"big\"\ndescription = \"\"\nbase = \"rtx2060\"\n\n[sm]\ncount = 0\n"),
            ("typo.toml", "name = \"typo\"\nbase = \"rtx2600\"\n"),
            ("lost.toml", "name = \"lost\"\nbase = \"../no/such.toml\"\n"),
            ("number.toml", "name = \"number\"\nbase = 3\n"),
            ("circle.toml", "name = \"circle\"\nbase = \"round.toml\"\n"),
            ("round.toml", "name = \"round\"\nbase = \"circle.toml\"\n"),
            ("nameless.toml", "base = \"rtx2060\"\n"),
            ("broken.toml", "name = \"broken\"\nbase = \"rtx2060\"\n[sm]\ncount = 3 3\n"),
        ]);
        let message = refused_of(&folder, "mine.toml");
        assert!(message.contains("big.toml:6:1: sm.count = 0: must be at least 1") && message.contains("| count = 0\n"), "{message}");
        for (file, said) in [
            ("typo.toml", "typo.toml:2:8: base: unknown GPU `rtx2600`; did you mean `rtx2060`?"),
            ("lost.toml", "lost.toml:2:8: base: cannot read the GPU file "),
            ("number.toml", "number.toml:2:8: base: expected the name of a GPU or the path of a file"),
            ("circle.toml", "inherits from itself"),
            ("nameless.toml", "nameless.toml:1:1: missing field `name`"),
            ("broken.toml", "broken.toml:4:"),
        ] {
            let message = refused_of(&folder, file);
            assert!(message.contains(said), "{message}");
        }
        let long: Vec<(String, String)> =
            (0..=MOST_BASES + 1).map(|at| (format!("{at}.toml"), format!("name = \"{at}\"\nbase = \"{}.toml\"\n", at + 1))).collect();
        let long: Vec<(&str, &str)> = long.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert!(refused_of(&in_folder(&long), "0.toml").contains("more than 8 files"));
    }

    /// Inherited values equal written ones, parsed from the files and from the merged text.
    #[test]
    fn the_text_of_a_gpu_is_that_gpu() {
        for gpu in built_in() {
            assert_eq!(parse("all.toml", mias_gpus::text(&gpu.name).unwrap()), Ok(gpu.clone()), "{}", gpu.name);
            assert_eq!(resolved(&gpu.name).unwrap(), mias_gpus::text(&gpu.name).unwrap());
        }
    }
}
