//! TOML form of a kernel file: its keys and the types of their values.

use super::LARGEST_STEP;
use super::schema;
use super::spanned::Spanned;
use super::textures::TextureForm;
use crate::kernels::KernelType;
use crate::kernels::given::Generator;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A table whose keys are names chosen in the file. [`in_order`] sorts it in file order.
pub(super) type Named<T> = BTreeMap<Spanned<String>, T>;

/// A kernel's file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KernelForm {
    /// Name for reports; the file's if left out.
    #[schemars(regex(pattern = "^[A-Za-z0-9._-]+$"))]
    pub(super) name: Option<Spanned<String>>,
    /// The collection that the kernel is from.
    pub(super) suite: Option<String>,
    /// What it does, for lists and reports; the PTX file's name if left out.
    pub(super) description: Option<String>,
    /// What bounds it, if that is known; groups of an evaluation are sorted by it.
    #[serde(rename = "type")]
    pub(super) kernel_type: Option<KernelType>,
    /// What checks the results. Only the simulator's own kernels have one.
    #[schemars(transform = schema::reference)]
    pub(super) reference: Option<Spanned<String>>,
    /// The PTX file, relative to this file.
    pub(super) ptx: PathBuf,
    /// What `nvcc -cubin -Xptxas -v` printed, a file; this or `registers`.
    pub(super) ptxas: Option<PathBuf>,
    /// Registers per thread; this or `ptxas`.
    #[schemars(range(min = 1))]
    pub(super) registers: Option<Spanned<u32>>,
    /// The kernel's name, as in the PTX or in C++; may be left out if there is one. { SETTING = {
    /// VALUE = "NAME", .. } } lets a setting choose.
    pub(super) entry: Option<Spanned<EntryForm>>,
    /// TBs: one number, or a list of up to three.
    #[schemars(transform = schema::at_least_one)]
    pub(super) grid: Spanned<ExtentForm>,
    /// Threads of a TB: one number, or a list of up to three.
    #[schemars(transform = schema::at_least_one)]
    pub(super) block: Spanned<ExtentForm>,
    /// Dynamic shared memory per TB in bytes; 0 if left out.
    #[schemars(transform = schema::not_negative)]
    pub(super) shared: Option<Spanned<Whole>>,
    /// The arguments, in order: numbers, or words such as "&x", "tex:img", "f32:2.0",
    /// "buf:f32:1024:random" and "hex:00000040".
    #[serde(default)]
    pub(super) args: Vec<Spanned<Word>>,
    /// The problem size.
    pub(super) size: Option<NumberForm>,
    /// Numbers that can be set, by name.
    #[serde(default)]
    pub(super) settings: Named<NumberForm>,
    /// The kernel takes a graph.
    pub(super) graph: Option<Spanned<GraphForm>>,
    /// The kernel takes a picture.
    pub(super) picture: Option<Spanned<PictureForm>>,
    /// Names for expressions that occur several times.
    #[serde(default, rename = "let")]
    pub(super) lets: Named<Spanned<Whole>>,
    /// Device memory, by name, in the order of the file.
    #[serde(default)]
    pub(super) buffers: Named<Spanned<BufferForm>>,
    /// Values of the module's `__constant__` and `__device__` variables, by their names in the PTX
    /// or in C++.
    #[serde(default)]
    pub(super) variables: Named<Spanned<VariableForm>>,
    /// Textures and surfaces, by name.
    #[serde(default)]
    pub(super) textures: Named<Spanned<TextureForm>>,
    /// What the kernel may use before it is taken to be wrong.
    #[serde(default)]
    pub(super) limits: LimitsForm,
}

/// Limits of the launch; a limit that is left out has its default.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsForm {
    /// PTX instructions that one warp executes; 10,000,000 if left out.
    #[schemars(transform = schema::at_least_one)]
    pub(super) warp_instructions: Option<Spanned<Whole>>,
    /// PTX instructions that all warps of a TB execute; 40,000,000 if left out.
    #[schemars(transform = schema::at_least_one)]
    pub(super) tb_instructions: Option<Spanned<Whole>>,
    /// Bytes for the record of what one TB does; 268,435,456 if left out. `--memory` may allow
    /// less.
    #[schemars(transform = schema::at_least_one)]
    pub(super) tb_record_bytes: Option<Spanned<Whole>>,
    /// Bytes of the stack of one thread, for functions that call themselves; 1,024 if left out.
    #[schemars(transform = schema::stack_bytes)]
    pub(super) stack_bytes: Option<Spanned<Whole>>,
}

/// Which entry of the PTX is launched.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected an entry's name, or { SETTING = { VALUE = \"NAME\", .. } }")]
pub(super) enum EntryForm {
    /// An entry's name.
    Name(String),
    /// By setting and value, an entry's name.
    BySetting(BTreeMap<String, BTreeMap<String, String>>),
}

/// Up to three dimensions.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number, or a list of up to three")]
pub(super) enum ExtentForm {
    /// One dimension.
    One(Whole),
    /// x, y and z.
    Several(#[schemars(length(min = 1, max = 3))] Vec<Whole>),
}

/// A number, or an expression.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number, or an expression such as \"size / 16\"")]
pub(super) enum Whole {
    /// A whole number.
    Number(i64),
    /// An expression such as "size / 16".
    Text(String),
}

/// A value, or what stands for one.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or a word such as \"buf:f32:1024:random\"")]
pub(super) enum Word {
    /// A word, or an expression.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
}

/// The size, or a setting.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = schema::unit)]
pub(super) struct NumberForm {
    /// What the size counts, or what the setting is: for lists and messages. The size may call it
    /// `unit`.
    #[serde(default, alias = "unit")]
    pub(super) description: String,
    /// The value if none is given; it must be possible.
    pub(super) default: Spanned<Whole>,
    /// The least value; 1 if left out.
    pub(super) from: Option<Spanned<Whole>>,
    /// The greatest value; no end if left out.
    pub(super) to: Option<Spanned<Whole>>,
    /// The number of which it must be a multiple.
    #[schemars(transform = schema::at_least_one)]
    pub(super) multiple_of: Option<Spanned<Whole>>,
    /// Only powers of two.
    #[serde(default)]
    pub(super) power_of_two: bool,
    /// Only these, instead of a range.
    #[schemars(length(min = 1))]
    pub(super) values: Option<Spanned<Vec<i64>>>,
}

/// Graph that a kernel takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphForm {
    /// Which random graph is taken without a file; uniform if left out.
    pub(super) default: Option<Generator>,
}

/// Picture that a kernel takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PictureForm {
    /// Sides are filled up to multiples of this many pixels, by repeating the last column and row;
    /// 1 if left out.
    #[schemars(range(min = 1, max = LARGEST_STEP))]
    pub(super) multiple_of: Option<Spanned<u32>>,
}

/// Device memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BufferForm {
    /// What an element is.
    #[serde(rename = "type")]
    #[schemars(transform = schema::element)]
    pub(super) element: Spanned<String>,
    /// Number of elements; what a graph or a picture fills has as many as that.
    pub(super) count: Option<Spanned<Whole>>,
    /// What fills it, or a list of it for records, element by element and again from the first:
    /// "zeros" (if left out), "ones", a number, "nan", "iota", "random", "random:LOW:HIGH",
    /// "whole:LOW:HIGH", "file:PATH", "graph:PART" or "picture:PART".
    pub(super) fill: Option<Spanned<FillForm>>,
    /// Elements before the buffer that the kernel may read and write.
    #[schemars(transform = schema::not_negative)]
    pub(super) before: Option<Spanned<Whole>>,
    /// Elements behind the buffer that the kernel may read and write.
    #[schemars(transform = schema::not_negative)]
    pub(super) after: Option<Spanned<Whole>>,
    /// What the elements before and behind hold at first, words as for `fill`; zeros if left out.
    pub(super) around: Option<Spanned<FillForm>>,
}

/// The first value of a module's variable: a word as for an argument, or elements as in a buffer.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, a word such as \"&x\", or { type = \"f32\", fill = \"random\" }, also with count")]
pub(super) enum VariableForm {
    /// A value, as for an argument.
    Word(Word),
    /// Elements, as in a buffer.
    Elements(ElementsForm),
}

/// Elements of a module's variable.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ElementsForm {
    /// What an element is.
    #[serde(rename = "type")]
    #[schemars(transform = schema::element)]
    pub(super) element: String,
    /// Number of elements; if left out, all of the variable.
    pub(super) count: Option<Whole>,
    /// What fills them, as for a buffer.
    pub(super) fill: Option<FillForm>,
}

/// Initial contents of memory.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a fill, such as \"random\", or a list for records")]
pub(super) enum FillForm {
    /// The same for all elements.
    One(Word),
    /// One after the other, and again from the first.
    Record(#[schemars(length(min = 1))] Vec<Word>),
}

impl Word {
    /// Returns the word as text.
    pub(super) fn text(&self) -> String {
        match self {
            Word::Text(text) => text.clone(),
            Word::Integer(number) => number.to_string(),
            Word::Float(number) => number.to_string(),
        }
    }
}

/// Returns the entries of a table in file order.
pub(super) fn in_order<T>(table: Named<T>) -> Vec<(Spanned<String>, T)> {
    let mut entries: Vec<(Spanned<String>, T)> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
