//! A subnet as one would first write it: a queue per port, and a loop over outputs and inputs. Start reading here. [`super::Crossbar`]
//! does the same with sets of inputs in words of the host; `behaves_as_the_plain_subnet` runs both side by side.

use crate::config::Arbiter;
use std::collections::VecDeque;

/// A subnet; packets are numbers.
pub(super) struct PlainCrossbar {
    /// Per input, its packets, oldest first, with the outputs that they want.
    pub(super) inputs: Vec<VecDeque<(usize, u32)>>,
    /// Per output, its packets.
    pub(super) outputs: Vec<VecDeque<u32>>,
    /// Per output, the input that it asks first.
    pointers: Vec<usize>,
    /// Packets that an input may hold, and an output.
    room: (usize, usize),
    arbiter: Arbiter,
}

impl PlainCrossbar {
    pub(super) fn new((inputs, outputs): (u32, u32), room: (u32, u32), arbiter: Arbiter) -> Self {
        PlainCrossbar {
            inputs: vec![VecDeque::new(); inputs as usize],
            outputs: vec![VecDeque::new(); outputs as usize],
            pointers: vec![0; outputs as usize],
            room: (room.0 as usize, room.1 as usize),
            arbiter,
        }
    }

    pub(super) fn can_push(&self, input: usize) -> bool {
        self.inputs[input].len() < self.room.0
    }

    pub(super) fn push(&mut self, input: usize, output: usize, packet: u32) {
        self.inputs[input].push_back((output, packet));
    }

    /// One cycle: every output with room takes one packet, of the first input from its pointer on whose first packet wants it.
    pub(super) fn advance(&mut self) {
        // As the cycle begins: the packet behind the first does not compete before the next one.
        let wanted: Vec<Option<usize>> = self.inputs.iter().map(|queue| queue.front().map(|&(output, _)| output)).collect();
        for output in 0..self.outputs.len() {
            if self.outputs[output].len() == self.room.1 {
                continue;
            }
            let inputs = self.inputs.len();
            let mut in_turn = (0..inputs).map(|step| (self.pointers[output] + step) % inputs);
            let Some(input) = in_turn.find(|&input| wanted[input] == Some(output)) else { continue };
            self.outputs[output].extend(self.inputs[input].pop_front().map(|(_, packet)| packet));
            self.pointers[output] = match self.arbiter {
                Arbiter::RoundRobin => (input + 1) % inputs,
                Arbiter::SkipOne if input + 2 < inputs => input + 2,
                Arbiter::SkipOne => 0,
            };
        }
    }

    pub(super) fn pop(&mut self, output: usize) -> Option<u32> {
        self.outputs[output].pop_front()
    }
}
