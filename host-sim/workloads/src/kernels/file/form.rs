//! A kernel's file as TOML has it: which keys there are, and of what kind their values must be.

use super::textures::TextureForm;
use crate::kernels::KernelType;
use crate::kernels::given::Generator;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::Spanned;

/// A table whose keys are names of the file's own. [`in_order`] puts it in the order of the file.
pub(super) type Named<T> = BTreeMap<Spanned<String>, T>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KernelForm {
    pub(super) name: Option<Spanned<String>>,
    pub(super) suite: Option<String>,
    pub(super) description: Option<String>,
    #[serde(rename = "type")]
    pub(super) kernel_type: Option<KernelType>,
    pub(super) reference: Option<Spanned<String>>,
    pub(super) ptx: PathBuf,
    pub(super) ptxas: Option<PathBuf>,
    pub(super) registers: Option<Spanned<u32>>,
    pub(super) entry: Option<Spanned<EntryForm>>,
    pub(super) grid: Spanned<ExtentForm>,
    pub(super) block: Spanned<ExtentForm>,
    pub(super) shared: Option<Spanned<Whole>>,
    #[serde(default)]
    pub(super) args: Vec<Spanned<Word>>,
    pub(super) size: Option<NumberForm>,
    #[serde(default)]
    pub(super) settings: Named<NumberForm>,
    pub(super) graph: Option<Spanned<GraphForm>>,
    pub(super) picture: Option<Spanned<PictureForm>>,
    #[serde(default, rename = "let")]
    pub(super) lets: Named<Spanned<Whole>>,
    #[serde(default)]
    pub(super) buffers: Named<Spanned<BufferForm>>,
    #[serde(default)]
    pub(super) variables: Named<Spanned<VariableForm>>,
    #[serde(default)]
    pub(super) textures: Named<Spanned<TextureForm>>,
    #[serde(default)]
    pub(super) limits: LimitsForm,
}

/// What the launch may use; left out, what is usual.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsForm {
    pub(super) warp_instructions: Option<Spanned<Whole>>,
    pub(super) tb_instructions: Option<Spanned<Whole>>,
    pub(super) tb_record_bytes: Option<Spanned<Whole>>,
    pub(super) stack_bytes: Option<Spanned<Whole>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an entry's name, or { SETTING = { VALUE = \"NAME\", .. } }")]
pub(super) enum EntryForm {
    Name(String),
    BySetting(BTreeMap<String, BTreeMap<String, String>>),
}

#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a whole number, or a list of up to three")]
pub(super) enum ExtentForm {
    One(Whole),
    Several(Vec<Whole>),
}

/// A number, or an expression.
#[derive(Clone, Deserialize)]
#[serde(untagged, expecting = "expected a whole number, or an expression such as \"size / 16\"")]
pub(super) enum Whole {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or a word such as \"buf:f32:1024:random\"")]
pub(super) enum Word {
    Text(String),
    Integer(i64),
    Float(f64),
}

/// The size, or a setting.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberForm {
    #[serde(default, alias = "unit")]
    pub(super) description: String,
    pub(super) default: Spanned<Whole>,
    pub(super) from: Option<Spanned<Whole>>,
    pub(super) to: Option<Spanned<Whole>>,
    pub(super) multiple_of: Option<Spanned<Whole>>,
    #[serde(default)]
    pub(super) power_of_two: bool,
    pub(super) values: Option<Spanned<Vec<i64>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphForm {
    pub(super) default: Option<Generator>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PictureForm {
    pub(super) multiple_of: Option<Spanned<u32>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BufferForm {
    #[serde(rename = "type")]
    pub(super) element: Spanned<String>,
    pub(super) count: Option<Spanned<Whole>>,
    pub(super) fill: Option<Spanned<FillForm>>,
    pub(super) before: Option<Spanned<Whole>>,
    pub(super) after: Option<Spanned<Whole>>,
    pub(super) around: Option<Spanned<FillForm>>,
}

/// The first value of a module's variable: a word as for an argument, or elements as in a buffer.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, a word such as \"&x\", or { type = \"f32\", fill = \"random\" }, also with count")]
pub(super) enum VariableForm {
    Word(Word),
    Elements(ElementsForm),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ElementsForm {
    #[serde(rename = "type")]
    pub(super) element: String,
    pub(super) count: Option<Whole>,
    pub(super) fill: Option<FillForm>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected what fills it, such as \"random\", or a list for records")]
pub(super) enum FillForm {
    One(Word),
    Record(Vec<Word>),
}

impl Word {
    /// As text.
    pub(super) fn text(&self) -> String {
        match self {
            Word::Text(text) => text.clone(),
            Word::Integer(number) => number.to_string(),
            Word::Float(number) => number.to_string(),
        }
    }
}

/// A table's entries in the order of the file.
pub(super) fn in_order<T>(table: Named<T>) -> Vec<(Spanned<String>, T)> {
    let mut entries: Vec<(Spanned<String>, T)> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
