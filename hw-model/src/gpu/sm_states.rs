//! What each SM is: active, stalled, without power, or on its way there or back (Zhao et al. 2018, section 4; sources.md D142). The firmware
//! asks ([`mias_registers::sm::STATE_REQUEST`]); here is what becomes of it.
//!
//! | state | issues | takes TBs | holds TBs | ends |
//! |---|---|---|---|---|
//! | active | yes | yes | yes | when it is asked for another |
//! | stalled | no | no | yes | when it is asked for another |
//! | emptying | yes | no | yes | gated when nothing is on the SM or in flight to it, or when it is asked for another |
//! | gated | no | no | no | waking when it is asked for another |
//! | waking | no | no | no | after the machine's time, with what it is asked for then |
//!
//! A stalled SM is one whose schedulers pick nothing ([`crate::sm::Sm::stall`]): what it has in flight comes back, what has come for its L1 is
//! filled in, and its TBs go on where they stood. TB issue passes by whatever is not active.

use super::Gpu;
use crate::counts::counts;
use mias_registers::sm_state;

counts! {
    /// SM cycles by what the SMs were, summed over SMs, and how often one was woken. Every SM is in one state in every cycle.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub struct SmStateCycles {
        /// Active, or about to be gated and not empty yet.
        pub active: u64,
        /// Stalled.
        pub stalled: u64,
        /// Without power.
        pub gated: u64,
        /// Getting power again.
        pub waking: u64,
        /// Times that an SM was woken.
        pub wakes: u64,
    }
}

/// What an SM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Stalled,
    Emptying,
    Gated,
    /// Awake from this cycle on.
    Waking(u64),
}

impl State {
    /// What an SM with power becomes at once when it is asked for something.
    fn asked(request: u32) -> State {
        match request {
            sm_state::ACTIVE => State::Active,
            sm_state::STALLED => State::Stalled,
            _ => State::Emptying,
        }
    }

    /// What it is in cycle `now`, when it is asked for something.
    fn next(self, request: u32, now: u64, wake_cycles: u64) -> State {
        match self {
            State::Gated if request == sm_state::GATED => State::Gated,
            State::Gated => State::Waking(now + wake_cycles).next(request, now, wake_cycles),
            State::Waking(until) if until > now => self,
            State::Waking(_) | State::Active | State::Stalled | State::Emptying => State::asked(request),
        }
    }

    /// As the register block shows it.
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

/// One SM: what it is, since when, and for how long it has been what.
#[derive(Clone, Debug)]
struct Record {
    state: State,
    since: u64,
    cycles: SmStateCycles,
}

impl Record {
    /// The cycles before `now` are counted.
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

    /// It is something else from cycle `from` on.
    fn enter(&mut self, state: State, from: u64) {
        (self.cycles, self.since) = (self.counted(from), from);
        self.cycles.wakes += u64::from(self.state == State::Gated);
        self.state = state;
    }
}

/// All SMs.
#[derive(Clone, Debug)]
pub(super) struct SmStates {
    sms: Vec<Record>,
    /// Requests that have been followed.
    generation: u32,
    wake_cycles: u64,
    /// Some SM has been asked to be something else than active.
    used: bool,
    /// Some SM is emptying.
    emptying: bool,
    /// First cycle in which an SM is awake.
    next_awake: u64,
}

impl SmStates {
    /// All active.
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

    /// Whether TBs may be issued to an SM.
    pub(super) fn takes_tbs(&self, sm: usize) -> bool {
        !self.used || self.sms[sm].state == State::Active
    }

    /// The next cycle in which a state changes by itself; `u64::MAX` if none does.
    pub(super) fn next(&self) -> u64 {
        self.next_awake
    }

    /// Whether an SM is to be gated as soon as nothing is on it.
    pub(super) fn is_emptying(&self) -> bool {
        self.emptying
    }

    /// SM cycles in each state before `now`; none if every SM has been active all the time.
    pub(super) fn cycles(&self, now: u64) -> Option<SmStateCycles> {
        use crate::counts::Count;
        self.used.then(|| {
            let mut sum = SmStateCycles::default();
            self.sms.iter().for_each(|sm| sum.add(&sm.counted(now)));
            sum
        })
    }

    /// Whether an SM issues nothing.
    pub(super) fn is_stalled(&self, sm: usize) -> bool {
        self.sms[sm].state == State::Stalled
    }

    /// Whether an SM has no power, or only begins to have it.
    pub(super) fn is_off(&self, sm: usize) -> bool {
        matches!(self.sms[sm].state, State::Gated | State::Waking(_))
    }

    /// In a word, for reports; none for an active SM.
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
    /// Before a cycle: SMs that are awake now are, and what the firmware has asked for is done.
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

    /// SMs that are to be gated are, from cycle `from` on, if nothing is on them or in flight to them.
    pub(super) fn gate_empty(&mut self, from: u64) {
        if !self.states.emptying {
            return;
        }
        for sm in 0..self.sms.len() {
            if self.states.sms[sm].state == State::Emptying && self.sms[sm].is_quiet() {
                self.enter_state(sm, State::Gated, from);
                // What has no power forgets.
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
        // What was to return to it may go elsewhere.
        self.dispatcher.room_everywhere();
    }
}
