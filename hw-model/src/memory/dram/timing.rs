//! DRAM timing constraints in the form that the controller uses, in command cycles.
//!
//! Derived as in GPGPU-Sim: with burst = beats / beats per cycle,
//! * read to write: CL + burst + 2 - WL;
//! * write to read: WL + burst + CDLR;
//! * write to precharge of the same bank: WL + burst + WR;
//! * activate to write: RCD - (WL + 1), since write data come WL later;
//! * read to precharge: burst for the same bank, RTP for the bank's group.

use crate::config::DramConfig;

/// Minimum distances between commands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Column to column.
    pub(super) column: u64,
    /// Column to column in a bank group.
    pub(super) column_group: u64,
    /// Activate to activate, different banks.
    pub(super) activate_any: u64,
    /// Activate to activate, same bank.
    pub(super) activate_bank: u64,
    /// Activate to read.
    pub(super) activate_read: u64,
    /// Activate to write.
    pub(super) activate_write: u64,
    /// Activate to precharge.
    pub(super) activate_precharge: u64,
    /// Precharge to activate.
    pub(super) precharge_activate: u64,
    /// Read to write.
    pub(super) read_write: u64,
    /// Write to read.
    pub(super) write_read: u64,
    /// Read to precharge, same bank.
    pub(super) read_precharge: u64,
    /// Read to precharge, same bank group.
    pub(super) read_precharge_group: u64,
    /// Write to precharge, same bank.
    pub(super) write_precharge: u64,
    /// Read command to data.
    pub(super) read_latency: u64,
    /// Write command to data.
    pub(super) write_latency: u64,
}

impl Timing {
    pub(super) fn new(config: &DramConfig) -> Self {
        let t = &config.timing;
        let burst = config.burst_beats.div_ceil(config.beats_per_cycle);
        Timing {
            column: t.t_ccd.into(),
            column_group: t.t_ccdl.into(),
            activate_any: t.t_rrd.into(),
            activate_bank: t.t_rc.into(),
            activate_read: t.t_rcd.into(),
            activate_write: t.t_rcd.saturating_sub(t.t_wl + 1).into(),
            activate_precharge: t.t_ras.into(),
            precharge_activate: t.t_rp.into(),
            read_write: (t.t_cl + burst + 2).saturating_sub(t.t_wl).into(),
            write_read: (t.t_wl + burst + t.t_cdlr).into(),
            read_precharge: burst.into(),
            read_precharge_group: t.t_rtp.into(),
            write_precharge: (t.t_wl + burst + t.t_wr).into(),
            read_latency: t.t_cl.into(),
            write_latency: t.t_wl.into(),
        }
    }
}
