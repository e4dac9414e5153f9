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
    /// Name in reports; default: the file's name.
    #[schemars(regex(pattern = "^[A-Za-z0-9._-]+$"))]
    pub(super) name: Option<Spanned<String>>,
    /// Collection of the kernel.
    pub(super) suite: Option<String>,
    /// Description in lists and reports; default: the PTX file's name.
    pub(super) description: Option<String>,
    /// Bound of its performance, if known; evaluations sort groups by it.
    #[serde(rename = "type")]
    pub(super) kernel_type: Option<KernelType>,
    /// Reference that checks the results; only for built-in kernels.
    #[schemars(transform = schema::reference)]
    pub(super) reference: Option<Spanned<String>>,
    /// PTX file, relative to this file.
    pub(super) ptx: PathBuf,
    /// File with the output of `nvcc -cubin -Xptxas -v`; this or `registers`.
    pub(super) ptxas: Option<PathBuf>,
    /// Registers per thread; this or `ptxas`.
    #[schemars(range(min = 1))]
    pub(super) registers: Option<Spanned<u32>>,
    /// Name of the kernel in the PTX or in C++; optional if there is one. { SETTING = { VALUE =
    /// "NAME", .. } } selects it by a setting.
    pub(super) entry: Option<Spanned<EntryForm>>,
    /// Number of TBs: one number, or a list of up to three.
    #[schemars(transform = schema::at_least_one)]
    pub(super) grid: Spanned<ExtentForm>,
    /// Number of threads per TB: one number, or a list of up to three.
    #[schemars(transform = schema::at_least_one)]
    pub(super) block: Spanned<ExtentForm>,
    /// Dynamic shared memory per TB in bytes; default: 0.
    #[schemars(transform = schema::not_negative)]
    pub(super) shared: Option<Spanned<Whole>>,
    /// Arguments, in order: numbers, or words such as "&x", "tex:img", "f32:2.0",
    /// "buf:f32:1024:random" and "hex:00000040".
    #[serde(default)]
    pub(super) args: Vec<Spanned<Word>>,
    /// Problem size.
    pub(super) size: Option<NumberForm>,
    /// Numbers that users may set, by name.
    #[serde(default)]
    pub(super) settings: Named<NumberForm>,
    /// Input graph.
    pub(super) graph: Option<Spanned<GraphForm>>,
    /// Input picture.
    pub(super) picture: Option<Spanned<PictureForm>>,
    /// Named expressions, for use in other expressions.
    #[serde(default, rename = "let")]
    pub(super) lets: Named<Spanned<Whole>>,
    /// Device memory by name, in file order.
    #[serde(default)]
    pub(super) buffers: Named<Spanned<BufferForm>>,
    /// Values of the module's `__constant__` and `__device__` variables, by their names in the PTX
    /// or in C++.
    #[serde(default)]
    pub(super) variables: Named<Spanned<VariableForm>>,
    /// Textures and surfaces, by name.
    #[serde(default)]
    pub(super) textures: Named<Spanned<TextureForm>>,
    /// Limits beyond which the kernel is an error.
    #[serde(default)]
    pub(super) limits: LimitsForm,
}

/// Limits of the launch; a limit that is left out has its default.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsForm {
    /// Maximum number of PTX instructions per warp; default: 10,000,000.
    #[schemars(transform = schema::at_least_one)]
    pub(super) warp_instructions: Option<Spanned<Whole>>,
    /// Maximum number of PTX instructions of all warps of a TB; default: 40,000,000.
    #[schemars(transform = schema::at_least_one)]
    pub(super) tb_instructions: Option<Spanned<Whole>>,
    /// Maximum size of the record of one TB in bytes; default: 268,435,456. `--memory` may permit
    /// less.
    #[schemars(transform = schema::at_least_one)]
    pub(super) tb_record_bytes: Option<Spanned<Whole>>,
    /// Stack per thread in bytes, for recursive functions; default: 1,024.
    #[schemars(transform = schema::stack_bytes)]
    pub(super) stack_bytes: Option<Spanned<Whole>>,
}

/// Which entry of the PTX is launched.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected an entry's name, or { SETTING = { VALUE = \"NAME\", .. } }")]
pub(super) enum EntryForm {
    /// An entry's name.
    Name(String),
    /// Names of entries by setting and value.
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

/// Value, or a word for one.
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
    /// Unit of the size, or meaning of the setting, in lists and messages. `[size]` may call it
    /// `unit`.
    #[serde(default, alias = "unit")]
    pub(super) description: String,
    /// Value if none is given; it must be valid.
    pub(super) default: Spanned<Whole>,
    /// Least value; default: 1.
    pub(super) from: Option<Spanned<Whole>>,
    /// Greatest value; default: unbounded.
    pub(super) to: Option<Spanned<Whole>>,
    /// Divisor of the value.
    #[schemars(transform = schema::at_least_one)]
    pub(super) multiple_of: Option<Spanned<Whole>>,
    /// Restriction to powers of two.
    #[serde(default)]
    pub(super) power_of_two: bool,
    /// Permitted values, in place of a range.
    #[schemars(length(min = 1))]
    pub(super) values: Option<Spanned<Vec<i64>>>,
}

/// Graph that a kernel takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphForm {
    /// Random graph that is generated without a file; default: `uniform`.
    pub(super) default: Option<Generator>,
}

/// Picture that a kernel takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PictureForm {
    /// Divisor of the sides in pixels, which are padded by repeating the last column and row;
    /// default: 1.
    #[schemars(range(min = 1, max = LARGEST_STEP))]
    pub(super) multiple_of: Option<Spanned<u32>>,
}

/// Device memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BufferForm {
    /// Type of the elements.
    #[serde(rename = "type")]
    #[schemars(transform = schema::element)]
    pub(super) element: Spanned<String>,
    /// Number of elements; default: that of the graph's or picture's part.
    pub(super) count: Option<Spanned<Whole>>,
    /// Initial values, or a list of them for records, repeated over the elements: "zeros" (the
    /// default), "ones", a number, "nan", "iota", "random", "random:LOW:HIGH",
    /// "whole:LOW:HIGH", "file:PATH", "graph:PART" or "picture:PART".
    pub(super) fill: Option<Spanned<FillForm>>,
    /// Number of accessible elements before the buffer.
    #[schemars(transform = schema::not_negative)]
    pub(super) before: Option<Spanned<Whole>>,
    /// Number of accessible elements after the buffer.
    #[schemars(transform = schema::not_negative)]
    pub(super) after: Option<Spanned<Whole>>,
    /// Initial values of these elements, words as for `fill`; default: zeros.
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
    /// Type of the elements.
    #[serde(rename = "type")]
    #[schemars(transform = schema::element)]
    pub(super) element: String,
    /// Number of elements; default: all of the variable.
    pub(super) count: Option<Whole>,
    /// Initial values, as for a buffer.
    pub(super) fill: Option<FillForm>,
}

/// Initial contents of memory.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a fill, such as \"random\", or a list for records")]
pub(super) enum FillForm {
    /// One value for all elements.
    One(Word),
    /// Values in turn, repeated from the first.
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
