//! Transitions of SMs between configurations, by the names that users type.

use super::requests::Scheme;
use crate::choice::Choice;
use mias_hw_model::config::GpuConfig;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Transition of SMs from one configuration to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transition {
    /// TBs beyond the new quota run to their end (the thesis).
    Drain,
    /// TBs beyond the new quota are dropped at once and restart later: no transition time.
    Ideal,
    /// The firmware preempts TBs beyond their quota, or in the way of a kernel of higher priority
    /// (Shieh 2016).
    Preempt(Scheme),
}

/// Nanoseconds allowed for a preemption without a latency limit: the longest of Shieh 2016, section
/// 4.3.
pub const PREEMPT_LIMIT_NS: u64 = 5_000;

impl Transition {
    /// Returns the preemption scheme, if TBs are preempted.
    pub fn scheme(self) -> Option<Scheme> {
        if let Transition::Preempt(scheme) = self { Some(scheme) } else { None }
    }

    /// Returns whether the firmware preempts TBs.
    pub fn preempts(self) -> bool {
        self.scheme().is_some()
    }

    /// Returns a GPU that supports the transition: with preemption on its SMs, if needed.
    pub fn on(self, gpu: &GpuConfig) -> Cow<'_, GpuConfig> {
        if !self.preempts() || gpu.sm.preemption.is_some() {
            return Cow::Borrowed(gpu);
        }
        let mut gpu = gpu.clone();
        gpu.sm.preemption = Some(Default::default());
        Cow::Owned(gpu)
    }
}

impl Choice for Transition {
    const ALL: &'static [Self] = &[
        Transition::Drain,
        Transition::Ideal,
        Transition::Preempt(Scheme::Drain),
        Transition::Preempt(Scheme::Switch),
        Transition::Preempt(Scheme::Flush),
        Transition::Preempt(Scheme::Chimera),
        Transition::Preempt(Scheme::ChimeraPlus),
        Transition::Preempt(Scheme::Shieh),
        Transition::Preempt(Scheme::Oracle),
    ];

    fn name(self) -> &'static str {
        match self {
            Transition::Drain => "drain",
            Transition::Ideal => "ideal",
            Transition::Preempt(Scheme::Drain) => "preempt:drain",
            Transition::Preempt(Scheme::Switch) => "preempt:switch",
            Transition::Preempt(Scheme::Flush) => "preempt:flush",
            Transition::Preempt(Scheme::Chimera) => "preempt:chimera",
            Transition::Preempt(Scheme::ChimeraPlus) => "preempt:chimera-plus",
            Transition::Preempt(Scheme::Shieh) => "preempt:shieh",
            Transition::Preempt(Scheme::Oracle) => "preempt:oracle",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Transition::Drain => "TBs beyond the new quota run to their end (the thesis)",
            Transition::Ideal => "TBs beyond the new quota are dropped at once and restart later: no transition time",
            Transition::Preempt(Scheme::Shieh) => "The firmware preempts sets of TBs to place one TB (Shieh 2016); also `preempt` alone",
            Transition::Preempt(Scheme::ChimeraPlus) => "The same with the estimates of Shieh 2016",
            Transition::Preempt(Scheme::Oracle) => "As preempt:shieh, with known draining times",
            Transition::Preempt(scheme) => scheme.help(),
        }
    }

    fn alias(self) -> Option<&'static str> {
        (self == Transition::Preempt(Scheme::Shieh)).then_some("preempt")
    }
}

impl Serialize for Transition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All schemes are available, each by its own name after `preempt:`; `preempt` alone is
    /// Shieh's.
    #[test]
    fn every_scheme_is_a_transition() {
        for &scheme in Scheme::ALL {
            let name = format!("preempt:{}", scheme.name());
            assert_eq!(Transition::find(&name).map(Choice::name), Some(name.as_str()));
            assert_eq!(Transition::find(&name), Some(Transition::Preempt(scheme)));
        }
        assert_eq!(Transition::ALL.len(), 2 + Scheme::ALL.len());
        assert_eq!(Transition::find("preempt"), Some(Transition::Preempt(Scheme::Shieh)));
        assert_eq!(serde_json::to_string(&Transition::Preempt(Scheme::ChimeraPlus)).unwrap(), r#""preempt:chimera-plus""#);
    }

    #[test]
    fn a_gpu_gets_what_preemption_takes_and_keeps_what_it_has() {
        let mut gpu = crate::gpus::load("rtx2060").unwrap();
        assert!(Transition::Ideal.on(&gpu).sm.preemption.is_none());
        let preempt = Transition::Preempt(Scheme::Switch);
        assert_eq!(preempt.on(&gpu).sm.preemption, Some(Default::default()));
        let own = mias_hw_model::config::PreemptionConfig { warp_state_bytes: 64, ..Default::default() };
        gpu.sm.preemption = Some(own);
        assert_eq!(preempt.on(&gpu).sm.preemption, Some(own));
    }
}
