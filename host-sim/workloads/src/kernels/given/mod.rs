//! What a kernel is given: its size and settings as numbers, and a graph or a picture if it takes one.

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

/// What a kernel takes besides numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing.
    Numbers,
    /// A graph, of a file or by a generator, this one unless another is asked for.
    Graph(Generator),
    /// A picture, of a file or made up, with sides filled up to multiples of this.
    Picture(usize),
}

impl Takes {
    /// The settings that come with it.
    pub(super) fn settings(self) -> Vec<Setting> {
        match self {
            Takes::Numbers => Vec::new(),
            Takes::Graph(default) => graph::settings(default),
            Takes::Picture(_) => picture::settings(),
        }
    }

    /// The names that expressions may have from then on, besides settings.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Takes::Numbers => &["size"],
            Takes::Graph(_) => &["size", "edges", "source"],
            Takes::Picture(_) => &["width", "height"],
        }
    }

    /// Whether its size is that of a file.
    pub(super) fn reads_a_file(self, input: &Input) -> bool {
        match self {
            Takes::Numbers => false,
            Takes::Graph(_) => input.get("graph").is_some_and(|word| !graph::is_generator(word)),
            Takes::Picture(_) => input.get("image").is_some(),
        }
    }

    /// The words for buffers that it has.
    pub(super) fn parts(self) -> &'static [&'static str] {
        match self {
            Takes::Numbers => &[],
            Takes::Graph(_) => graph::PARTS,
            Takes::Picture(_) => picture::PARTS,
        }
    }
}

/// What a kernel is given.
#[derive(Debug)]
pub(super) struct Inputs {
    /// Size and settings by name; of a graph `edges` and `source`, of a picture `width` and `height`.
    pub(super) scope: Scope,
    /// Seed of random numbers.
    pub(super) seed: u64,
    /// The graph, if it takes one.
    pub(super) graph: Option<Arc<Graph>>,
    /// The picture, if it takes one, as it is: not filled up.
    pub(super) picture: Option<Arc<Picture>>,
    /// To what multiples the picture's sides are filled up.
    step: usize,
}

impl Inputs {
    /// Of settings that are checked, with graph or picture read or made.
    ///
    /// # Errors
    /// [`KernelError`]: what of it is impossible.
    pub(super) fn of(takes: Takes, asked: &Asked<'_>, settings: Scope) -> Result<Self, KernelError> {
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

    /// The words of a part of the graph or the picture.
    pub(super) fn words(&self, part: &str) -> Option<Vec<u32>> {
        match (&self.graph, &self.picture) {
            (Some(graph), _) => graph::words(graph, part),
            (None, Some(picture)) => picture::words(picture, self.step, part),
            (None, None) => None,
        }
    }

    /// The value of a name, as the reference of a built-in kernel needs it.
    ///
    /// # Errors
    /// A sentence with the names that there are.
    pub(super) fn value(&self, name: &str) -> Result<u64, String> {
        let value = self.scope.require(name)?;
        u64::try_from(value).map_err(|_| format!("{name} is {value}, below 0"))
    }
}

/// What is asked of a kernel.
pub(super) struct Asked<'a> {
    /// Its name, for messages.
    pub(super) kernel: &'a str,
    pub(super) input: &'a Input,
    /// The size by the values of settings: as asked for or the default, checked; none for a kernel of one size.
    pub(super) size: &'a dyn Fn(&Scope) -> Result<Option<i64>, KernelError>,
}

impl Asked<'_> {
    fn size(&self, settings: &Scope) -> Result<Option<i64>, KernelError> {
        (self.size)(settings)
    }

    /// A size that is impossible.
    fn wrong_size(&self, size: i64, message: String) -> KernelError {
        KernelError::Size { kernel: self.kernel.into(), size: size.unsigned_abs(), message }
    }

    /// A setting with a value that is impossible.
    fn wrong(&self, setting: &str, value: impl ToString, message: impl ToString) -> KernelError {
        KernelError::Setting { kernel: self.kernel.into(), setting: setting.into(), value: value.to_string(), message: message.to_string() }
    }
}
