//! The 16 barriers of a TB (PTX ISA 7.8 section 9.7.12 "bar", "barrier").
//!
//! A barrier without a number of threads waits for all warps that have not ended, as from Volta on.
//! With a number, it waits for that many threads, and each arriving warp counts as 32. If no warp
//! can continue and none will arrive, the TB hangs, which is reported as an error.

use super::exec::control::Reduction;
use crate::LANES;

/// Number of barriers per TB.
const BARRIERS: usize = 16;

/// Arrival of a warp at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the barrier.
    pub id: u8,
    /// Index of the instruction.
    pub pc: u32,
    /// Number of threads that must arrive; `None` for all live threads.
    pub threads: Option<u32>,
    /// True if the warp continues without waiting.
    pub passes: bool,
    /// Vote of the warp: the reduction, the number of voting threads, and the number of true votes.
    pub vote: Option<(Reduction, u32, u32)>,
}

/// State of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The warp can run.
    Ready,
    /// The warp waits at a barrier.
    Waiting(Arrival),
    /// All threads of the warp have ended.
    Ended,
}

#[derive(Clone, Copy, Debug, Default)]
struct Barrier {
    /// Warps that have arrived, waiting or not.
    warps: u32,
    /// Number of threads stated by the first arrival.
    threads: Option<Option<u32>>,
    /// Number of threads that voted, and number of true votes.
    voters: u32,
    yes: u32,
}

/// Barriers of one TB.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    barriers: [Barrier; BARRIERS],
}

impl Barriers {
    /// Clears all arrivals.
    pub fn clear(&mut self) {
        self.barriers = Default::default();
    }

    /// Records an arrival and returns the new state of the warp.
    ///
    /// # Errors
    /// The cause of an invalid arrival.
    pub fn arrive(&mut self, arrival: Arrival) -> Result<State, &'static str> {
        let Some(barrier) = self.barriers.get_mut(usize::from(arrival.id)) else {
            return Err("a TB has 16 barriers, 0 to 15");
        };
        if *barrier.threads.get_or_insert(arrival.threads) != arrival.threads {
            return Err("warps name different numbers of threads for the barrier");
        }
        barrier.warps += 1;
        if let Some((_, voters, yes)) = arrival.vote {
            barrier.voters += voters;
            barrier.yes += yes;
        }
        Ok(if arrival.passes { State::Ready } else { State::Waiting(arrival) })
    }

    /// Opens every complete barrier, so its warps are ready. `reduced` receives a warp, its
    /// reduction and the result. Returns true if a barrier was opened.
    pub fn open(&mut self, states: &mut [State], mut reduced: impl FnMut(usize, Reduction, u32)) -> bool {
        let live = states.iter().filter(|state| **state != State::Ended).count() as u32;
        let mut opened = false;
        for (id, barrier) in self.barriers.iter_mut().enumerate() {
            let complete = match barrier.threads {
                None => false,
                Some(None) => barrier.warps >= live,
                Some(Some(threads)) => barrier.warps * LANES as u32 >= threads,
            };
            if !complete {
                continue;
            }
            opened = true;
            for (warp, state) in states.iter_mut().enumerate() {
                if let State::Waiting(arrival) = state
                    && usize::from(arrival.id) == id
                {
                    if let Some((reduction, ..)) = arrival.vote {
                        let result = match reduction {
                            Reduction::Count(_) => barrier.yes,
                            Reduction::All(_) => u32::from(barrier.yes == barrier.voters),
                            Reduction::Any(_) => u32::from(barrier.yes > 0),
                        };
                        reduced(warp, reduction, result);
                    }
                    *state = State::Ready;
                }
            }
            *barrier = Barrier::default();
        }
        opened
    }
}

/// Describes the waiting warps of a hanging TB, for a message. `line` maps an instruction to its
/// line.
pub fn hang(states: &[State], line: impl Fn(u32) -> u32) -> String {
    let mut places: Vec<(u8, u32, Vec<usize>)> = Vec::new();
    for (warp, state) in states.iter().enumerate() {
        if let State::Waiting(arrival) = state {
            let place = (arrival.id, line(arrival.pc));
            match places.iter_mut().find(|(id, line, _)| (*id, *line) == place) {
                Some((.., warps)) => warps.push(warp),
                None => places.push((place.0, place.1, vec![warp])),
            }
        }
    }
    let list = |warps: &[usize]| {
        let numbers: Vec<String> = warps.iter().map(ToString::to_string).collect();
        format!("{} {}", if warps.len() == 1 { "warp" } else { "warps" }, numbers.join(", "))
    };
    let waiting: Vec<String> = places.iter().map(|(id, line, warps)| format!("{} at barrier {id} in line {line}", list(warps))).collect();
    let ended: Vec<usize> = (0..states.len()).filter(|&warp| states[warp] == State::Ended).collect();
    let ended = if ended.is_empty() { String::new() } else { format!("; {} ended", list(&ended)) };
    format!("the TB hangs: waiting: {}{ended}", waiting.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::WordReg;

    fn arrival(id: u8, threads: Option<u32>, passes: bool) -> Arrival {
        Arrival { id, pc: 0, threads, passes, vote: None }
    }

    #[test]
    fn ended_warps_are_not_waited_for() {
        let mut barriers = Barriers::default();
        let mut states = [State::Ready, State::Ready, State::Ended];
        states[0] = barriers.arrive(arrival(3, None, false)).unwrap();
        assert!(!barriers.open(&mut states, |_, _, _| {}));
        states[1] = barriers.arrive(arrival(3, None, false)).unwrap();
        assert!(barriers.open(&mut states, |_, _, _| {}));
        assert_eq!(states, [State::Ready, State::Ready, State::Ended]);
        assert!(!barriers.open(&mut states, |_, _, _| {}), "open once");
    }

    #[test]
    fn counted_threads_may_pass_without_waiting() {
        let mut barriers = Barriers::default();
        let mut states = [State::Ready; 4];
        states[0] = barriers.arrive(arrival(1, Some(64), false)).unwrap();
        assert!(!barriers.open(&mut states, |_, _, _| {}));
        states[3] = barriers.arrive(arrival(1, Some(64), true)).unwrap();
        assert_eq!(states[3], State::Ready);
        assert!(barriers.open(&mut states, |_, _, _| {}));
        assert_eq!(states[0], State::Ready);
        assert_eq!(barriers.arrive(arrival(16, None, false)).unwrap_err(), "a TB has 16 barriers, 0 to 15");
        barriers.arrive(arrival(2, Some(64), true)).unwrap();
        assert!(barriers.arrive(arrival(2, Some(96), true)).is_err());
    }

    #[test]
    fn votes_are_counted_once_per_round() {
        let mut barriers = Barriers::default();
        for round in 0..2 {
            let vote = |yes| Arrival { vote: Some((Reduction::Count(WordReg(0)), 32, yes)), ..arrival(0, None, false) };
            let mut states = [barriers.arrive(vote(5)).unwrap(), barriers.arrive(vote(7 + round)).unwrap()];
            let mut results = Vec::new();
            assert!(barriers.open(&mut states, |warp, _, result| results.push((warp, result))));
            assert_eq!(results, [(0, 12 + round), (1, 12 + round)]);
        }
    }

    #[test]
    fn a_hang_names_everybody() {
        let states = [
            State::Waiting(arrival(0, None, false)),
            State::Waiting(Arrival { pc: 4, ..arrival(1, Some(96), false) }),
            State::Waiting(arrival(0, None, false)),
            State::Ended,
        ];
        let text = hang(&states, |pc| 10 + pc);
        assert_eq!(text, "the TB hangs: waiting: warps 0, 2 at barrier 0 in line 10; warp 1 at barrier 1 in line 14; warp 3 ended");
    }
}
