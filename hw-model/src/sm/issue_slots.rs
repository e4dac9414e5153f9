//! Issue slots: exactly one class per scheduler and cycle (Nasef 2023, section 4.1.2 and figure
//! 4.1; sources.md D56 for the split of RAW).

/// Class of a scheduler's cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum IssueClass {
    /// One instruction issued.
    Issued,
    /// No warp has a valid instruction: none resident, at a barrier, or being fetched.
    IdleOrControl,
    /// All valid instructions wait for registers, at least one for that of a load through the L1
    /// (global, local or texture memory).
    MemoryRaw,
    /// All valid instructions wait for registers, none for a load through the L1, and at least one
    /// for a load from shared memory.
    SharedRaw,
    /// All valid instructions wait for registers, none for a load through the L1 or from shared
    /// memory, and at least one for a load from constant memory.
    ConstantRaw,
    /// All valid instructions wait for registers that arithmetic will write.
    ComputeRaw,
    /// All ready instructions found the memory pipeline full.
    MemoryPipeline,
    /// Some ready instructions found the memory pipeline full, others their arithmetic pipelines.
    BothPipelines,
    /// All ready instructions found their arithmetic pipelines full.
    ComputePipeline,
    /// Warps could have issued, but none was allowed to (sources.md D123 and D142). Only with
    /// memory-issue control or on a stalled SM.
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

    /// Classes of `slots`, in order: [`IssueClass::Held`] only if it occurs.
    pub fn of<T: Default + PartialEq>(slots: &[T; ISSUE_CLASSES]) -> impl Iterator<Item = IssueClass> {
        let held = slots[IssueClass::Held as usize] != T::default();
        IssueClass::ALL.into_iter().filter(move |&class| held || class != IssueClass::Held)
    }

    /// Display name, in tables and legends.
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
