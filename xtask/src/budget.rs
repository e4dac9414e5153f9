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
    #[serde(rename = "image-preempt")]
    image_preempt: ImageBudget,
    #[serde(rename = "image-search")]
    image_search: ImageBudget,
    #[serde(rename = "image-contexts")]
    image_contexts: ImageBudget,
    pub(crate) decision: DecisionBudget,
    #[serde(rename = "memory-limit")]
    pub(crate) memory_limit: MemoryLimitBudget,
    #[serde(rename = "context-control")]
    pub(crate) context_control: ContextControlBudget,
    pub(crate) search: SearchBudget,
    #[serde(rename = "victim-selection")]
    pub(crate) victim_selection: VictimSelectionBudget,
}

/// A build of the image, each with a budget of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// For 32 SMs.
    Usual,
    /// For 132 SMs.
    Large,
    /// For 32 SMs, with preemption.
    Preempt,
    /// For 32 SMs, with the search for how many SMs each kernel needs.
    Search,
    /// For 32 SMs, with control of extra TBs.
    Contexts,
}

/// All of them; the usual one last, so that it is what is left where images are.
pub(crate) const BUILDS: [Build; 5] = [Build::Large, Build::Preempt, Build::Search, Build::Contexts, Build::Usual];

impl Build {
    /// The feature of the images' package that makes it.
    pub(crate) fn feature(self) -> Option<&'static str> {
        match self {
            Self::Usual => None,
            Self::Large => Some("sms-132"),
            Self::Preempt => Some("preempt"),
            Self::Search => Some("search"),
            Self::Contexts => Some("contexts"),
        }
    }

    /// What is said of it behind "image".
    pub(crate) fn said(self) -> &'static str {
        match self {
            Self::Usual => "",
            Self::Large => " for 132 SMs",
            Self::Preempt => " that preempts",
            Self::Search => " that searches",
            Self::Contexts => " that controls extra TBs",
        }
    }
}

/// What a selection of victims may take.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VictimSelectionBudget {
    pub(crate) most_instructions_per_sm: u64,
    pub(crate) most_instructions_per_tb: u64,
}

/// What a step of a search may take.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchBudget {
    pub(crate) most_instructions_per_kernel_and_sm: u64,
    pub(crate) most_instructions_per_sm: u64,
}

/// What a look at the counters of memory issue may take.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryLimitBudget {
    pub(crate) most_instructions_per_kernel_and_sm: u64,
}

/// What a look at how busy the chip was may take.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContextControlBudget {
    pub(crate) most_instructions: u64,
    pub(crate) most_instructions_per_kernel: u64,
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
    pub(crate) fn image(&self, build: Build) -> ImageBudget {
        match build {
            Build::Usual => self.image,
            Build::Large => self.image_132,
            Build::Preempt => self.image_preempt,
            Build::Search => self.image_search,
            Build::Contexts => self.image_contexts,
        }
    }
}

/// Fails when more was taken than there is.
pub(crate) fn keep(what: &str, taken: u64, budget: u64) -> Result<()> {
    println!("{what}: {taken} of {budget}");
    ensure!(taken <= budget, "{what}: {taken}, and the budget in firmware/budget.toml is {budget}");
    Ok(())
}
