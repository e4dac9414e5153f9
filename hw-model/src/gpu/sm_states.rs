//! State of each SM: active, stalled, gated, or in transition (Zhao et al. 2018, section 4;
//! sources.md D142). The firmware requests states ([`mias_registers::sm::STATE_REQUEST`]), and this
//! module executes the requests.
//!
//! | state | issues | takes TBs | holds TBs | ends |
//! |---|---|---|---|---|
//! | active | yes | yes | yes | at a request for another state |
//! | stalled | no | no | yes | at a request for another state |
//! | emptying | yes | no | yes | gated when nothing is on the SM or in flight to it, or at a request for another state |
//! | gated | no | no | no | waking at a request for another state |
//! | waking | no | no | no | after the GPU's wake time, in the state requested then |
//!
//! The schedulers of a stalled SM select nothing ([`crate::sm::Sm::stall`]). Its requests in flight
//! return, its L1 is filled, and its TBs later continue where they stopped. TB issue skips every SM
//! that is not active.

use super::Gpu;
use crate::counts::counts;
use mias_registers::sm_state;

counts! {
    /// SM cycles by state, summed over SMs, and number of wake-ups. Every SM is in one state in
    /// every cycle.
    #[derive(serde::Serialize, serde::Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub struct SmStateCycles {
        /// SM cycles in the active state, or not empty yet before gating.
        pub active: u64,
        /// SM cycles in the stalled state.
        pub stalled: u64,
        /// SM cycles without power.
        pub gated: u64,
        /// SM cycles of waking.
        pub waking: u64,
        /// Number of wake-ups.
        pub wakes: u64,
    }
}

/// State of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Stalled,
    Emptying,
    Gated,
    /// Waking; active from this cycle on.
    Waking(u64),
}

impl State {
    /// State that a powered SM takes at once at a request.
    fn asked(request: u32) -> State {
        match request {
            sm_state::ACTIVE => State::Active,
            sm_state::STALLED => State::Stalled,
            _ => State::Emptying,
        }
    }

    /// State in cycle `now` after a request.
    fn next(self, request: u32, now: u64, wake_cycles: u64) -> State {
        match self {
            State::Gated if request == sm_state::GATED => State::Gated,
            State::Gated => State::Waking(now + wake_cycles).next(request, now, wake_cycles),
            State::Waking(until) if until > now => self,
            State::Waking(_) | State::Active | State::Stalled | State::Emptying => State::asked(request),
        }
    }

    /// Code of the state in the register block.
    fn code(self) -> u32 {
        match self {
            State::Active => sm_state::ACTIVE,
            State::Stalled => sm_state::STALLED,
            State::Emptying => sm_state::EMPTYING,
            State::Gated => sm_state::GATED,
            State::Waking(_) => sm_state::WAKING,
        }
    }
}

/// State of one SM, its start, and the cycles spent in each state.
#[derive(Clone, Debug)]
struct Record {
    state: State,
    since: u64,
    cycles: SmStateCycles,
}

impl Record {
    /// Cycles before `now` by state.
    fn counted(&self, now: u64) -> SmStateCycles {
        let mut cycles = self.cycles;
        let count = match self.state {
            State::Active | State::Emptying => &mut cycles.active,
            State::Stalled => &mut cycles.stalled,
            State::Gated => &mut cycles.gated,
            State::Waking(_) => &mut cycles.waking,
        };
        *count += now.saturating_sub(self.since);
        cycles
    }

    /// Enters another state from cycle `from` on.
    fn enter(&mut self, state: State, from: u64) {
        (self.cycles, self.since) = (self.counted(from), from);
        self.cycles.wakes += u64::from(self.state == State::Gated);
        self.state = state;
    }
}

/// States of all SMs.
#[derive(Clone, Debug)]
pub(super) struct SmStates {
    sms: Vec<Record>,
    /// Generation of the executed requests.
    generation: u32,
    wake_cycles: u64,
    /// True once a state other than active has been requested.
    used: bool,
    /// True while an SM is emptying.
    emptying: bool,
    /// First cycle in which a waking SM is awake.
    next_awake: u64,
}

impl SmStates {
    /// Creates active SMs.
    pub(super) fn new(sms: usize, wake_cycles: u32) -> Self {
        let active = Record { state: State::Active, since: 0, cycles: SmStateCycles::default() };
        SmStates {
            sms: vec![active; sms],
            generation: 0,
            wake_cycles: wake_cycles.into(),
            used: false,
            emptying: false,
            next_awake: u64::MAX,
        }
    }

    /// True if TBs may be issued to an SM.
    pub(super) fn takes_tbs(&self, sm: usize) -> bool {
        !self.used || self.sms[sm].state == State::Active
    }

    /// Next cycle in which a state changes without a request; `u64::MAX` if none does.
    pub(super) fn next(&self) -> u64 {
        self.next_awake
    }

    /// True if an SM is to be gated as soon as it is empty.
    pub(super) fn is_emptying(&self) -> bool {
        self.emptying
    }

    /// SM cycles in each state before `now`; none if every SM has always been active.
    pub(super) fn cycles(&self, now: u64) -> Option<SmStateCycles> {
        use crate::counts::Count;
        self.used.then(|| {
            let mut sum = SmStateCycles::default();
            self.sms.iter().for_each(|sm| sum.add(&sm.counted(now)));
            sum
        })
    }

    /// True if an SM is stalled.
    pub(super) fn is_stalled(&self, sm: usize) -> bool {
        self.sms[sm].state == State::Stalled
    }

    /// True if an SM is gated or waking.
    pub(super) fn is_off(&self, sm: usize) -> bool {
        matches!(self.sms[sm].state, State::Gated | State::Waking(_))
    }

    /// Name of the state, for reports; none for an active SM.
    pub(super) fn describe(&self, sm: usize) -> Option<&'static str> {
        match self.sms[sm].state {
            State::Active => None,
            State::Stalled => Some("stalled by the firmware"),
            State::Emptying => Some("to be gated, takes no TB"),
            State::Gated => Some("gated by the firmware"),
            State::Waking(_) => Some("waking"),
        }
    }
}

impl Gpu {
    /// Activates SMs that are awake and executes the firmware's requests, before a cycle.
    pub(super) fn follow_states(&mut self) {
        let asked = self.states.generation != self.registers.state_generation();
        if !asked && self.now < self.states.next_awake {
            return;
        }
        self.states.generation = self.registers.state_generation();
        self.states.next_awake = u64::MAX;
        for sm in 0..self.sms.len() {
            let request = self.registers.state_request(sm);
            self.states.used |= request != sm_state::ACTIVE;
            let before = self.states.sms[sm].state;
            self.enter_state(sm, before.next(request, self.now, self.states.wake_cycles), self.now);
            if let State::Waking(until) = self.states.sms[sm].state {
                self.states.next_awake = self.states.next_awake.min(until);
            }
        }
        self.gate_empty(self.now);
    }

    /// Gates emptying SMs from cycle `from` on, if nothing is on them or in flight to them.
    pub(super) fn gate_empty(&mut self, from: u64) {
        if !self.states.emptying {
            return;
        }
        for sm in 0..self.sms.len() {
            if self.states.sms[sm].state == State::Emptying && self.sms[sm].is_quiet() {
                self.enter_state(sm, State::Gated, from);
                // A gated SM loses the contents of its L1.
                if self.sms[sm].l1_used() {
                    let ways = self.sms[sm].l1_ways();
                    self.sms[sm].reset_l1(ways, from);
                }
            }
        }
        self.states.emptying = self.states.sms.iter().any(|sm| sm.state == State::Emptying);
    }

    fn enter_state(&mut self, sm: usize, state: State, from: u64) {
        let before = self.states.sms[sm].state;
        if state == before {
            return;
        }
        self.states.sms[sm].enter(state, from);
        self.states.emptying |= state == State::Emptying;
        self.registers.show_state(sm, state.code());
        if (state == State::Stalled) != (before == State::Stalled) {
            self.sms[sm].stall(state == State::Stalled, from);
            self.sms.wake(sm, from);
        }
        // TBs that were to return to it may go to another SM.
        self.dispatcher.room_everywhere();
    }
}
