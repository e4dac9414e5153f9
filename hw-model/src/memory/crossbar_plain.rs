//! Plain subnet: a queue per port, and a loop over outputs and inputs. Start reading here.
//! [`super::Crossbar`] does the same with sets of inputs in words of the host;
//! `behaves_as_the_plain_subnet` compares both.

use crate::config::Arbiter;
use std::collections::VecDeque;

/// Plain subnet; packets are numbers.
pub(super) struct PlainCrossbar {
    /// Per input, its packets, oldest first, with their outputs and flits.
    inputs: Vec<VecDeque<(usize, u8, u32)>>,
    /// Per output, the packet that it receives: its input, the flits that have not crossed, and the
    /// packet.
    receives: Vec<Option<(usize, u8, u32)>>,
    /// Per output, its packets.
    pub(super) outputs: Vec<VecDeque<u32>>,
    /// Per output, the first input of its round robin.
    pointers: Vec<usize>,
    /// Capacity of an input, and of an output, in packets.
    room: (usize, usize),
    arbiter: Arbiter,
    /// State of xorshift64* (Vigna 2016), for random arbitration.
    random: u64,
}

impl PlainCrossbar {
    pub(super) fn new((inputs, outputs): (u32, u32), room: (u32, u32), arbiter: Arbiter) -> Self {
        PlainCrossbar {
            inputs: vec![VecDeque::new(); inputs as usize],
            receives: vec![None; outputs as usize],
            outputs: vec![VecDeque::new(); outputs as usize],
            pointers: vec![0; outputs as usize],
            room: (room.0 as usize, room.1 as usize),
            arbiter,
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// Random choice among several candidates; a single one needs no draw.
    fn pick(&mut self, candidates: &[usize]) -> Option<usize> {
        if candidates.len() > 1 {
            for (right, by) in [(true, 12), (false, 25), (true, 27)] {
                self.random ^= if right { self.random >> by } else { self.random << by };
            }
            let high = u128::from(self.random.wrapping_mul(0x2545_F491_4F6C_DD1D)) >> 32;
            return candidates.get((high * candidates.len() as u128 / (1 << 32)) as usize).copied();
        }
        candidates.first().copied()
    }

    pub(super) fn can_push(&self, input: usize) -> bool {
        self.inputs[input].len() < self.room.0
    }

    pub(super) fn push(&mut self, input: usize, output: usize, flits: u8, packet: u32) {
        self.inputs[input].push_back((output, flits, packet));
    }

    /// True if packets wait at an input, or are in transfer.
    pub(super) fn has_queued(&self) -> bool {
        self.inputs.iter().any(|queue| !queue.is_empty()) || self.receives.iter().any(Option::is_some)
    }

    /// Runs one cycle. Every output that receives a packet takes its next flit. Every other one
    /// with space takes the first flit of a packet. It comes from the first requesting input from
    /// its pointer on, or from a random one. A packet arrives with its last flit.
    pub(super) fn advance(&mut self) {
        // Requests are those at the start of the cycle. The packet behind the first does not
        // compete before the next one, nor while another leaves its input. Where an input may send
        // several, it competes when the first has left.
        let inputs = self.inputs.len();
        let sent = |receives: &[Option<(usize, u8, u32)>], input: usize| receives.iter().flatten().any(|&(from, ..)| from == input);
        let sending: Vec<bool> = (0..inputs).map(|input| sent(&self.receives, input)).collect();
        let first = |queue: &VecDeque<(usize, u8, u32)>| queue.front().map(|&(output, ..)| output);
        let mut wanted: Vec<Option<usize>> = (0..inputs).map(|input| first(&self.inputs[input]).filter(|_| !sending[input])).collect();
        for output in 0..self.outputs.len() {
            if let Some((_, flits_left, packet)) = &mut self.receives[output] {
                *flits_left -= 1;
                if *flits_left == 0 {
                    self.outputs[output].push_back(*packet);
                    self.receives[output] = None;
                }
                continue;
            }
            if self.outputs[output].len() == self.room.1 {
                continue;
            }
            let from = if self.arbiter == Arbiter::Random { 0 } else { self.pointers[output] };
            let in_turn = (0..inputs).map(|step| (from + step) % inputs);
            let candidates: Vec<usize> = in_turn.filter(|&input| wanted[input] == Some(output)).collect();
            let served = if self.arbiter == Arbiter::Random { self.pick(&candidates) } else { candidates.first().copied() };
            let Some(input) = served else { continue };
            match self.inputs[input].pop_front() {
                Some((_, 1, packet)) => self.outputs[output].push_back(packet),
                Some((_, flits, packet)) => self.receives[output] = Some((input, flits - 1, packet)),
                None => {}
            }
            self.pointers[output] = match self.arbiter {
                Arbiter::RoundRobin | Arbiter::SeveralPerInput | Arbiter::Random => (input + 1) % inputs,
                Arbiter::SkipOne if input + 2 < inputs => input + 2,
                Arbiter::SkipOne => 0,
            };
            if self.arbiter == Arbiter::SeveralPerInput {
                wanted[input] = first(&self.inputs[input]).filter(|_| !sent(&self.receives, input));
            }
        }
    }

    pub(super) fn pop(&mut self, output: usize) -> Option<u32> {
        self.outputs[output].pop_front()
    }
}
