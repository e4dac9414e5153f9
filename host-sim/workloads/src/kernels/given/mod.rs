//! Inputs of a kernel: size and settings as numbers, and an optional graph or picture.

mod graph;
mod picture;

pub(super) use graph::Generator;

use super::KernelError;
use super::expression::Scope;
use super::input::Input;
use super::setting::Setting;
use crate::graph::Graph;
use crate::picture::Picture;
use std::sync::Arc;

/// Kind of input in addition to numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Numbers only.
    Numbers,
    /// A graph from a file or a generator; this generator is the default.
    Graph(Generator),
    /// A picture from a file or generated, with sides padded to multiples of this number.
    Picture(usize),
}

impl Takes {
    /// Returns the settings that belong to the kind of input.
    pub(super) fn settings(self) -> Vec<Setting> {
        match self {
            Takes::Numbers => Vec::new(),
            Takes::Graph(default) => graph::settings(default),
            Takes::Picture(_) => picture::settings(),
        }
    }

    /// Returns the names that the input defines for expressions, in addition to settings.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Takes::Numbers => &["size"],
            Takes::Graph(_) => &["size", "edges", "source"],
            Takes::Picture(_) => &["width", "height"],
        }
    }

    /// Returns whether the size is that of a file.
    pub(super) fn reads_a_file(self, input: &Input) -> bool {
        match self {
            Takes::Numbers => false,
            Takes::Graph(_) => input.get("graph").is_some_and(|word| !graph::is_generator(word)),
            Takes::Picture(_) => input.get("image").is_some(),
        }
    }

    /// Returns the parts that the input offers for buffers.
    pub(super) fn parts(self) -> &'static [&'static str] {
        match self {
            Takes::Numbers => &[],
            Takes::Graph(_) => graph::PARTS,
            Takes::Picture(_) => picture::PARTS,
        }
    }
}

/// Inputs of a kernel.
#[derive(Debug)]
pub(super) struct Inputs {
    /// Size and settings by name. A graph adds `edges` and `source`, a picture `width` and
    /// `height`.
    pub(super) scope: Scope,
    /// Seed of random numbers.
    pub(super) seed: u64,
    /// Graph, if the kernel takes one.
    pub(super) graph: Option<Arc<Graph>>,
    /// Picture without padding, if the kernel takes one.
    pub(super) picture: Option<Arc<Picture>>,
    /// Number to whose multiples the sides of the picture are padded.
    step: usize,
}

impl Inputs {
    /// Builds the inputs from checked settings; reads or generates the graph or picture.
    ///
    /// # Errors
    /// [`KernelError`] for an impossible input.
    pub(super) fn of(takes: Takes, asked: &InputRequest<'_>, settings: Scope) -> Result<Self, KernelError> {
        let mut inputs = Inputs { scope: settings, seed: asked.input.seed, graph: None, picture: None, step: 1 };
        match takes {
            Takes::Numbers => {
                if let Some(size) = asked.size(&inputs.scope)? {
                    inputs.scope.set("size", size);
                }
            }
            Takes::Graph(default) => inputs.graph = Some(Arc::new(graph::read(asked, default, &mut inputs.scope)?)),
            Takes::Picture(step) => {
                inputs.step = step;
                inputs.picture = Some(Arc::new(picture::read(asked, step, &mut inputs.scope)?));
            }
        }
        Ok(inputs)
    }

    /// Returns the words of a part of the graph or the picture.
    pub(super) fn words(&self, part: &str) -> Option<Vec<u32>> {
        match (&self.graph, &self.picture) {
            (Some(graph), _) => graph::words(graph, part),
            (None, Some(picture)) => picture::words(picture, self.step, part),
            (None, None) => None,
        }
    }

    /// Returns the value of a name, for the reference of a built-in kernel.
    ///
    /// # Errors
    /// A sentence with the existing names.
    pub(super) fn value(&self, name: &str) -> Result<u64, String> {
        let value = self.scope.require(name)?;
        u64::try_from(value).map_err(|_| format!("{name} is {value}, below 0"))
    }
}

/// Requested input of a kernel.
pub(super) struct InputRequest<'a> {
    /// Name of the kernel, for messages.
    pub(super) kernel: &'a str,
    pub(super) input: &'a Input,
    /// Checked size for given settings: the requested one or the default; `None` for a kernel with
    /// a single size.
    pub(super) size: &'a dyn Fn(&Scope) -> Result<Option<i64>, KernelError>,
}

impl InputRequest<'_> {
    fn size(&self, settings: &Scope) -> Result<Option<i64>, KernelError> {
        (self.size)(settings)
    }

    /// Creates the error for an impossible size.
    fn wrong_size(&self, size: i64, message: String) -> KernelError {
        KernelError::Size { kernel: self.kernel.into(), size: size.unsigned_abs(), message }
    }

    /// Creates the error for an impossible value of a setting.
    fn wrong(&self, setting: &str, value: impl ToString, message: impl ToString) -> KernelError {
        KernelError::Setting { kernel: self.kernel.into(), setting: setting.into(), value: value.to_string(), message: message.to_string() }
    }
}
