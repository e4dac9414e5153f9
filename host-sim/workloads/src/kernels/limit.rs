//! Table `[limits]` of a kernel file: limits of a launch that differ from the defaults
//! (`mias_ptx::limits`).

use super::expression::Scope;
use super::place::{DescriptionError, Formula};
use mias_ptx::Limits;
use mias_ptx::limits::MAX_STACK_BYTES;

/// Limits as in the file; `None` is the default.
#[derive(Clone, Debug, Default)]
pub(super) struct LimitFormulas {
    /// Instructions of one warp.
    pub(super) warp_instructions: Option<Formula>,
    /// Instructions of all warps of a TB.
    pub(super) tb_instructions: Option<Formula>,
    /// Bytes of the record of one TB.
    pub(super) tb_record_bytes: Option<Formula>,
    /// Stack bytes of a thread.
    pub(super) stack_bytes: Option<Formula>,
}

impl LimitFormulas {
    /// Evaluates the limits.
    ///
    /// # Errors
    /// [`DescriptionError`] for an impossible limit.
    pub(super) fn values(&self, scope: &Scope) -> Result<Limits, DescriptionError> {
        let usual = Limits::default();
        Ok(Limits {
            warp_instructions: value(&self.warp_instructions, scope, usual.warp_instructions, i64::MAX, "instructions of a warp")?,
            tb_instructions: value(&self.tb_instructions, scope, usual.tb_instructions, i64::MAX, "instructions of a TB")?,
            record_bytes: value(&self.tb_record_bytes, scope, usual.record_bytes, i64::MAX, "bytes of a TB's record")?,
            stack_bytes: {
                let most = i64::from(MAX_STACK_BYTES);
                let bytes = value(&self.stack_bytes, scope, usual.stack_bytes.into(), most, "bytes of a thread's stack")?;
                u32::try_from(bytes).unwrap_or(MAX_STACK_BYTES)
            },
        })
    }
}

/// Returns the value of a limit, from 1 to `most`.
fn value(formula: &Option<Formula>, scope: &Scope, usual: u64, most: i64, what: &str) -> Result<u64, DescriptionError> {
    let Some(formula) = formula else { return Ok(usual) };
    let value = formula.value(scope)?;
    match u64::try_from(value) {
        Ok(found @ 1..) if value <= most => Ok(found),
        _ => {
            let with = formula.expression.with(scope);
            Err(formula.place.fail(format!("{what}: expected 1 to {most}, found {value}{with}")))
        }
    }
}
