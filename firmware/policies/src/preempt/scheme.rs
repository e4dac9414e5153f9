//! Whom the firmware preempts, and how: Shieh 2016 and what it is compared with (section 4; sources.md D134).

use super::cost::Draining;
use mias_registers::preempt_scheme;

/// A scheme: the codes of [`preempt_scheme`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Scheme {
    /// No TB is preempted.
    #[default]
    None = preempt_scheme::NONE as u8,
    /// Sets of TBs that make room for one; they run to their end.
    Drain = preempt_scheme::DRAIN as u8,
    /// The same sets; they are switched out.
    Switch = preempt_scheme::SWITCH as u8,
    /// The same sets; TBs that may be flushed are, the others are switched out.
    Flush = preempt_scheme::FLUSH as u8,
    /// Whole SMs (Park et al. 2015, as Shieh 2016 has it).
    Chimera = preempt_scheme::CHIMERA as u8,
    /// The same with Shieh's estimates of draining.
    ChimeraPlus = preempt_scheme::CHIMERA_PLUS as u8,
    /// Sets of TBs that make room for one, each by the technique that costs least (Shieh 2016).
    Shieh = preempt_scheme::SHIEH as u8,
    /// The same with known draining times.
    Oracle = preempt_scheme::ORACLE as u8,
}

impl Scheme {
    /// All, in the order of their codes.
    pub const ALL: [Self; 8] =
        [Self::None, Self::Drain, Self::Switch, Self::Flush, Self::Chimera, Self::ChimeraPlus, Self::Shieh, Self::Oracle];

    /// The scheme of a code.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| *scheme as u32 == code)
    }

    /// Whole SMs are handed over.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        matches!(self, Self::Chimera | Self::ChimeraPlus)
    }

    /// Draining times are taken from where they are known.
    #[must_use]
    pub const fn knows(self) -> bool {
        matches!(self, Self::Oracle)
    }

    /// How draining times are estimated.
    #[must_use]
    pub const fn draining(self) -> Draining {
        if matches!(self, Self::Chimera) { Draining::Chimera } else { Draining::Shieh }
    }
}
