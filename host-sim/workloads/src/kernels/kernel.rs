//! A kernel as its file or its options describe it: everything but the input that is asked for.

use super::KernelError;
use super::argument::Argument;
use super::bounds::Bounds;
use super::buffer::NamedBuffer;
use super::code::{self, Ptx};
use super::expression::Scope;
use super::given::{Asked, Inputs, Takes};
use super::input::Input;
use super::limit::LimitFormulas;
use super::nvcc;
use super::place::{DescriptionError, Formula, Place};
use super::reference::Reference;
use super::setting::{Accepts, Setting};
use super::texture::NamedTexture;
use super::variable::NamedVariable;
use std::path::{Path, PathBuf};

/// What bounds a kernel's performance (Nasef 2023, section 4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelType {
    /// Scales with the number of TBs.
    Compute,
    /// Saturates the memory.
    Memory,
}

/// A kernel that can be launched on inputs of any size that it allows.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(super) name: String,
    pub(super) suite: Option<String>,
    pub(super) description: String,
    pub(super) kernel_type: Option<KernelType>,
    pub(super) size: Option<Size>,
    pub(super) settings: Vec<Setting>,
    pub(super) takes: Takes,
    pub(super) code: Code,
    pub(super) launch: LaunchForm,
    pub(super) reference: Option<(&'static Reference, Place)>,
    /// The file or the option that describes it, for messages.
    pub(super) origin: Place,
}

/// Problem sizes.
#[derive(Clone, Debug)]
pub(super) struct Size {
    /// What a size counts.
    pub(super) unit: String,
    pub(super) default: Formula,
    pub(super) bounds: Bounds,
}

/// Where the code is, and how many registers it takes.
#[derive(Clone, Debug)]
pub(super) enum Code {
    /// Among the kernels that come with the simulator, and the registers if its file states them; else the report has them.
    BuiltIn(&'static mias_kernels::Kernel, Option<u32>),
    /// In files.
    Files {
        ptx: Ptx,
        registers: Registers,
        /// What other paths of the description are relative to.
        folder: PathBuf,
    },
}

/// Where the number of registers comes from. PTX does not have it; the assembler decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registers {
    /// The user says.
    Count(u32),
    /// The assembler's report: what `nvcc -cubin -Xptxas -v` prints.
    Report(PathBuf),
    /// The report on this source, which is made: [`Kernel::with_nvcc`].
    OfSource(PathBuf),
    /// The report itself: what messages call it, and its text.
    Printed(String, String),
}

/// A launch, in terms of size and settings.
#[derive(Clone, Debug)]
pub(super) struct LaunchForm {
    pub(super) entry: Entry,
    /// TBs in x, y, z.
    pub(super) grid: [Formula; 3],
    /// Threads per TB in x, y, z.
    pub(super) block: [Formula; 3],
    /// Dynamic shared memory per TB in bytes, on top of what the PTX declares.
    pub(super) shared_bytes: Formula,
    /// Names for expressions that occur several times, in order.
    pub(super) lets: Vec<(String, Formula)>,
    /// Buffers in the order of their addresses.
    pub(super) buffers: Vec<NamedBuffer>,
    /// First values of the module's variables, in the order of the file.
    pub(super) variables: Vec<NamedVariable>,
    /// Textures and surfaces, in the order of their handles.
    pub(super) textures: Vec<NamedTexture>,
    /// Arguments, each with the place that gives it.
    pub(super) args: Vec<(Place, Argument)>,
    /// What it may use.
    pub(super) limits: LimitFormulas,
}

/// Which entry of the module is launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The only one.
    Only,
    /// This.
    Named(String),
    /// By the value of a setting.
    BySetting { key: String, entries: Vec<(i64, String)>, place: Place },
}

/// A kernel of PTX and numbers, as options give it.
#[derive(Clone, Debug)]
pub struct Options {
    /// What reports call it.
    pub name: String,
    /// The PTX file.
    pub ptx: PathBuf,
    /// Entry of the module; none: the only one.
    pub entry: Option<String>,
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: Registers,
    /// Dynamic shared memory per TB in bytes, on top of what the PTX declares.
    pub shared_bytes: u32,
    /// Arguments, each with the option that gives it, for messages.
    pub arguments: Vec<(Place, Argument)>,
}

impl Kernel {
    /// The kernel that options describe: one size, no settings.
    pub fn of_options(options: Options) -> Self {
        let origin = Place::of(&format!("--ptx {}", options.ptx.display()));
        let extents = |extents: [u32; 3], option: &str| extents.map(|extent| Formula::constant(extent.into(), Place::of(option)));
        Kernel {
            name: options.name,
            suite: None,
            description: options.ptx.display().to_string(),
            kernel_type: None,
            size: None,
            settings: Vec::new(),
            takes: Takes::Numbers,
            launch: LaunchForm {
                entry: options.entry.map_or(Entry::Only, Entry::Named),
                grid: extents(options.grid, "--grid"),
                block: extents(options.block, "--block"),
                shared_bytes: Formula::constant(options.shared_bytes.into(), Place::of("--shared")),
                lets: Vec::new(),
                buffers: Vec::new(),
                variables: Vec::new(),
                textures: Vec::new(),
                args: options.arguments,
                limits: LimitFormulas::default(),
            },
            code: Code::Files { ptx: Ptx::File(options.ptx), registers: options.registers, folder: PathBuf::new() },
            reference: None,
            origin,
        }
    }

    /// Short name, as on the command line or as reports have it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The collection that it is from, if one is named.
    pub fn suite(&self) -> Option<&str> {
        self.suite.as_deref()
    }

    /// One line for lists.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What bounds it, if that is known.
    pub fn kernel_type(&self) -> Option<KernelType> {
        self.kernel_type
    }

    /// Its name, if it comes with the simulator.
    pub fn built_in_name(&self) -> Option<&'static str> {
        match &self.code {
            Code::BuiltIn(files, _) => Some(files.name),
            Code::Files { .. } => None,
        }
    }

    /// What a size counts; nothing for a kernel of one size.
    pub fn size_unit(&self) -> &str {
        self.size.as_ref().map_or("", |size| &size.unit)
    }

    /// What can be set besides size and seed.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What paths in the description are relative to; none for a kernel that has no folder.
    pub(super) fn folder(&self) -> Option<&Path> {
        match &self.code {
            Code::BuiltIn(..) => None,
            Code::Files { folder, .. } => Some(folder),
        }
    }

    /// The values of all settings that are numbers, checked.
    pub(super) fn settings_of(&self, input: &Input) -> Result<Scope, KernelError> {
        let mut scope = Scope::default();
        for Setting { key, accepts, .. } in &self.settings {
            let Accepts::Number { default, bounds } = accepts else { continue };
            let value = match input.get(key) {
                None => checked_default(default, bounds, &scope)?,
                Some(word) => {
                    // Not 0512 for 512: two words of one meaning would be two kernels in a report.
                    let value = word.parse::<i64>().ok().filter(|value| value.to_string() == word);
                    // What is no number is refused like one that is out of bounds.
                    match (value, bounds.refuse(value.unwrap_or(i64::MIN), &scope)?) {
                        (Some(value), None) => value,
                        (_, message) => {
                            let message = message.unwrap_or_else(|| "must be a whole number".into());
                            let (kernel, setting, value) = (self.name.clone(), key.clone(), word.into());
                            return Err(KernelError::Setting { kernel, setting, value, message });
                        }
                    }
                }
            };
            scope.set(key, value);
        }
        Ok(scope)
    }

    /// The size that is asked for, or the default, checked; none for a kernel of one size.
    pub(super) fn size_of(&self, input: &Input, settings: &Scope) -> Result<Option<i64>, KernelError> {
        let Some(size) = &self.size else { return Ok(None) };
        let Some(given) = input.size else { return Ok(Some(checked_default(&size.default, &size.bounds, settings)?)) };
        // No description has numbers beyond 64 bits with a sign.
        let value = i64::try_from(given).unwrap_or(i64::MAX);
        match size.bounds.refuse(value, settings)? {
            None if u64::try_from(value) == Ok(given) => Ok(Some(value)),
            refused => {
                let message = refused.unwrap_or_else(|| format!("must be at most {}", i64::MAX));
                Err(KernelError::Size { kernel: self.name.clone(), size: given, message })
            }
        }
    }

    /// Checks size and settings of an input, and reads or makes graph and picture.
    ///
    /// # Errors
    /// [`KernelError`]: what of it is impossible.
    pub(super) fn inputs(&self, input: &Input) -> Result<Inputs, KernelError> {
        let asked = Asked { kernel: &self.name, input, size: &|settings| self.size_of(input, settings) };
        Inputs::of(self.takes, &asked, self.settings_of(input)?)
    }

    /// A size that it can have, for examples.
    pub(super) fn example_size(&self) -> Option<i64> {
        let settings = self.settings_of(&Input::default()).ok()?;
        self.size_of(&Input::default(), &settings).ok()?
    }

    /// The same, with PTX that nvcc makes now for an architecture such as `sm_75`, if its file is CUDA source.
    ///
    /// # Errors
    /// [`DescriptionError`]: what nvcc says, or that there is none.
    pub fn with_nvcc(mut self, architecture: &str) -> Result<Self, DescriptionError> {
        if let Code::Files { ptx, registers, .. } = &mut self.code {
            if let Ptx::File(path) = ptx
                && code::is_cuda_source(path)
            {
                let name = format!("nvcc's {}", path.with_extension("ptx").display());
                *ptx = Ptx::Text(name, nvcc::ptx(path, architecture)?);
            }
            if let Registers::OfSource(path) = registers {
                let name = format!("nvcc's report on {}", path.display());
                *registers = Registers::Printed(name, nvcc::report(path, architecture)?);
            }
        }
        Ok(self)
    }
}

/// A default, which must be one of the values that are possible.
fn checked_default(default: &Formula, bounds: &Bounds, scope: &Scope) -> Result<i64, DescriptionError> {
    let value = default.value(scope)?;
    match bounds.refuse(value, scope)? {
        None => Ok(value),
        Some(message) => Err(default.place.fail(format!("the default, {value}, {message}"))),
    }
}
