//! One subnet of the crossbar: a FIFO per input, and round-robin (sources.md D65) or random
//! (sources.md D168) arbitration per output.
//!
//! Each cycle, every output with space takes one packet from the inputs whose *first* packet
//! requests it, starting at its pointer. The pointer moves past the input served, and past the next
//! one too with the skipping arbiter. An input sends at most one packet per cycle, and only its
//! first packet competes: head-of-line blocking remains. A packet of several flits occupies its
//! input and its output for as many cycles, and arrives with its last flit.
//!
//! Start reading with the plain twin, `crossbar_plain.rs`. Here sets of inputs and of outputs are
//! words of 64 bits, so that the cost of a cycle depends on the packets moved.

use super::random_arbiter::RandomArbiter;
use crate::config::{Arbiter, InterconnectConfig};
use crate::queue::Queue;

/// Output: its packets, and the input at which its round robin starts.
#[derive(Clone, Debug)]
struct Output<T> {
    packets: Queue<T>,
    pointer: u32,
}

/// Destination and length of a packet.
#[derive(Clone, Copy, Debug, Default)]
struct Address {
    output: u16,
    flits: u8,
}

/// Packet of several flits in transfer.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer<T> {
    packet: T,
    input: u16,
    /// Number of flits that have not crossed; 0: no packet.
    flits_left: u8,
}

/// Subnet with packets of type `T`.
#[derive(Clone, Debug)]
pub(super) struct Crossbar<T> {
    inputs: Vec<Queue<(Address, T)>>,
    outputs: Vec<Output<T>>,
    /// Number of 64-bit words per set of inputs.
    words: usize,
    /// Distance from the input served last to the first candidate.
    step: u32,
    /// Random arbiter, instead of the pointers; none: round robin.
    arbiter: Option<RandomArbiter>,
    /// True if an input may send to several outputs in a cycle.
    several: bool,
    /// Per output, the set of inputs whose first packet requests it.
    wanted_by: Vec<u64>,
    /// Set of requested outputs.
    wanted: Vec<u64>,
    /// Set of outputs that hold a packet.
    waiting: Vec<u64>,
    /// Inputs served in this cycle that have a packet left, and the output that it requests.
    again: Vec<(u16, u16)>,
    /// Packet of several flits that each output receives, and the set of receiving outputs.
    transfers: Vec<Transfer<T>>,
    receiving: Vec<u64>,
    /// Set of inputs that send a packet of several flits.
    sending: Vec<u64>,
    /// Number of packets at inputs or in transfer.
    queued: u64,
}

impl<T: Copy + Default> Crossbar<T> {
    /// Creates a subnet in which every output starts with input `first`.
    pub(super) fn new((inputs, outputs): (u32, u32), config: &InterconnectConfig, first: u32) -> Self {
        let &InterconnectConfig { input_buffer, output_buffer, arbiter, .. } = config;
        let words = inputs.div_ceil(64) as usize;
        let output_words = outputs.div_ceil(64) as usize;
        Crossbar {
            inputs: (0..inputs).map(|_| Queue::new(input_buffer)).collect(),
            outputs: (0..outputs)
                .map(|_| Output { packets: Queue::new(output_buffer), pointer: if first < inputs { first } else { 0 } })
                .collect(),
            words,
            step: arbiter.step(),
            arbiter: (arbiter == Arbiter::Random).then(RandomArbiter::default),
            several: arbiter == Arbiter::SeveralPerInput,
            wanted_by: vec![0; words * outputs as usize],
            wanted: vec![0; output_words],
            waiting: vec![0; output_words],
            again: Vec::with_capacity(outputs as usize),
            transfers: vec![Transfer::default(); outputs as usize],
            receiving: vec![0; output_words],
            sending: vec![0; words],
            queued: 0,
        }
    }

    /// True if the input can take one more packet.
    #[inline]
    pub(super) fn can_push(&self, input: usize) -> bool {
        !self.inputs[input].is_full()
    }

    /// Free entries of the inputs from `first` on.
    #[inline]
    pub(super) fn room(&self, first: usize) -> impl Iterator<Item = u32> {
        self.inputs.iter().skip(first).map(Queue::room)
    }

    /// Number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Free entries of the fullest input, and of the fullest output.
    pub(super) fn least_room(&self) -> (u32, u32) {
        let inputs = self.inputs.iter().map(Queue::room).min();
        let outputs = self.outputs.iter().map(|output| output.packets.room()).min();
        (inputs.unwrap_or(0), outputs.unwrap_or(0))
    }

    /// Queues a packet of `flits` flits, at least one.
    #[inline]
    pub(super) fn push(&mut self, input: usize, output: usize, flits: u8, packet: T) {
        let queue = &mut self.inputs[input];
        let is_first = queue.is_empty();
        queue.push((Address { output: output as u16, flits }, packet));
        self.queued += 1;
        if is_first && !self.is_sending(input) {
            self.compete(input, output);
        }
    }

    /// True if a packet of several flits is leaving the input.
    #[inline]
    fn is_sending(&self, input: usize) -> bool {
        self.sending[input / 64] >> (input % 64) & 1 == 1
    }

    fn compete(&mut self, input: usize, output: usize) {
        self.wanted_by[output * self.words + input / 64] |= 1 << (input % 64);
        self.wanted[output / 64] |= 1 << (output % 64);
    }

    /// Runs one cycle.
    pub(super) fn advance(&mut self) {
        self.advance_to(|_, packet| Some(packet));
    }

    /// Runs one cycle. `take` receives each packet that arrives at an output, with the output's
    /// number; a packet that it returns waits there.
    pub(super) fn advance_to(&mut self, mut take: impl FnMut(usize, T) -> Option<T>) {
        if self.queued == 0 {
            return;
        }
        for w in 0..self.wanted.len() {
            let receiving = self.receiving[w];
            let mut rest = self.wanted[w] & !receiving;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                let output = w * 64 + bit as usize;
                rest &= rest - 1;
                if self.outputs[output].packets.is_full() {
                    continue;
                }
                self.serve(output, &mut take);
                if self.several {
                    // Later outputs may have new requests.
                    rest = self.wanted[w] & !receiving & u64::MAX << bit << 1;
                }
            }
            let mut rest = receiving;
            while rest != 0 {
                let output = w * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.receive(output, &mut take);
            }
        }
        while let Some((input, output)) = self.again.pop() {
            self.compete(input as usize, output as usize);
        }
    }

    #[inline(always)]
    fn serve(&mut self, output: usize, take: &mut impl FnMut(usize, T) -> Option<T>) {
        let to = &mut self.outputs[output];
        let candidates = &mut self.wanted_by[output * self.words..][..self.words];
        let start = match &mut self.arbiter {
            None => to.pointer as usize,
            Some(arbiter) => arbiter.member(candidates),
        };
        let (input, is_last) = take_next(candidates, start);
        self.wanted[output / 64] &= !(u64::from(is_last) << (output % 64));
        let next = input as u32 + self.step;
        to.pointer = if next as usize >= self.inputs.len() { 0 } else { next };
        let from = &mut self.inputs[input];
        let Some((Address { flits, .. }, packet)) = from.pop() else { return };
        if flits > 1 {
            self.transfers[output] = Transfer { packet, input: input as u16, flits_left: flits - 1 };
            self.receiving[output / 64] |= 1 << (output % 64);
            self.sending[input / 64] |= 1 << (input % 64);
            return;
        }
        if let Some(&(Address { output, .. }, _)) = from.front() {
            if self.several {
                self.compete(input, usize::from(output));
            } else {
                self.again.push((input as u16, output));
            }
        }
        self.queued -= 1;
        if let Some(packet) = take(output, packet) {
            self.wait_at(output, packet);
        }
    }

    /// Receives the next flit of an output's packet. Space for the packet was reserved with its
    /// first flit.
    fn receive(&mut self, output: usize, take: &mut impl FnMut(usize, T) -> Option<T>) {
        let transfer = &mut self.transfers[output];
        transfer.flits_left -= 1;
        if transfer.flits_left > 0 {
            return;
        }
        let Transfer { packet, input, .. } = *transfer;
        if let Some(&(Address { output, .. }, _)) = self.inputs[usize::from(input)].front() {
            self.again.push((input, output));
        }
        self.receiving[output / 64] &= !(1 << (output % 64));
        self.sending[usize::from(input) / 64] &= !(1 << (input % 64));
        self.queued -= 1;
        if let Some(packet) = take(output, packet) {
            self.wait_at(output, packet);
        }
    }

    /// Lets a packet wait at an output, after those present.
    #[inline]
    pub(super) fn wait_at(&mut self, output: usize, packet: T) {
        self.outputs[output].packets.push(packet);
        self.waiting[output / 64] |= 1 << (output % 64);
    }

    /// Set of outputs that hold a packet.
    #[inline]
    pub(super) fn waiting(&self) -> &[u64] {
        &self.waiting
    }

    /// Next packet at an output.
    #[inline]
    pub(super) fn peek(&self, output: usize) -> Option<&T> {
        self.outputs[output].packets.front()
    }

    /// Removes the next packet at an output.
    #[inline]
    pub(super) fn pop(&mut self, output: usize) -> Option<T> {
        let queue = &mut self.outputs[output].packets;
        let packet = queue.pop();
        self.waiting[output / 64] &= !(u64::from(queue.is_empty()) << (output % 64));
        packet
    }

    /// True if packets wait at an input, or are in transfer.
    #[inline]
    pub(super) fn has_queued(&self) -> bool {
        self.queued > 0
    }

    /// Number of packets in the subnet.
    #[cfg(test)]
    pub(super) fn held(&self) -> u64 {
        self.queued + self.outputs.iter().map(|output| u64::from(output.packets.len())).sum::<u64>()
    }

    /// True if the subnet has no packet.
    pub(super) fn is_idle(&self) -> bool {
        self.queued == 0 && self.waiting.iter().all(|&word| word == 0)
    }
}

/// Removes the first member at or after `start`, with wrap-around, of a nonempty set. Returns it,
/// and whether it was the last.
#[inline]
fn take_next(set: &mut [u64], start: usize) -> (usize, bool) {
    // Most GPUs have at most 64 inputs.
    if let [word] = set {
        let in_turn = *word & u64::MAX << start;
        let member = if in_turn != 0 { in_turn } else { *word }.trailing_zeros() as usize;
        *word &= !(1 << member);
        return (member, *word == 0);
    }
    let member = next_from(set, start);
    set[member / 64] &= !(1 << (member % 64));
    (member, set.iter().all(|&word| word == 0))
}

/// First member at or after `start`, with wrap-around; the set must not be empty.
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
#[path = "crossbar_plain.rs"]
mod plain;
#[cfg(test)]
#[path = "crossbar_tests.rs"]
mod tests;
