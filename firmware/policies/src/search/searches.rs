//! Interface of a searching policy: the next trial, its length, and the result.

use mias_firmware::configs::{ConfigTable, MAX_KERNELS};
use mias_firmware::policy::{Context, Next, Plan, fall_back, spatial};

use super::{Parameters, Search};

/// Limit of each kernel; 0 for none.
pub type Limits = [u8; MAX_KERNELS];

/// Decisions of a searching policy, with the state of its own steps.
pub trait Searches {
    /// Fills the table with an entry for each kernel.
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        one_each(context, table)
    }

    /// Drops the state of earlier trials.
    fn begin(&mut self) {}

    /// Selects the next trial, or ends the search: called at the start, and after each step's
    /// windows.
    fn search(&mut self, context: &Context<'_>, search: &mut Search) -> Next;

    /// Handles the end of a step's settling window, whose counts were read.
    fn settled(&mut self, search: &mut Search) {
        let _ = search;
    }

    /// Restores the best result so far.
    fn give_up(&mut self, search: &mut Search) {
        let _ = search;
    }

    /// Returns the unmeasured cycles of a step.
    fn settle_cycles(&self, parameters: &Parameters) -> u32 {
        parameters.warm_up.max(1)
    }

    /// Returns the measured cycles of a step.
    fn measure_cycles(&self, parameters: &Parameters) -> u32 {
        parameters.window.max(1)
    }

    /// Returns the limit of each kernel's active warps under test, or the final one; none if the
    /// policy never limits them.
    ///
    /// A policy with limits also reads the L1 counts.
    fn limits(&self) -> Option<Limits> {
        None
    }

    /// Returns whether the policy needs the count of DRAM row hits.
    fn counts_row_hits(&self) -> bool {
        false
    }

    /// Returns the progress of each kernel on the final shares, or on the best so far; empty
    /// without an estimate.
    ///
    /// It is the estimated IPC over the IPC alone on all SMs, in parts of 2^14.
    fn progress(&self) -> &[u32] {
        &[]
    }
}

/// Adds a configuration for each kernel, which a search assigns to SMs. One kernel alone gets all
/// SMs. With fewer SMs than kernels it falls back.
fn one_each<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    if !spatial::fill(context, table) {
        return fall_back(context, table);
    }
    if context.kernels.len() < 2 { Plan::Place } else { Plan::Search }
}
