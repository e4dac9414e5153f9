//! Preemption schemes: Shieh 2016 and its references (section 4; sources.md D134).

use super::cost::Draining;
use mias_registers::preempt_scheme;

/// Preemption scheme, with the codes of [`preempt_scheme`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Scheme {
    /// No TB is preempted.
    #[default]
    None = preempt_scheme::NONE as u8,
    /// Sets of TBs that free space for one TB, and run to their end.
    Drain = preempt_scheme::DRAIN as u8,
    /// Sets of TBs that free space for one TB, by switching.
    Switch = preempt_scheme::SWITCH as u8,
    /// Sets of TBs that free space for one TB, by flushing if allowed and otherwise by switching.
    Flush = preempt_scheme::FLUSH as u8,
    /// Whole SMs (Park et al. 2015, as described in Shieh 2016).
    Chimera = preempt_scheme::CHIMERA as u8,
    /// Whole SMs, with Shieh's estimates of draining.
    ChimeraPlus = preempt_scheme::CHIMERA_PLUS as u8,
    /// Sets of TBs that free space for one TB, each by the technique of least cost (Shieh 2016).
    Shieh = preempt_scheme::SHIEH as u8,
    /// Sets of TBs that free space for one TB, as `Shieh` selects them with known draining times.
    Oracle = preempt_scheme::ORACLE as u8,
}

impl Scheme {
    /// All schemes in the order of their codes.
    pub const ALL: [Self; 8] =
        [Self::None, Self::Drain, Self::Switch, Self::Flush, Self::Chimera, Self::ChimeraPlus, Self::Shieh, Self::Oracle];

    /// Returns the scheme of a code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| *scheme as u32 == code)
    }

    /// Returns whether whole SMs are handed over.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Chimera | Self::ChimeraPlus)
    }

    /// Returns whether known draining times are used.
    #[must_use]
    pub const fn knows(self) -> bool {
        matches!(self, Self::Oracle)
    }

    /// Returns the estimate of draining times.
    #[must_use]
    pub const fn draining(self) -> Draining {
        if matches!(self, Self::Chimera) { Draining::Chimera } else { Draining::Shieh }
    }
}
