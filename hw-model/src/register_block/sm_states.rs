//! Requested and actual states of SMs ([`mias_registers::sm_state`]; Zhao et al. 2018, section 4;
//! sources.md D142). The GPU executes the requests.

use mias_registers::{fault, feature, sm_state};

use super::RegisterBlock;

/// Requested and actual state of each SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateBlock {
    /// Requested and actual codes, by SM.
    sms: Vec<(u8, u8)>,
    /// Number that changes with every request.
    generation: u32,
}

impl StateBlock {
    /// Creates a block with all SMs active.
    pub(super) fn new(sms: usize) -> Self {
        StateBlock { sms: vec![(sm_state::ACTIVE as u8, sm_state::ACTIVE as u8); sms], generation: 0 }
    }

    /// Requested state of an SM.
    pub(super) fn request(&self, sm: usize) -> u32 {
        self.sms.get(sm).map_or(sm_state::ACTIVE, |(request, _)| u32::from(*request))
    }

    /// Actual state of an SM.
    pub(super) fn shown(&self, sm: usize) -> u32 {
        self.sms.get(sm).map_or(sm_state::ACTIVE, |(_, shown)| u32::from(*shown))
    }
}

impl RegisterBlock {
    /// Stores the firmware's request for an SM.
    pub(super) fn request_state(&mut self, sm: usize, value: u32) {
        let request = self.in_range(value, sm_state::ACTIVE, sm_state::GATED);
        let needs = match request {
            sm_state::ACTIVE => 0,
            sm_state::STALLED => feature::SM_STATES,
            _ => feature::SM_STATES | feature::POWER_GATING,
        };
        if self.gpu.features & needs != needs {
            self.raise_fault(fault::UNSUPPORTED);
        } else if let Some(state) = self.states.sms.get_mut(sm) {
            state.0 = request as u8;
            self.states.generation = self.states.generation.wrapping_add(1);
        }
    }

    /// Requested state of an SM: [`sm_state`].
    #[must_use]
    pub fn state_request(&self, sm: usize) -> u32 {
        self.states.request(sm)
    }

    /// Number that changes whenever the firmware requests a state.
    #[must_use]
    pub fn state_generation(&self) -> u32 {
        self.states.generation
    }

    /// Reports the actual state of an SM: [`sm_state`].
    pub fn show_state(&mut self, sm: usize, state: u32) {
        if let Some(shown) = self.states.sms.get_mut(sm) {
            shown.1 = state as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMS, gpu};
    use super::*;
    use crate::register_block::GpuDescription;
    use mias_registers::bus::Bus;
    use mias_registers::sm;

    fn file(features: u32) -> RegisterBlock {
        RegisterBlock::new(GpuDescription { features, ..gpu() })
    }

    #[test]
    fn a_request_is_what_the_hardware_can_do() {
        let all = [sm_state::ACTIVE, sm_state::STALLED, sm_state::GATED];
        for (features, most) in
            [(0, sm_state::ACTIVE), (feature::SM_STATES, sm_state::STALLED), (feature::SM_STATES | feature::POWER_GATING, sm_state::GATED)]
        {
            for code in all {
                let mut file = file(features);
                file.write32(sm::at(3, sm::STATE_REQUEST), code);
                let can = code <= most;
                assert_eq!(file.read32(sm::at(3, sm::STATE_REQUEST)), if can { code } else { sm_state::ACTIVE });
                assert_eq!(file.faults(), if can { 0 } else { fault::UNSUPPORTED });
                assert!((0..SMS).filter(|sm| *sm != 3).all(|sm| file.state_request(sm) == sm_state::ACTIVE));
                assert_eq!(file.read32(sm::at(3, sm::STATE)), sm_state::ACTIVE, "the hardware has not said otherwise");
            }
        }
    }

    #[test]
    fn a_code_beyond_is_clamped() {
        let mut file = file(feature::SM_STATES | feature::POWER_GATING);
        file.write32(sm::at(0, sm::STATE_REQUEST), sm_state::WAKING);
        assert_eq!((file.state_request(0), file.faults()), (sm_state::GATED, fault::VALUE_RANGE));
    }
}
