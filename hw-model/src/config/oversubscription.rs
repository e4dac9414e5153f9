//! Oversubscription: TBs beyond those that fit an SM, with contexts in spare storage.
//!
//! Mechanisms: Virtual Thread (Yoon et al. 2016) and GPUDuet (Lin et al. 2018; sources.md D160).

use super::GpuConfig;
use super::ranges::SECTOR_BYTES;
use serde::{Deserialize, Serialize};

/// Oversubscription of an SM's registers, shared memory and warp slots; absent: none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OversubscriptionConfig {
    /// Mechanism: which contexts are switched, and when.
    pub mechanism: OversubscriptionMechanism,
    /// Maximum number of extra TBs of an SM, in addition to those that fit; absent: as many as the
    /// storage holds with virtual thread, and the controller's choice with the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<u32>,
    /// Bytes of a context that move per core cycle, a power of two from 32 to 1,024; absent: 128
    /// (Lin et al. 2018, section 6.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 32, max = 1024)))]
    pub bytes_per_cycle: Option<u32>,
    /// Bytes of a warp's state in addition to its registers, 1 to 1,024; absent: 48 with virtual
    /// thread, 128 with the others (assumptions).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1024)))]
    pub warp_state_bytes: Option<u32>,
    /// Per mille of a kernel's registers that are live at a switch of warps, for every kernel;
    /// absent: the value from its PTX, or all registers without PTX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub live_permille: Option<u32>,
    /// Compressed size of live registers, per mille; absent: no compression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub compressed_permille: Option<u32>,
    /// Number of entries of the warp context table; absent: 128 (Lin et al. 2018, section 6.6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 128)))]
    pub table_warps: Option<u32>,
    /// Number of entries of the TB context table; absent: 32 (Lin et al. 2018, table 4; the text
    /// has 16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 32)))]
    pub table_tbs: Option<u32>,
    /// Use of the L1 for contexts, during which it holds no data; absent: while it is idle.
    #[serde(default, skip_serializing_if = "ContextsInL1::is_usual")]
    pub in_l1: ContextsInL1,
    /// Deadlock avoidance among warps that wait for switched-out warps without space to return;
    /// absent: barriers are switch points.
    #[serde(default, skip_serializing_if = "DeadlockAvoidance::is_usual")]
    pub deadlock: DeadlockAvoidance,
    /// Core cycles that the controller skips, and over which it counts before each decision;
    /// absent: 10,000 (Lin et al. 2018, section 6.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 1000000)))]
    pub interval_cycles: Option<u32>,
    /// Controller of the number of extra TBs if `extra` is absent; absent: the hardware.
    #[serde(default, skip_serializing_if = "OversubscriptionController::is_usual")]
    pub controller: OversubscriptionController,
    /// Sustainable fraction of the crossbar's peak, per mille, to which its use is compared;
    /// absent: 600 (Lin et al. 2018, section 4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000)))]
    pub sustained_permille: Option<u32>,
}

/// Mechanism of oversubscription: which contexts are switched, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OversubscriptionMechanism {
    /// Virtual thread: switches the slots of TBs whose warps all wait for memory; registers and
    /// shared memory stay.
    Virtual,
    /// GPUDuet: switches warps or TBs, depending on the limiting resource.
    Duet,
    /// GPUDuet, TBs only.
    DuetTb,
}

/// Use of the L1 for contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContextsInL1 {
    /// The L1 holds no contexts.
    Never,
    /// The L1 holds contexts if no other storage has space, and the controller finds that the L1
    /// serves nearly no accesses.
    #[default]
    Idle,
    /// The L1 holds contexts if no other storage has space.
    Always,
}

impl ContextsInL1 {
    /// True for the default, which a file may omit.
    #[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
    fn is_usual(&self) -> bool {
        *self == ContextsInL1::Idle
    }
}

/// Controller of the number of extra TBs (Lin et al. 2018, section 6.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OversubscriptionController {
    /// Hardware, without delay.
    #[default]
    Hardware,
    /// Firmware, from the same counts, after its decision time.
    Firmware,
}

impl OversubscriptionController {
    /// True for the default, which a file may omit.
    #[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
    fn is_usual(&self) -> bool {
        *self == OversubscriptionController::Hardware
    }
}

/// Deadlock avoidance among warps that wait for switched-out warps without space to return (Lin et
/// al. 2018, section 6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeadlockAvoidance {
    /// Warps that wait at a barrier may be switched out: the second way.
    #[default]
    Barriers,
    /// One TB of an SM is never switched, and no warp is switched out at a barrier: the first way.
    OneTb,
}

impl DeadlockAvoidance {
    /// True for the default, which a file may omit.
    #[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
    fn is_usual(&self) -> bool {
        *self == DeadlockAvoidance::Barriers
    }
}

/// Default bytes of a context that move per cycle: the port of the register file, of shared memory
/// and of the L1 (Lin et al. 2018, section 7.4).
pub const CONTEXT_BYTES_PER_CYCLE: u32 = 128;

/// Default bytes of a warp's state with virtual thread (assumption: 8 entries of the reconvergence
/// stack of 32 bits each, and a scoreboard of 16 bytes).
pub const VIRTUAL_STATE_BYTES: u32 = 48;

/// Default bytes of a warp's state with GPUDuet (assumption: 8 entries of the reconvergence stack
/// of 12 bytes each and a scoreboard of 16 bytes, 112 bytes, rounded up to the address granule).
pub const DUET_STATE_BYTES: u32 = 128;

/// Default number of entries of the warp context table.
pub const TABLE_WARPS: u32 = 128;
/// Default number of entries of the TB context table.
pub const TABLE_TBS: u32 = 32;

/// Default core cycles of the controller's interval.
pub const CONTEXT_INTERVAL_CYCLES: u32 = 10_000;

/// Default sustainable fraction of the crossbar's peak, per mille.
pub const SUSTAINED_PERMILLE: u32 = 600;

impl OversubscriptionConfig {
    /// Creates the configuration of a mechanism as its paper describes it.
    #[must_use]
    pub fn of(mechanism: OversubscriptionMechanism) -> Self {
        OversubscriptionConfig {
            mechanism,
            extra: None,
            bytes_per_cycle: None,
            warp_state_bytes: None,
            live_permille: None,
            compressed_permille: None,
            table_warps: None,
            table_tbs: None,
            in_l1: ContextsInL1::Idle,
            deadlock: DeadlockAvoidance::Barriers,
            interval_cycles: None,
            controller: OversubscriptionController::Hardware,
            sustained_permille: None,
        }
    }

    /// Bytes of a context that move per core cycle.
    #[must_use]
    pub fn bandwidth(&self) -> u32 {
        self.bytes_per_cycle.unwrap_or(CONTEXT_BYTES_PER_CYCLE)
    }

    /// Bytes of a warp's state in addition to its registers.
    #[must_use]
    pub fn state_bytes(&self) -> u32 {
        let usual = if self.mechanism == OversubscriptionMechanism::Virtual { VIRTUAL_STATE_BYTES } else { DUET_STATE_BYTES };
        self.warp_state_bytes.unwrap_or(usual)
    }

    /// Number of entries of the warp context table.
    #[must_use]
    pub fn warps(&self) -> u32 {
        self.table_warps.unwrap_or(TABLE_WARPS)
    }

    /// Number of entries of the TB context table.
    #[must_use]
    pub fn tbs(&self) -> u32 {
        self.table_tbs.unwrap_or(TABLE_TBS)
    }

    /// Core cycles of the controller's interval.
    #[must_use]
    pub fn interval(&self) -> u32 {
        self.interval_cycles.unwrap_or(CONTEXT_INTERVAL_CYCLES)
    }

    /// Sustainable fraction of the crossbar's peak, per mille.
    #[must_use]
    pub fn sustained(&self) -> u32 {
        self.sustained_permille.unwrap_or(SUSTAINED_PERMILLE)
    }

    /// True if the controller decides the number of extra TBs.
    #[must_use]
    pub fn is_controlled(&self) -> bool {
        self.extra.is_none() && self.mechanism != OversubscriptionMechanism::Virtual
    }

    /// True if the firmware decides the number of extra TBs.
    #[must_use]
    pub fn is_controlled_by_firmware(&self) -> bool {
        self.controller == OversubscriptionController::Firmware && self.is_controlled()
    }

    /// Number of registers per thread that move, of `registers`; `live` is the number that is known
    /// to be live at a switch of warps.
    #[must_use]
    pub fn moved_registers(&self, registers: u32, live: Option<u32>) -> u32 {
        let share = |of: u32, permille: u32| (u64::from(of) * u64::from(permille)).div_ceil(1_000) as u32;
        let live = self.live_permille.map_or(live.unwrap_or(registers), |permille| share(registers, permille));
        share(live.min(registers), self.compressed_permille.unwrap_or(1_000))
    }
}

/// First invalid field: key, value and remedy.
pub(super) fn refused(gpu: &GpuConfig) -> Option<(&'static str, u32, &'static str)> {
    let config = gpu.sm.oversubscription.as_ref()?;
    let (bandwidth, state) = (config.bandwidth(), config.state_bytes());
    let permille = |key, value: Option<u32>, must| value.filter(|value| !(1..=1_000).contains(value)).map(|value| (key, value, must));
    let most_warps = (32 * gpu.sm.sub_cores).min(128);
    let whole = "must be at least as many as an SM holds without it (sm.threads / 32), and at most 32 per sub-core and 128 in all";
    let tbs = "must be 1 to 32 TBs";
    let carved = "steps of a cache that grows into spare shared memory, and contexts are to lie there: give l1.carve_out = []";
    let interval = "must be 100 to 1,000,000 cycles";
    let found = "has no effect: \"virtual\" and sm.oversubscription.extra set the number of extra TBs without a controller; leave it out";
    let for_nothing = config.controller == OversubscriptionController::Firmware && !config.is_controlled();
    let checks = [
        (!(SECTOR_BYTES..=1_024).contains(&bandwidth) || !bandwidth.is_power_of_two()).then_some((
            "sm.oversubscription.bytes_per_cycle",
            bandwidth,
            "must be a power of two from 32 to 1,024 bytes",
        )),
        (!(1..=1_024).contains(&state)).then_some(("sm.oversubscription.warp_state_bytes", state, "must be 1 to 1,024 bytes")),
        permille("sm.oversubscription.live_permille", config.live_permille, "must be 1 to 1,000 per mille of a kernel's registers"),
        permille(
            "sm.oversubscription.compressed_permille",
            config.compressed_permille,
            "must be 1 to 1,000 per mille of the live registers",
        ),
        permille(
            "sm.oversubscription.sustained_permille",
            config.sustained_permille,
            "must be 1 to 1,000 per mille of the crossbar's peak",
        ),
        (!(gpu.sm.threads / 32..=most_warps).contains(&config.warps())).then_some((
            "sm.oversubscription.table_warps",
            config.warps(),
            whole,
        )),
        (!(1..=32).contains(&config.tbs())).then_some(("sm.oversubscription.table_tbs", config.tbs(), tbs)),
        (!(100..=1_000_000).contains(&config.interval())).then_some(("sm.oversubscription.interval_cycles", config.interval(), interval)),
        for_nothing.then_some(("sm.oversubscription.controller", 1, found)),
        (!gpu.l1.carve_out.is_empty()).then_some(("l1.carve_out", gpu.l1.carve_out.len() as u32, carved)),
    ];
    checks.into_iter().flatten().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::config;

    /// Average of Lin et al. 2018, section 6.6: 44 % of the registers.
    #[test]
    fn registers_that_move_are_rounded_up() {
        let mut duet = OversubscriptionConfig::of(OversubscriptionMechanism::Duet);
        assert_eq!(duet.moved_registers(28, None), 28);
        assert_eq!(duet.moved_registers(28, Some(17)), 17);
        assert_eq!(duet.moved_registers(28, Some(40)), 28, "no more than there are");
        duet.compressed_permille = Some(500);
        assert_eq!(duet.moved_registers(28, Some(17)), 9);
        duet.live_permille = Some(440);
        assert_eq!(duet.moved_registers(28, Some(17)), 7, "13 live ones, halved");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |change: fn(&mut OversubscriptionConfig)| {
            let mut gpu = config();
            gpu.l1.carve_out.clear();
            let mut oversubscription = OversubscriptionConfig::of(OversubscriptionMechanism::Duet);
            change(&mut oversubscription);
            gpu.sm.oversubscription = Some(oversubscription);
            gpu.check().err().map(|error| error.key)
        };
        assert_eq!(refused(|_| ()), None);
        assert_eq!(refused(|oversubscription| oversubscription.bytes_per_cycle = Some(96)), Some("sm.oversubscription.bytes_per_cycle"));
        assert_eq!(refused(|oversubscription| oversubscription.table_warps = Some(129)), Some("sm.oversubscription.table_warps"));
        assert_eq!(refused(|oversubscription| oversubscription.table_warps = Some(8)), Some("sm.oversubscription.table_warps"));
        assert_eq!(refused(|oversubscription| oversubscription.table_tbs = Some(33)), Some("sm.oversubscription.table_tbs"));
        assert_eq!(refused(|oversubscription| oversubscription.live_permille = Some(0)), Some("sm.oversubscription.live_permille"));
        assert_eq!(refused(|oversubscription| oversubscription.warp_state_bytes = Some(0)), Some("sm.oversubscription.warp_state_bytes"));
        assert_eq!(refused(|oversubscription| oversubscription.interval_cycles = Some(10)), Some("sm.oversubscription.interval_cycles"));
        let firmware = OversubscriptionController::Firmware;
        assert_eq!(refused(|oversubscription| oversubscription.controller = OversubscriptionController::Firmware), None);
        for given in [
            OversubscriptionConfig { controller: firmware, extra: Some(2), ..OversubscriptionConfig::of(OversubscriptionMechanism::Duet) },
            OversubscriptionConfig { controller: firmware, ..OversubscriptionConfig::of(OversubscriptionMechanism::Virtual) },
        ] {
            let mut gpu = config();
            gpu.l1.carve_out.clear();
            gpu.sm.oversubscription = Some(given);
            assert_eq!(gpu.check().unwrap_err().key, "sm.oversubscription.controller");
        }
        let mut gpu = config();
        gpu.sm.oversubscription = Some(OversubscriptionConfig::of(OversubscriptionMechanism::Virtual));
        assert_eq!(gpu.check().unwrap_err().key, "l1.carve_out", "the reference GPU's L1 takes spare shared memory");
    }
}
