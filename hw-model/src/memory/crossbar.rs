//! One subnet of the crossbar: a FIFO per input, round robin per output (algorithms.md section 2.3).
//!
//! Each cycle, every output with room takes one packet from the inputs whose *first* packet wants it, starting at its
//! pointer; the pointer moves past the input served. An input gives at most one packet per cycle, and only its first
//! packet competes: head-of-line blocking stays. Every packet is one flit.

use crate::queue::Queue;

/// A subnet with packets of type `T`.
#[derive(Clone, Debug)]
pub(super) struct Crossbar<T> {
    inputs: Vec<Queue<(u32, T)>>,
    outputs: Vec<Queue<T>>,
    /// 64-bit words per set of inputs.
    words: usize,
    /// Per output, the set of inputs whose first packet wants it.
    wanted_by: Vec<u64>,
    /// Outputs that some input wants.
    wanted: Vec<u64>,
    /// Outputs that hold a packet.
    waiting: Vec<u64>,
    /// Per output, where its round robin starts.
    pointer: Vec<u32>,
    /// Inputs served in this cycle.
    served: Vec<u32>,
    queued: u64,
    delivered: u64,
}

impl<T: Copy + Default> Crossbar<T> {
    pub(super) fn new(inputs: u32, outputs: u32, input_buffer: u32, output_buffer: u32) -> Self {
        let words = inputs.div_ceil(64) as usize;
        let output_words = outputs.div_ceil(64) as usize;
        Crossbar {
            inputs: (0..inputs).map(|_| Queue::new(input_buffer)).collect(),
            outputs: (0..outputs).map(|_| Queue::new(output_buffer)).collect(),
            words,
            wanted_by: vec![0; words * outputs as usize],
            wanted: vec![0; output_words],
            waiting: vec![0; output_words],
            pointer: vec![0; outputs as usize],
            served: Vec::with_capacity(outputs as usize),
            queued: 0,
            delivered: 0,
        }
    }

    /// Whether the input can take one more packet.
    #[inline]
    pub(super) fn can_push(&self, input: usize) -> bool {
        !self.inputs[input].is_full()
    }

    /// Queues a packet.
    #[inline]
    pub(super) fn push(&mut self, input: usize, output: usize, packet: T) {
        self.inputs[input].push((output as u32, packet));
        self.queued += 1;
        if self.inputs[input].len() == 1 {
            self.compete(input, output);
        }
    }

    fn compete(&mut self, input: usize, output: usize) {
        self.wanted_by[output * self.words + input / 64] |= 1 << (input % 64);
        self.wanted[output / 64] |= 1 << (output % 64);
    }

    /// One cycle.
    pub(super) fn advance(&mut self) {
        if self.queued == 0 {
            return;
        }
        self.served.clear();
        for w in 0..self.wanted.len() {
            let mut rest = self.wanted[w];
            while rest != 0 {
                let output = w * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if !self.outputs[output].is_full() {
                    self.serve(output);
                }
            }
        }
        for i in 0..self.served.len() {
            let input = self.served[i] as usize;
            if let Some(&(output, _)) = self.inputs[input].front() {
                self.compete(input, output as usize);
            }
        }
    }

    fn serve(&mut self, output: usize) {
        let candidates = &mut self.wanted_by[output * self.words..(output + 1) * self.words];
        let input = next_from(candidates, self.pointer[output] as usize);
        candidates[input / 64] &= !(1 << (input % 64));
        if candidates.iter().all(|&word| word == 0) {
            self.wanted[output / 64] &= !(1 << (output % 64));
        }
        self.pointer[output] = if input + 1 == self.inputs.len() { 0 } else { input as u32 + 1 };
        if let Some((_, packet)) = self.inputs[input].pop() {
            self.outputs[output].push(packet);
        }
        self.waiting[output / 64] |= 1 << (output % 64);
        self.served.push(input as u32);
        self.queued -= 1;
        self.delivered += 1;
    }

    /// Outputs that hold a packet, as a bit set.
    #[inline]
    pub(super) fn waiting(&self) -> &[u64] {
        &self.waiting
    }

    /// The next packet at an output.
    #[inline]
    pub(super) fn peek(&self, output: usize) -> Option<&T> {
        self.outputs[output].front()
    }

    /// Takes the next packet at an output.
    #[inline]
    pub(super) fn pop(&mut self, output: usize) -> Option<T> {
        let packet = self.outputs[output].pop();
        if packet.is_some() {
            self.delivered -= 1;
            if self.outputs[output].is_empty() {
                self.waiting[output / 64] &= !(1 << (output % 64));
            }
        }
        packet
    }

    /// Whether packets wait at an input.
    #[inline]
    pub(super) fn has_queued(&self) -> bool {
        self.queued > 0
    }

    /// Packets in the subnet.
    #[cfg(test)]
    pub(super) fn held(&self) -> u64 {
        self.queued + self.delivered
    }

    /// No packet anywhere.
    pub(super) fn is_idle(&self) -> bool {
        self.queued + self.delivered == 0
    }
}

/// The first member at or after `start`, going round; the set must not be empty.
fn next_from(set: &[u64], start: usize) -> usize {
    let first = start / 64;
    let head = set[first] & (u64::MAX << (start % 64));
    if head != 0 {
        return first * 64 + head.trailing_zeros() as usize;
    }
    for step in 1..=set.len() {
        let w = (first + step) % set.len();
        if set[w] != 0 {
            return w * 64 + set[w].trailing_zeros() as usize;
        }
    }
    unreachable!("the set of competing inputs is empty")
}

#[cfg(test)]
#[path = "crossbar_tests.rs"]
mod tests;
