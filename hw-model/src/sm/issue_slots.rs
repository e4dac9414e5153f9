//! Why a scheduler did not issue: exactly one class per scheduler and cycle (Nasef 2023, section 4.1.2 and
//! figure 4.1; sources.md D56 for the split of RAW).

/// What a scheduler did in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum IssueClass {
    /// Issued one instruction.
    Issued,
    /// No warp has a valid instruction: none resident, at a barrier, or being fetched.
    IdleOrControl,
    /// Valid instructions, all wait for registers, at least one for that of a load through the L1 (global, local or texture memory).
    MemoryRaw,
    /// As before without such a load, at least one for that of a load from shared memory.
    SharedRaw,
    /// As before without such a load, at least one for that of a load from constant memory.
    ConstantRaw,
    /// Valid instructions, all wait for registers that arithmetic will write.
    ComputeRaw,
    /// Ready instructions found the memory pipeline full.
    MemoryPipeline,
    /// Ready instructions found the memory pipeline full, others their arithmetic pipelines.
    BothPipelines,
    /// Ready instructions found their arithmetic pipelines full.
    ComputePipeline,
    /// Warps could have issued, and none was allowed to (sources.md D123 and D142). Only where a machine holds memory instructions back, or an
    /// SM is stalled.
    Held,
}

/// Number of [`IssueClass`]es.
pub const ISSUE_CLASSES: usize = 10;

impl IssueClass {
    /// All classes, in the order of their counters.
    pub const ALL: [IssueClass; ISSUE_CLASSES] = [
        IssueClass::Issued,
        IssueClass::IdleOrControl,
        IssueClass::MemoryRaw,
        IssueClass::SharedRaw,
        IssueClass::ConstantRaw,
        IssueClass::ComputeRaw,
        IssueClass::MemoryPipeline,
        IssueClass::BothPipelines,
        IssueClass::ComputePipeline,
        IssueClass::Held,
    ];

    /// The classes that `slots` are of, in order: [`IssueClass::Held`] only if any is.
    pub fn of<T: Default + PartialEq>(slots: &[T; ISSUE_CLASSES]) -> impl Iterator<Item = IssueClass> {
        let held = slots[IssueClass::Held as usize] != T::default();
        IssueClass::ALL.into_iter().filter(move |&class| held || class != IssueClass::Held)
    }

    /// Name for people, in tables and legends.
    pub fn heading(self) -> &'static str {
        match self {
            IssueClass::Issued => "issued",
            IssueClass::IdleOrControl => "idle or control",
            IssueClass::MemoryRaw => "memory RAW",
            IssueClass::SharedRaw => "shared RAW",
            IssueClass::ConstantRaw => "constant RAW",
            IssueClass::ComputeRaw => "compute RAW",
            IssueClass::MemoryPipeline => "memory pipeline",
            IssueClass::BothPipelines => "both pipelines",
            IssueClass::ComputePipeline => "compute pipeline",
            IssueClass::Held => "held back",
        }
    }

    /// Name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            IssueClass::Issued => "issued",
            IssueClass::IdleOrControl => "idle_or_control",
            IssueClass::MemoryRaw => "memory_raw",
            IssueClass::SharedRaw => "shared_raw",
            IssueClass::ConstantRaw => "constant_raw",
            IssueClass::ComputeRaw => "compute_raw",
            IssueClass::MemoryPipeline => "memory_pipeline",
            IssueClass::BothPipelines => "both_pipelines",
            IssueClass::ComputePipeline => "compute_pipeline",
            IssueClass::Held => "held",
        }
    }
}

/// Scheduler-cycles per class, indexed by [`IssueClass`].
pub type IssueSlots = [u64; ISSUE_CLASSES];
