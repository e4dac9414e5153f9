//! What it costs to choose victims: from the interrupt to the last command.
//!
//! Linear in the SMs that want room and the TBs that are on them: of each SM the firmware reads who wants room and what has ended, of each TB
//! what it has done and where it lies, and a set of victims is looked for among as many positions as there are TBs.
//!
//! Interim (assumption): these are not counted yet, but estimated from the accesses, with four instructions to each.

use super::LatencyTable;
use mias_hw_model::config::MicrocontrollerCore;

/// Instructions of an interrupt, of an SM that wants room, and of a TB there.
const INTERRUPT: u64 = 200;
const PER_SM: u64 = 400;
const PER_TB: u64 = 150;

impl LatencyTable {
    /// Instructions that choosing victims takes on `sms` SMs that want room and hold `tbs` TBs together.
    pub fn preemption(&self, _core: MicrocontrollerCore, sms: u32, tbs: u32) -> u64 {
        INTERRUPT + PER_SM * u64::from(sms) + PER_TB * u64::from(tbs)
    }
}
