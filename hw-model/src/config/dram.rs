//! Device memory: `[dram]` of a GPU file.

use super::{DramSchedulerConfig, GpuConfig, SetIndex, is_off};
use serde::{Deserialize, Serialize};

/// Device memory. Timing is in DRAM command cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Number of channels.
    pub channels: u32,
    /// Number of banks per channel.
    pub banks: u32,
    /// Number of bank groups per channel.
    pub bank_groups: u32,
    /// Bus width per channel in bytes.
    pub bus_bytes: u32,
    /// Beats per burst.
    pub burst_beats: u32,
    /// Data beats per command cycle.
    pub beats_per_cycle: u32,
    /// Number of requests that the FR-FCFS queue of a channel can hold.
    pub queue: u32,
    /// Number of finished requests that can wait to return, per channel.
    pub return_queue: u32,
    /// Fixed latency in core cycles between L2 and the memory controller.
    pub latency: u32,
    /// With FR-FCFS: maximum number of consecutive row hits of a bank while an older request to
    /// another row of it waits; absent or 0: no limit.
    #[serde(default, skip_serializing_if = "is_off")]
    pub row_hit_cap: u32,
    /// Arbitration among kernels at a bank; absent: FR-FCFS, which does not distinguish kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<DramSchedulerConfig>,
    /// Row, column and bank bits of the address after channel selection.
    pub address: AddressMap,
    /// Timing constraints.
    pub timing: DramTiming,
}

/// DRAM timing constraints in command cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DramTiming {
    /// Column command to column command, same bank group or without bank groups.
    pub t_ccd: u32,
    /// Column command to column command within a bank group.
    pub t_ccdl: u32,
    /// Activate to activate, different banks.
    pub t_rrd: u32,
    /// Activate to column.
    pub t_rcd: u32,
    /// Activate to precharge.
    pub t_ras: u32,
    /// Precharge to activate.
    pub t_rp: u32,
    /// Activate to activate, same bank.
    pub t_rc: u32,
    /// Read command to data.
    pub t_cl: u32,
    /// Write command to data.
    pub t_wl: u32,
    /// End of write data to read command (last data in to read).
    pub t_cdlr: u32,
    /// End of write data to precharge.
    pub t_wr: u32,
    /// Read to precharge.
    pub t_rtp: u32,
    /// Window in which a channel issues at most four activates; absent or 0: no such window.
    #[serde(default, skip_serializing_if = "is_off")]
    pub t_faw: u32,
    /// Interval between refreshes of all banks; absent or 0, as `t_rfc`: no refresh.
    #[serde(default, skip_serializing_if = "is_off")]
    pub t_refi: u32,
    /// Refresh to the next command.
    #[serde(default, skip_serializing_if = "is_off")]
    pub t_rfc: u32,
}

impl DramTiming {
    /// Smallest `t_refi` that leaves time to open a row and read it between two refreshes: twice
    /// the maximum time before, in and after a refresh.
    pub(crate) fn least_refresh_interval(&self) -> u64 {
        let once = [self.t_rfc, self.t_rc, self.t_ras, self.t_rp, self.t_rcd, self.t_wl, self.t_wr, self.t_cl, self.t_cdlr];
        2 * once.into_iter().map(u64::from).sum::<u64>()
    }
}

/// Address mapping (sources.md D68). Channel = (address >> `channel_shift`) mod channels. The rest
/// is `((address >> channel_shift) div channels) << channel_shift | low bits`, and these masks cut
/// it into fields. The lowest bank bits are the slice of the channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AddressMap {
    /// Lowest address bit that takes part in channel selection.
    pub channel_shift: u32,
    /// Row bits within the rest, lowest first.
    pub row_bits: Vec<u8>,
    /// Bank bits within the rest, lowest first.
    pub bank_bits: Vec<u8>,
    /// Column bits within the rest, lowest first.
    pub column_bits: Vec<u8>,
    /// Distribution of addresses over slices; absent: linear, as above. With `ipoly`, `channels`
    /// must be a power of two, and the number made of quotient, channel and slice of the channel is
    /// hashed like the set index (sources.md D115).
    #[serde(default, skip_serializing_if = "SetIndex::is_linear")]
    pub index: SetIndex,
}

impl GpuConfig {
    /// Peak bandwidth of device memory: a number of 32-byte sectors, one per burst on every
    /// channel, and the core cycles in which they move.
    #[must_use]
    pub(crate) fn dram_sectors(&self) -> (u64, u64) {
        let beats = u64::from(self.dram.channels) * u64::from(self.dram.beats_per_cycle) * u64::from(self.clocks.dram_khz);
        (beats, u64::from(self.dram.burst_beats) * u64::from(self.clocks.core_khz))
    }
}
