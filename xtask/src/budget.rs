//! `firmware/budget.toml`: the numbers that the images and the decision must keep.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::util::root;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budget {
    image: ImageBudget,
    #[serde(rename = "image-132")]
    image_132: ImageBudget,
    pub(crate) decision: DecisionBudget,
    #[serde(rename = "memory-limit")]
    pub(crate) memory_limit: MemoryLimitBudget,
}

/// What a look at the counters of memory issue may take.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryLimitBudget {
    pub(crate) most_instructions_per_kernel_and_sm: u64,
}

/// What an image may take.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImageBudget {
    pub(crate) flash_bytes: u64,
    pub(crate) static_ram_bytes: u64,
    pub(crate) stack_bytes: u64,
}

/// What a decision may take.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionBudget {
    pub(crate) most_times_floor: u64,
    pub(crate) most_times_floor_of_many: u64,
    pub(crate) most_percent_of_spatial: u64,
    pub(crate) most_instructions_ahead: u64,
    pub(crate) most_instructions_in_all: u64,
    pub(crate) most_floor_instructions_per_read: u64,
    pub(crate) least_times_less_than_thesis: u64,
}

impl Budget {
    /// Reads the file.
    pub(crate) fn read() -> Result<Self> {
        let path = root().join("firmware/budget.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not a budget", path.display()))
    }

    /// The budget of a build.
    pub(crate) fn image(&self, large: bool) -> ImageBudget {
        if large { self.image_132 } else { self.image }
    }
}

/// Fails when more was taken than there is.
pub(crate) fn keep(what: &str, taken: u64, budget: u64) -> Result<()> {
    println!("{what}: {taken} of {budget}");
    ensure!(taken <= budget, "{what}: {taken}, and the budget in firmware/budget.toml is {budget}");
    Ok(())
}
