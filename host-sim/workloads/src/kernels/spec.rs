//! Which kernel on which input: the words `mm`, `mm:256`, `bfs:graph=road.gr,seed=3`, `saxpy.toml:65536`.
//!
//! Grammar: `KERNEL[:SETTING[,SETTING]...]`, a kernel being a name or the path of a TOML file, and a setting `KEY=VALUE`, or a number
//! alone for `size`. Every kernel takes `seed` and `registers` besides its own.

use super::input::Input;
use super::place::DescriptionError;
use super::{Kernel, code, file, find};
use crate::input::suggest;
use std::path::Path;
use std::sync::Arc;

/// The setting that stands in for a kernel's number of registers.
pub(super) const REGISTERS: &str = "registers";

/// What a kernel's file is called at its end.
const FILE: &str = ".toml";

/// A kernel and its input.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Its input.
    pub input: Input,
}

/// What is wrong with a word that should name a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(pub String);

impl From<DescriptionError> for SpecError {
    fn from(error: DescriptionError) -> Self {
        SpecError(error.to_string())
    }
}

impl Spec {
    /// A kernel of `size`, its data random by `seed`.
    pub fn sized(kernel: Arc<Kernel>, size: u64, seed: u64) -> Self {
        Spec { kernel, input: Input::sized(size, seed) }
    }

    /// A kernel on its default input.
    pub fn of(kernel: Arc<Kernel>) -> Self {
        Spec { kernel, input: Input::default() }
    }

    /// Reads a word.
    ///
    /// # Errors
    /// [`SpecError`] for an unknown kernel or setting, one given twice, a malformed number, or what is wrong with a kernel's file.
    /// Whether the kernel can do with the values is for [`Spec::prepare`] to say.
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
            None if is_path => {
                SpecError(format!("unknown kernel `{word}`; a kernel of your own is named by its TOML file, or run with --ptx"))
            }
            None => error,
        })?;
        Ok(Spec { input: input(&kernel, word, settings)?, kernel })
    }

    /// The same, with PTX that nvcc makes now for an architecture such as `sm_75`, if the kernel's file names CUDA source for it.
    ///
    /// # Errors
    /// [`DescriptionError`]: what nvcc says, or that there is none.
    pub fn with_nvcc(self, architecture: &str) -> Result<Self, DescriptionError> {
        Ok(Spec { kernel: Arc::new((*self.kernel).clone().with_nvcc(architecture)?), ..self })
    }

    /// Path and settings of a word that names a kernel's file.
    pub fn file(word: &str) -> Option<(&str, Option<&str>)> {
        if word.ends_with(FILE) {
            return Some((word, None));
        }
        let end = word.rfind(".toml:")? + FILE.len();
        Some((&word[..end], Some(&word[end + 1..])))
    }

    /// What the kernel is called in reports, for the word that asked for it: the word itself, but for the path and end of a file.
    pub fn name(&self, word: &str) -> String {
        match Self::file(word) {
            _ if self.kernel.built_in_name().is_some() => word.to_owned(),
            Some((_, Some(settings))) => format!("{}:{settings}", self.kernel.name()),
            _ => self.kernel.name().to_owned(),
        }
    }

    /// The problem size; none where an input file or the launch decides, or if it is impossible.
    pub fn size(&self) -> Option<u64> {
        if self.input.size.is_none() && self.kernel.takes.reads_a_file(&self.input) {
            return None;
        }
        let settings = self.kernel.settings_of(&self.input).ok()?;
        u64::try_from(self.kernel.size_of(&self.input, &settings).ok()??).ok()
    }
}

/// Reads the settings of a word.
fn input(kernel: &Kernel, word: &str, settings: Option<&str>) -> Result<Input, SpecError> {
    let fail = |message: String| SpecError(format!("kernel `{word}`: {message}"));
    let mut input = Input::default();
    let mut given: Vec<&str> = Vec::new();
    for setting in settings.into_iter().flat_map(|settings| settings.split(',')) {
        let (key, value) = setting.split_once('=').unwrap_or(("size", setting));
        if given.contains(&key) {
            return Err(fail(format!("{key} is given twice")));
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
            "size" => return Err(fail("it has one size; a table [size] in its file would allow others".into())),
            "seed" => input.seed = number()?,
            // A kernel of the user may have a setting of this name.
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
            ("mm:256,size=3", "kernel `mm:256,size=3`: size is given twice"),
            ("mm:sede=3", "kernel `mm:sede=3`: unknown setting `sede`; did you mean `seed`? known: size, seed, inner, registers"),
        ] {
            assert_eq!(Spec::parse(word).unwrap_err().to_string(), message);
        }
    }

    /// A thread has at least one register and at most 255; a kernel of the user that has such a setting keeps it.
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
