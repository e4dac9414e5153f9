//! Fuzz target for the properties of `firmware/policies/tests/bodies` and `firmware/tests/bodies`:
//! arbitrary events for the state machine, registers for the driver, and demands and counters. The
//! first byte selects the property.
#![no_main]

#[path = "../../firmware/policies/tests/bodies/mod.rs"]
mod bodies;
#[path = "../../firmware/tests/bodies/numbers.rs"]
mod numbers;

use bodies::block::{answer, driver_survives};
use bodies::scheduling::{Input, always_comes_to_rest};
use libfuzzer_sys::fuzz_target;
use mias_firmware::configs::{RoundTotals, Sums};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use numbers::{configurations_are_feasible, scores_are_ordered};

/// Numbers from bytes; 0 beyond the end.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn more(&self) -> bool {
        !self.0.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes([(); 4].map(|()| self.byte()))
    }

    fn input(&mut self) -> Input {
        let (kind, place) = (self.byte(), self.byte());
        let later = u16::from(self.byte()) << 4;
        // Shapes matter for launches only, so most events have three bytes.
        let numbers = if kind % 24 < 16 { [(); 3].map(|()| self.word()) } else { [0; 3] };
        Input { kind, place, numbers, later }
    }

    fn sums(&mut self) -> Sums {
        let sms = self.word() as u16;
        let [cycles, issue_cycles, memory_stall_cycles, load_requests, instructions] = [(); 5].map(|()| self.word());
        let outstanding_misses = u64::from(self.word()) << 32 | u64::from(self.word());
        Sums { sms, cycles, issue_cycles, memory_stall_cycles, load_requests, instructions, outstanding_misses, saturated: false }
    }

    fn resources(&mut self) -> Resources {
        Resources { threads: self.word(), registers: self.word(), shared_bytes: self.word(), tbs: u32::from(self.byte() % 64) }
    }
}

fuzz_target!(|data: &[u8]| {
    let mut words = Words(data);
    match words.byte() % 4 {
        0 => {
            let policy = words.word();
            always_comes_to_rest(policy, std::iter::from_fn(|| words.more().then(|| words.input())));
        }
        1 => {
            let (policy, interrupts) = (words.word(), words.byte() % 40);
            let mut answers = Vec::new();
            while words.more() {
                answers.push(answer(words.word()));
            }
            driver_survives(&answers, policy, interrupts.into());
        }
        2 => {
            let capacity = words.resources();
            let limits =
                SmLimits { capacity, warp_threads: words.word(), register_granule: words.word(), shared_granule_bytes: words.word() };
            let mut shapes = Vec::new();
            while words.more() && shapes.len() < 4 {
                let shape = TbShape { threads: words.word(), thread_registers: words.word(), shared_bytes: words.word() };
                shapes.push((shape, words.byte()));
            }
            configurations_are_feasible(&limits, &shapes, 200);
        }
        _ => {
            let (one, other, sms) = (words.sums(), words.sums(), words.word() as u16);
            let totals = RoundTotals { sms, outstanding_misses: u64::from(words.word()) << 8 };
            scores_are_ordered(&one, &other, &totals, words.word(), words.byte() % 2 == 0);
        }
    }
});
