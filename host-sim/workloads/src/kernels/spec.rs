//! Words that select a kernel and its input: `mm`, `mm:256`, `bfs:graph=road.gr,seed=3`,
//! `saxpy.toml:65536`.
//!
//! Grammar: `KERNEL[:SETTING[,SETTING]...]`. A kernel is a name or the path of a TOML file. A
//! setting is `KEY=VALUE`, or a number alone for `size`. Every kernel has the settings `seed` and
//! `registers` in addition to its own.

use super::input::Input;
use super::place::DescriptionError;
use super::{Kernel, code, file, find};
use crate::input::suggest;
use std::path::Path;
use std::sync::Arc;

/// Setting that overrides a kernel's number of registers.
pub(super) const REGISTERS: &str = "registers";

/// Extension of kernel files.
const FILE: &str = ".toml";

/// A kernel and its input.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Kernel to launch.
    pub kernel: Arc<Kernel>,
    /// Input of the kernel.
    pub input: Input,
}

/// Error in a word that should name a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(pub String);

impl From<DescriptionError> for SpecError {
    fn from(error: DescriptionError) -> Self {
        SpecError(error.to_string())
    }
}

impl Spec {
    /// Creates a spec with a size, and random data from `seed`.
    pub fn sized(kernel: Arc<Kernel>, size: u64, seed: u64) -> Self {
        Spec { kernel, input: Input::sized(size, seed) }
    }

    /// Creates a spec with the kernel's default input.
    pub fn of(kernel: Arc<Kernel>) -> Self {
        Spec { kernel, input: Input::default() }
    }

    /// Parses a word.
    ///
    /// # Errors
    /// [`SpecError`] for an unknown kernel or setting, a repeated setting, a malformed number, or
    /// an error in a kernel file. [`Spec::prepare`] checks whether the kernel supports the values.
    pub fn parse(word: &str) -> Result<Self, SpecError> {
        if let Some((path, settings)) = Self::file(word) {
            let kernel = Arc::new(file::read(Path::new(path))?);
            return Ok(Spec { input: input(&kernel, word, settings)?, kernel });
        }
        let (name, settings) = match word.split_once(':') {
            Some((name, settings)) => (name, Some(settings)),
            None => (word, None),
        };
        let is_path = name.contains(['/', '\\']) || name.ends_with(".ptx");
        let kernel = find(name).map_err(|error| match code::advice(Path::new(word)) {
            Some(advice) => SpecError(advice),
            None if is_path => SpecError(format!("unknown kernel `{word}`; name a user kernel by its TOML file, or run it with --ptx")),
            None => error,
        })?;
        Ok(Spec { input: input(&kernel, word, settings)?, kernel })
    }

    /// Replaces the PTX by the output of nvcc for an architecture such as `sm_75`, if the kernel's
    /// file names CUDA source.
    ///
    /// # Errors
    /// [`DescriptionError`] with nvcc's message, or if nvcc is missing.
    pub fn with_nvcc(self, architecture: &str) -> Result<Self, DescriptionError> {
        Ok(Spec { kernel: Arc::new((*self.kernel).clone().with_nvcc(architecture)?), ..self })
    }

    /// Returns the path and settings in a word that names a kernel file.
    pub fn file(word: &str) -> Option<(&str, Option<&str>)> {
        if word.ends_with(FILE) {
            return Some((word, None));
        }
        let end = word.rfind(".toml:")? + FILE.len();
        Some((&word[..end], Some(&word[end + 1..])))
    }

    /// Returns the name of the kernel in reports, for the word that requested it: the word without
    /// the path and extension of a file.
    pub fn name(&self, word: &str) -> String {
        match Self::file(word) {
            _ if self.kernel.built_in_name().is_some() => word.to_owned(),
            Some((_, Some(settings))) => format!("{}:{settings}", self.kernel.name()),
            _ => self.kernel.name().to_owned(),
        }
    }

    /// Returns the problem size; `None` if an input file or the launch determines it, or if it is
    /// impossible.
    pub fn size(&self) -> Option<u64> {
        if self.input.size.is_none() && self.kernel.takes.reads_a_file(&self.input) {
            return None;
        }
        let settings = self.kernel.settings_of(&self.input).ok()?;
        u64::try_from(self.kernel.size_of(&self.input, &settings).ok()??).ok()
    }
}

/// Parses the settings of a word.
fn input(kernel: &Kernel, word: &str, settings: Option<&str>) -> Result<Input, SpecError> {
    let fail = |message: String| SpecError(format!("kernel `{word}`: {message}"));
    let mut input = Input::default();
    let mut given: Vec<&str> = Vec::new();
    for setting in settings.into_iter().flat_map(|settings| settings.split(',')) {
        let (key, value) = setting.split_once('=').unwrap_or(("size", setting));
        if given.contains(&key) {
            return Err(fail(format!("duplicate {key}")));
        }
        given.push(key);
        let number = || {
            value.replace('_', "").parse::<u64>().map_err(|_| {
                let example = kernel.example_size().map_or_else(String::new, |size| format!(", as in {}:{size}", kernel.name()));
                fail(format!("{key} `{value}`: expected a whole number{example}"))
            })
        };
        match key {
            "size" if kernel.size.is_some() => input.size = Some(number()?),
            "size" => return Err(fail("it has one size; add a table [size] to its file for others".into())),
            "seed" => input.seed = number()?,
            // A user's kernel may have its own setting of this name.
            REGISTERS if !kernel.settings().iter().any(|setting| setting.key == key) => input.registers = Some(number()?),
            _ => match kernel.settings().iter().find(|setting| setting.key == key) {
                Some(setting) if !value.is_empty() => input = input.with(&setting.key, value),
                Some(setting) => return Err(fail(format!("{key} has no value; it is {}", setting.description))),
                None => {
                    let own = kernel.settings().iter().map(|setting| setting.key.as_str());
                    let known: Vec<&str> = kernel.size.iter().map(|_| "size").chain(["seed"]).chain(own).chain([REGISTERS]).collect();
                    return Err(fail(suggest::unknown("setting", key, &known)));
                }
            },
        }
    }
    Ok(input)
}

#[cfg(test)]
mod tests {
    use super::super::input::DEFAULT_SEED;
    use super::*;

    #[test]
    fn words_name_kernel_size_and_seed() {
        let parsed = |word: &str| Spec::parse(word).map(|spec| (spec.kernel.name().to_owned(), spec.input.size, spec.input.seed));
        assert_eq!(parsed("mm"), Ok(("mm".into(), None, DEFAULT_SEED)));
        assert_eq!(parsed("mm:256"), Ok(("mm".into(), Some(256), DEFAULT_SEED)));
        assert_eq!(parsed("fwt:seed=7,size=1_048_576"), Ok(("fwt".into(), Some(1 << 20), 7)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let known = super::super::names().collect::<Vec<_>>().join(", ");
        for (word, message) in [
            ("mn", &*format!("unknown kernel `mn`; did you mean `mm`? known: {known}")),
            ("mm:", "kernel `mm:`: size ``: expected a whole number, as in mm:640"),
            ("mm:1k", "kernel `mm:1k`: size `1k`: expected a whole number, as in mm:640"),
            ("mm:256,size=3", "kernel `mm:256,size=3`: duplicate size"),
            ("mm:sede=3", "kernel `mm:sede=3`: unknown setting `sede`; did you mean `seed`? known: size, seed, inner, registers"),
        ] {
            assert_eq!(Spec::parse(word).unwrap_err().to_string(), message);
        }
    }

    /// A thread has 1 to 255 registers. A user's kernel with its own setting of this name keeps it.
    #[test]
    fn registers_stand_in_for_those_of_the_file() {
        let registers = |word: &str| Spec::parse(word).unwrap().compile().map(|(_, info)| info.registers_per_thread);
        assert_eq!(registers("mm:16"), Ok(39));
        assert_eq!(registers("bpl:16"), Ok(12));
        for count in [1, 20, 255] {
            assert_eq!(registers(&format!("mm:16,registers={count}")), Ok(count));
            assert_eq!(registers(&format!("bpl:16,registers={count}")), Ok(count));
        }
        for count in ["0", "256", "4294967297"] {
            let message = registers(&format!("mm:16,registers={count}")).unwrap_err().to_string();
            assert_eq!(message, format!("kernel `mm`: registers `{count}`: a thread has 1 to 255 registers"));
        }
        assert!(Spec::parse("mm:registers=x").is_err());
    }

    #[test]
    fn files_are_told_from_names() {
        assert_eq!(Spec::file("a/b.toml"), Some(("a/b.toml", None)));
        assert_eq!(Spec::file("a/b.toml:64,seed=2"), Some(("a/b.toml", Some("64,seed=2"))));
        assert_eq!(Spec::file("mm:64"), None);
        assert_eq!(Spec::file("bfs:graph=road.gr"), None);
    }

    #[test]
    fn sizes_are_what_runs() {
        let size = |word: &str| Spec::parse(word).unwrap().size();
        assert_eq!((size("mm"), size("mm:64"), size("mm:17")), (Some(640), Some(64), None));
        assert_eq!(
            (size("nbdy"), size("nbdy:systems=7"), size("nbdy:systems=256")),
            (Some(30_720), Some(17 * 7 * 256), Some(65_536)),
            "whole systems"
        );
        assert_eq!((size("bfs:graph=rmat"), size("bfs:graph=road.gr")), (Some(1 << 20), None));
    }
}
