//! What a policy says of its search: what to try next, for how long, and what it found.

use mias_firmware::configs::{ConfigTable, MAX_KERNELS};
use mias_firmware::policy::{Context, Next, Plan, fall_back, spatial};

use super::{Parameters, Search};

/// A limit for each kernel; 0: none.
pub type Limits = [u8; MAX_KERNELS];

/// What decides in a search, with what only its steps need.
pub trait Searches {
    /// Fills the table with an entry for each kernel.
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        one_each(context, table)
    }

    /// Forgets what was tried.
    fn begin(&mut self) {}

    /// What to try next, or that the search is over: called when it begins, and whenever a step's windows are over.
    fn search(&mut self, context: &Context<'_>, search: &mut Search) -> Next;

    /// The window in which a step settles is over, and its counts were read.
    fn settled(&mut self, search: &mut Search) {
        let _ = search;
    }

    /// The best that was found stays.
    fn give_up(&mut self, search: &mut Search) {
        let _ = search;
    }

    /// Cycles of a step that are not measured.
    fn settle_cycles(&self, parameters: &Parameters) -> u32 {
        parameters.warm_up.max(1)
    }

    /// Cycles of a step that are measured.
    fn measure_cycles(&self, parameters: &Parameters) -> u32 {
        parameters.window.max(1)
    }

    /// The limit of each kernel's active warps that is tried, or that stays; none if it never limits them. One that does reads what the L1s count.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// Whether it has to know which DRAM accesses found their row open.
    fn counts_row_hits(&self) -> bool {
        false
    }

    /// The progress of each kernel on the shares that stay, or that are the best so far: its IPC over that alone on all SMs, as estimated, in parts of
    /// 2^14; of no kernel where nothing is estimated.
    fn progress(&self) -> &[u32] {
        &[]
    }
}

/// A configuration for each kernel, to be dealt to SMs by a search. One kernel alone has them all; fewer SMs than kernels fall back.
fn one_each<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    if !spatial::fill(context, table) {
        return fall_back(context, table);
    }
    if context.kernels.len() < 2 { Plan::Place } else { Plan::Search }
}
