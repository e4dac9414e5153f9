//! Which kernel on which input: the words `mm`, `mm:256`, `bfs:graph=road.gr,seed=3`.
//!
//! Grammar: `NAME[:SETTING[,SETTING]...]`, a setting being `KEY=VALUE`, or a number alone for `size`.

use super::{ALL, Kernel};
use crate::input::suggest;
use std::collections::BTreeMap;

/// Seed of input data unless another is asked for (assumption: any will do; equal runs must use the same).
const DEFAULT_SEED: u64 = 1;

/// Something of a kernel's input that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Setting {
    /// Its key.
    pub key: &'static str,
    /// What it is and which values it takes, for lists and messages.
    pub description: &'static str,
}

/// A kernel's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Problem size; none: the kernel's default, or what an input file has.
    pub size: Option<u64>,
    /// Seed of random data.
    pub seed: u64,
    settings: BTreeMap<&'static str, String>,
}

impl Default for Input {
    fn default() -> Self {
        Input { size: None, seed: DEFAULT_SEED, settings: BTreeMap::new() }
    }
}

impl Input {
    /// Of `size`, random by `seed`.
    pub fn sized(size: u64, seed: u64) -> Self {
        Input { size: Some(size), seed, ..Input::default() }
    }

    /// With one of the kernel's own settings.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: &str) -> Self {
        self.settings.insert(key, value.into());
        self
    }

    /// The value of one of the kernel's own settings, if it was set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }
}

/// A kernel and its input.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The kernel.
    pub kernel: &'static dyn Kernel,
    /// Its input.
    pub input: Input,
}

/// What is wrong with a word that should name a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(pub String);

impl Spec {
    /// A kernel of `size`, its data random by `seed`.
    pub fn sized(kernel: &'static dyn Kernel, size: u64, seed: u64) -> Self {
        Spec { kernel, input: Input::sized(size, seed) }
    }

    /// A kernel on its default input.
    pub fn of(kernel: &'static dyn Kernel) -> Self {
        Spec { kernel, input: Input::default() }
    }

    /// Reads a word.
    ///
    /// # Errors
    /// [`SpecError`] for an unknown kernel or setting, one given twice, or a malformed number. Whether the kernel can do with
    /// the values is for [`Kernel::init`] to say.
    pub fn parse(word: &str) -> Result<Self, SpecError> {
        let (name, settings) = word.split_once(':').unwrap_or((word, ""));
        let Some(kernel) = super::find(name) else {
            let known: Vec<&str> = ALL.iter().map(|kernel| kernel.name()).collect();
            return Err(SpecError(suggest::unknown("kernel", name, &known)));
        };
        let fail = |message: String| SpecError(format!("kernel `{word}`: {message}"));
        let mut input = Input::default();
        let mut given: Vec<&str> = Vec::new();
        for setting in settings.split(',').filter(|_| word.contains(':')) {
            let (key, value) = setting.split_once('=').unwrap_or(("size", setting));
            if given.contains(&key) {
                return Err(fail(format!("{key} is given twice")));
            }
            given.push(key);
            let number = || {
                value.replace('_', "").parse::<u64>().map_err(|_| {
                    let example = kernel.default_size();
                    fail(format!("{key} `{value}`: expected a whole number, as in {name}:{example}"))
                })
            };
            match key {
                "size" => input.size = Some(number()?),
                "seed" => input.seed = number()?,
                _ => match kernel.settings().iter().find(|setting| setting.key == key) {
                    Some(setting) if !value.is_empty() => input = input.with(setting.key, value),
                    Some(setting) => return Err(fail(format!("{key} has no value; it is {}", setting.description))),
                    None => {
                        let own = kernel.settings().iter().map(|setting| setting.key);
                        let known: Vec<&str> = ["size", "seed"].into_iter().chain(own).collect();
                        return Err(fail(suggest::unknown("setting", key, &known)));
                    }
                },
            }
        }
        Ok(Spec { kernel, input })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_kernel_size_and_seed() {
        let parsed = |word: &str| Spec::parse(word).map(|spec| (spec.kernel.name(), spec.input.size, spec.input.seed));
        assert_eq!(parsed("mm"), Ok(("mm", None, DEFAULT_SEED)));
        assert_eq!(parsed("mm:256"), Ok(("mm", Some(256), DEFAULT_SEED)));
        assert_eq!(parsed("fwt:seed=7,size=1_048_576"), Ok(("fwt", Some(1 << 20), 7)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (word, message) in [
            ("mn", "unknown kernel `mn`; did you mean `mm`? known: mm, fwt, nbdy, blk, bopt, bfs, dxtc"),
            ("mm:", "kernel `mm:`: size ``: expected a whole number, as in mm:512"),
            ("mm:1k", "kernel `mm:1k`: size `1k`: expected a whole number, as in mm:512"),
            ("mm:256,size=3", "kernel `mm:256,size=3`: size is given twice"),
            ("mm:sede=3", "kernel `mm:sede=3`: unknown setting `sede`; did you mean `seed`? known: size, seed"),
        ] {
            assert_eq!(Spec::parse(word).unwrap_err().to_string(), message);
        }
    }
}
