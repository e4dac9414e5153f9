//! A kernel as described by its file or by options, without the requested input.

use super::KernelError;
use super::argument::Argument;
use super::bounds::Bounds;
use super::buffer::NamedBuffer;
use super::code::{self, Ptx};
use super::expression::Scope;
use super::given::{InputRequest, Inputs, Takes};
use super::input::Input;
use super::limit::LimitFormulas;
use super::nvcc;
use super::place::{DescriptionError, Formula, Place};
use super::reference::Reference;
use super::setting::{Accepts, Setting};
use super::texture::NamedTexture;
use super::variable::NamedVariable;
use std::path::{Path, PathBuf};

/// Resource that bounds a kernel's performance (Nasef 2023, section 4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KernelType {
    /// Scales with the number of TBs.
    Compute,
    /// Saturates the memory.
    Memory,
}

/// A kernel that can be launched on inputs of any size within its bounds.
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
    /// File or option that describes the kernel, for messages.
    pub(super) origin: Place,
}

/// Problem sizes.
#[derive(Clone, Debug)]
pub(super) struct Size {
    /// Unit that the size counts.
    pub(super) unit: String,
    pub(super) default: Formula,
    pub(super) bounds: Bounds,
}

/// Source of the code, and the number of registers.
#[derive(Clone, Debug)]
pub(super) enum Code {
    /// A built-in kernel, with the registers if its file states them; otherwise its report does.
    BuiltIn(&'static mias_kernels::Kernel, Option<u32>),
    /// Files of the user.
    Files {
        ptx: Ptx,
        registers: Registers,
        /// Folder of relative paths in the description.
        folder: PathBuf,
    },
}

/// Source of the number of registers, which PTX does not contain; the assembler chooses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registers {
    /// Number given by the user.
    Count(u32),
    /// File with the assembler's report: the output of `nvcc -cubin -Xptxas -v`.
    Report(PathBuf),
    /// CUDA source for which the report is generated: [`Kernel::with_nvcc`].
    OfSource(PathBuf),
    /// Report in memory: its name in messages, and its text.
    Printed(String, String),
}

/// Launch as formulas over size and settings.
#[derive(Clone, Debug)]
pub(super) struct LaunchForm {
    pub(super) entry: Entry,
    /// TBs in x, y, z.
    pub(super) grid: [Formula; 3],
    /// Threads per TB in x, y, z.
    pub(super) block: [Formula; 3],
    /// Dynamic shared memory per TB in bytes, in addition to the static part in the PTX.
    pub(super) shared_bytes: Formula,
    /// Named expressions, in order.
    pub(super) lets: Vec<(String, Formula)>,
    /// Buffers in address order.
    pub(super) buffers: Vec<NamedBuffer>,
    /// Initial values of the module's variables, in file order.
    pub(super) variables: Vec<NamedVariable>,
    /// Textures and surfaces, in the order of their handles.
    pub(super) textures: Vec<NamedTexture>,
    /// Arguments, each with its location.
    pub(super) args: Vec<(Place, Argument)>,
    /// Limits of the launch.
    pub(super) limits: LimitFormulas,
}

/// Entry of the module to launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The only entry.
    Only,
    /// The entry of this name.
    Named(String),
    /// The entry selected by the value of a setting.
    BySetting { key: String, entries: Vec<(i64, String)>, place: Place },
}

/// Description of a kernel by options: PTX and numbers.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name in reports.
    pub name: String,
    /// Path of the PTX file.
    pub ptx: PathBuf,
    /// Entry of the module; `None` selects the only one.
    pub entry: Option<String>,
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: Registers,
    /// Dynamic shared memory per TB in bytes, in addition to the static part in the PTX.
    pub shared_bytes: u32,
    /// Arguments, each with its option, for messages.
    pub arguments: Vec<(Place, Argument)>,
}

impl Kernel {
    /// Creates the kernel that options describe, with one size and no settings.
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

    /// Returns the short name, as on the command line or in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the benchmark suite, if stated.
    pub fn suite(&self) -> Option<&str> {
        self.suite.as_deref()
    }

    /// Returns the description in one line, for lists.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the resource that bounds the kernel, if known.
    pub fn kernel_type(&self) -> Option<KernelType> {
        self.kernel_type
    }

    /// Returns the name of a built-in kernel; `None` for a user's kernel.
    pub fn built_in_name(&self) -> Option<&'static str> {
        match &self.code {
            Code::BuiltIn(files, _) => Some(files.name),
            Code::Files { .. } => None,
        }
    }

    /// Returns the unit that the size counts; empty for a kernel with a single size.
    pub fn size_unit(&self) -> &str {
        self.size.as_ref().map_or("", |size| &size.unit)
    }

    /// Returns the settings in addition to size and seed.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns the folder of relative paths in the description; `None` for a kernel without a
    /// folder.
    pub(super) fn folder(&self) -> Option<&Path> {
        match &self.code {
            Code::BuiltIn(..) => None,
            Code::Files { folder, .. } => Some(folder),
        }
    }

    /// Returns the checked values of all numeric settings.
    pub(super) fn settings_of(&self, input: &Input) -> Result<Scope, KernelError> {
        let mut scope = Scope::default();
        for Setting { key, accepts, .. } in &self.settings {
            let Accepts::Number { default, bounds } = accepts else { continue };
            let value = match input.get(key) {
                None => checked_default(default, bounds, &scope)?,
                Some(word) => {
                    // Reject 0512 for 512: two spellings of one value would be two kernels in a
                    // report.
                    let value = word.parse::<i64>().ok().filter(|value| value.to_string() == word);
                    // A word that is not a number gets the same error as a number out of bounds.
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

    /// Returns the checked size: the requested one or the default; `None` for a kernel with a
    /// single size.
    pub(super) fn size_of(&self, input: &Input, settings: &Scope) -> Result<Option<i64>, KernelError> {
        let Some(size) = &self.size else { return Ok(None) };
        let Some(given) = input.size else { return Ok(Some(checked_default(&size.default, &size.bounds, settings)?)) };
        // Descriptions have only numbers of 64 bits with a sign.
        let value = i64::try_from(given).unwrap_or(i64::MAX);
        match size.bounds.refuse(value, settings)? {
            None if u64::try_from(value) == Ok(given) => Ok(Some(value)),
            refused => {
                let message = refused.unwrap_or_else(|| format!("must be at most {}", i64::MAX));
                Err(KernelError::Size { kernel: self.name.clone(), size: given, message })
            }
        }
    }

    /// Checks size and settings of an input, and reads or generates graph and picture.
    ///
    /// # Errors
    /// [`KernelError`] for an impossible input.
    pub(super) fn inputs(&self, input: &Input) -> Result<Inputs, KernelError> {
        let asked = InputRequest { kernel: &self.name, input, size: &|settings| self.size_of(input, settings) };
        Inputs::of(self.takes, &asked, self.settings_of(input)?)
    }

    /// Returns a permitted size, for examples.
    pub(super) fn example_size(&self) -> Option<i64> {
        let settings = self.settings_of(&Input::default()).ok()?;
        self.size_of(&Input::default(), &settings).ok()?
    }

    /// Replaces the PTX of a CUDA source by the output of nvcc for an architecture such as `sm_75`.
    ///
    /// # Errors
    /// [`DescriptionError`] with nvcc's message, or if nvcc is missing.
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

/// Checks that a default is a permitted value.
fn checked_default(default: &Formula, bounds: &Bounds, scope: &Scope) -> Result<i64, DescriptionError> {
    let value = default.value(scope)?;
    match bounds.refuse(value, scope)? {
        None => Ok(value),
        Some(message) => Err(default.place.fail(format!("the default, {value}, {message}"))),
    }
}
