//! Any kernel that can be asked for by one word: ours with their input, or a user's file.

use super::user::UserKernel;
use super::{KernelError, Prepared, Spec, SpecError, prepare};
use std::path::Path;

/// A kernel asked for.
#[derive(Clone, Debug)]
pub enum Request {
    /// One of ours.
    Ours(Spec),
    /// A user's.
    User(UserKernel),
}

impl Request {
    /// Reads a word: the path of a TOML file, or what [`Spec::parse`] reads.
    ///
    /// # Errors
    /// What is wrong with the word, or with the file that it names.
    pub fn parse(word: &str) -> Result<Self, SpecError> {
        if Path::new(word).extension().is_some_and(|extension| extension == "toml") {
            return UserKernel::read(Path::new(word)).map(Request::User).map_err(|error| SpecError(error.to_string()));
        }
        let name = word.split(':').next().unwrap_or_default();
        Spec::parse(word).map(Request::Ours).map_err(|error| match name.contains(['/', '\\']) || name.ends_with(".ptx") {
            true => SpecError(format!("unknown kernel `{word}`; a kernel of your own is named by its TOML file, or run with --ptx")),
            false => error,
        })
    }

    /// What the kernel is called in reports, for the word that asked for it.
    pub fn name(&self, word: &str) -> String {
        match self {
            Request::Ours(_) => word.to_owned(),
            Request::User(kernel) => kernel.name.clone(),
        }
    }

    /// With data in place, ready to run.
    ///
    /// # Errors
    /// [`KernelError`].
    pub fn prepare(&self) -> Result<Prepared, KernelError> {
        match self {
            Request::Ours(spec) => prepare(spec),
            Request::User(kernel) => Ok(kernel.prepare()?),
        }
    }
}
