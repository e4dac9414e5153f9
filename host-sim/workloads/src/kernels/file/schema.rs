//! JSON Schema of a kernel file: the schema derived from its form, with additions that the types do
//! not express.

use super::form::KernelForm;
use super::textures::is_channel;
use crate::input::schema::{self, narrow};
use crate::kernels::element::{Element, NAMES};
use crate::kernels::reference;
use mias_ptx::limits::MAX_STACK_BYTES;
use schemars::Schema;
use serde_json::{Value, json};
use std::ops::RangeInclusive;

/// Permitted numbers of channels in a texel (`mias_ptx::texture`).
const CHANNELS: [u8; 3] = [1, 2, 4];

/// Returns the JSON Schema of a kernel file.
#[must_use]
pub fn schema() -> Value {
    let about = "A kernel of mias: its launch, data and settings. docs/reference/kernel-file.md describes every key. \
        An expression such as \"size / 16\" may replace a whole number.";
    schema::of::<KernelForm>("Kernel of mias", about)
}

pub(super) fn at_least_one(schema: &mut Schema) {
    within(schema, 1..=i64::MAX);
}

pub(super) fn not_negative(schema: &mut Schema) {
    within(schema, 0..=i64::MAX);
}

pub(super) fn stack_bytes(schema: &mut Schema) {
    within(schema, 1..=MAX_STACK_BYTES.into());
}

fn within(schema: &mut Schema, range: RangeInclusive<i64>) {
    narrow(schema.ensure_object(), &range);
}

/// Adds the alias of the key for the description of the size.
pub(super) fn unit(schema: &mut Schema) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
        && let Some(description) = properties.get("description").cloned()
    {
        properties.insert("unit".into(), description);
    }
}

pub(super) fn element(schema: &mut Schema) {
    schema.insert("enum".into(), NAMES.split(", ").collect());
}

pub(super) fn channel(schema: &mut Schema) {
    let can_be = |name: &&str| Element::parse(name).is_some_and(is_channel);
    schema.insert("enum".into(), NAMES.split(", ").filter(can_be).collect());
}

pub(super) fn channels(schema: &mut Schema) {
    schema.insert("enum".into(), json!(CHANNELS));
}

pub(super) fn reference(schema: &mut Schema) {
    schema.insert("enum".into(), reference::ALL.iter().map(|reference| reference.name).collect());
}
