//! Budgets of images and decisions: `firmware/budget.toml`.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::util::root;

/// Contents of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budget {
    image: ImageBudget,
    #[serde(rename = "image-132")]
    image_132: ImageBudget,
    #[serde(rename = "image-preempt")]
    image_preempt: ImageBudget,
    #[serde(rename = "image-search")]
    image_search: ImageBudget,
    #[serde(rename = "image-oversubscription")]
    image_oversubscription: ImageBudget,
    pub(crate) decision: DecisionBudget,
    #[serde(rename = "memory-limit")]
    pub(crate) memory_limit: MemoryLimitBudget,
    #[serde(rename = "context-control")]
    pub(crate) context_control: ContextControlBudget,
    pub(crate) search: SearchBudget,
    #[serde(rename = "victim-selection")]
    pub(crate) victim_selection: VictimSelectionBudget,
}

/// Build of the image, each with its own budget.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// Build for 32 SMs.
    Usual,
    /// Build for 132 SMs.
    Large,
    /// Build for 32 SMs with preemption.
    Preempt,
    /// Build for 32 SMs with the search for the number of SMs of each kernel.
    Search,
    /// Build for 32 SMs with control of extra TBs.
    Oversubscription,
}

/// All builds; the default one is last, so that it remains in the image folder.
pub(crate) const BUILDS: [Build; 5] = [Build::Large, Build::Preempt, Build::Search, Build::Oversubscription, Build::Usual];

impl Build {
    /// Returns the feature of the images' package that selects the build.
    pub(crate) fn feature(self) -> Option<&'static str> {
        match self {
            Self::Usual => None,
            Self::Large => Some("sms-132"),
            Self::Preempt => Some("preempt"),
            Self::Search => Some("search"),
            Self::Oversubscription => Some("oversubscription"),
        }
    }

    /// Returns the words after "image" in messages.
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::Usual => "",
            Self::Large => " for 132 SMs",
            Self::Preempt => " that preempts",
            Self::Search => " that searches",
            Self::Oversubscription => " that controls extra TBs",
        }
    }
}

/// Budget of a selection of victims.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VictimSelectionBudget {
    pub(crate) most_instructions_per_sm: u64,
    pub(crate) most_instructions_per_tb: u64,
}

/// Budget of a step of a search.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchBudget {
    pub(crate) most_instructions_per_kernel_and_sm: u64,
    pub(crate) most_instructions_per_sm: u64,
}

/// Budget of reading the counters of memory issue.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryLimitBudget {
    pub(crate) most_instructions_per_kernel_and_sm: u64,
}

/// Budget of reading chip utilization.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextControlBudget {
    pub(crate) most_instructions: u64,
    pub(crate) most_instructions_per_kernel: u64,
}

/// Budget of an image.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImageBudget {
    pub(crate) flash_bytes: u64,
    pub(crate) static_ram_bytes: u64,
    pub(crate) stack_bytes: u64,
}

/// Budget of a decision.
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
    /// Reads the file of budgets.
    pub(crate) fn read() -> Result<Self> {
        let path = root().join("firmware/budget.toml");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not a valid budget", path.display()))
    }

    /// Returns the budget of a build.
    pub(crate) fn image(&self, build: Build) -> ImageBudget {
        match build {
            Build::Usual => self.image,
            Build::Large => self.image_132,
            Build::Preempt => self.image_preempt,
            Build::Search => self.image_search,
            Build::Oversubscription => self.image_oversubscription,
        }
    }
}

/// Fails if the cost exceeds the budget.
pub(crate) fn keep(what: &str, taken: u64, budget: u64) -> Result<()> {
    println!("{what}: {taken} of {budget}");
    ensure!(taken <= budget, "{what}: {taken} exceeds the budget of {budget} in firmware/budget.toml");
    Ok(())
}
