//! Comparison of the crossbar with its plain twin; its saturation under uniform infinite backlog
//! (sources.md D105); and conservation and order of packets.

use super::plain::PlainCrossbar;
use super::*;
use crate::config::Arbiter;
use proptest::prelude::*;

/// Own generator, so that the tests need no crate for it (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((u128::from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)) * u128::from(n)) >> 64) as usize
    }
}

/// Interconnect with these buffer sizes, in packets, at inputs and outputs.
fn net((input_buffer, output_buffer): (u32, u32), arbiter: Arbiter) -> InterconnectConfig {
    InterconnectConfig { flit_bytes: 40, header_bytes: 0, input_buffer, output_buffer, arbiter }
}

/// Number of packets of `flits` flits delivered in 60,000 cycles, after 2,000 to warm up.
fn delivered(inputs: u32, outputs: u32, flits: u8, arbiter: Arbiter) -> u64 {
    let mut random = Random(0x9E37_79B9_7F4A_7C15 + u64::from(inputs * 64 + outputs));
    let mut crossbar = Crossbar::new((inputs, outputs), &net((4, 4), arbiter), 0);
    let mut count = 0;
    for cycle in 0..62_000 {
        for input in 0..inputs as usize {
            while crossbar.can_push(input) {
                crossbar.push(input, random.below(outputs), flits, ());
            }
        }
        crossbar.advance();
        for output in 0..outputs as usize {
            count += u64::from(crossbar.pop(output).is_some() && cycle >= 2_000);
        }
    }
    count
}

/// Throughput of a crossbar by number of ports (sources.md D66).
const TABLE: [(u32, f64); 10] =
    [(1, 1.0), (2, 0.75), (3, 0.6825), (4, 0.655), (5, 0.640), (6, 0.630), (7, 0.623), (8, 0.618), (16, 0.602), (32, 0.593)];

/// Round-robin and random arbitration.
const FAIR: [Arbiter; 2] = [Arbiter::RoundRobin, Arbiter::Random];

#[test]
fn saturates_at_karols_limit() {
    for arbiter in FAIR {
        for (n, expected) in TABLE {
            let throughput = delivered(n, n, 1, arbiter) as f64 / 60_000.0 / f64::from(n);
            assert!((throughput - expected).abs() <= 0.005, "{arbiter:?}, N = {n}: {throughput:.4}, table {expected}");
        }
    }
}

/// Lin et al. 2018, section 3.1, state close to 60 % of the peak for their 16 x 16 crossbar. A
/// line's reply is five flits.
#[test]
fn sixteen_ports_by_chance_carry_sixty_percent() {
    for flits in [1, 5] {
        let throughput = f64::from(flits) * delivered(16, 16, flits, Arbiter::Random) as f64 / 60_000.0 / 16.0;
        assert!((throughput - 0.602).abs() <= 0.012, "{flits} flits: {throughput:.4}");
    }
}

#[test]
fn saturation_falls_with_the_number_of_ports() {
    let mut last = f64::INFINITY;
    for n in 1..=32 {
        let throughput = delivered(n, n, 1, Arbiter::RoundRobin) as f64 / 60_000.0 / f64::from(n);
        // For adjacent large N the table decreases by less than the noise of a finite run.
        assert!(throughput < last + 0.002, "N = {n}: {throughput:.4} after {last:.4}");
        last = last.min(throughput);
    }
}

#[test]
fn asymmetric_saturation() {
    for arbiter in FAIR {
        let requests = delivered(30, 24, 1, arbiter) as f64 / 60_000.0;
        assert!((requests / 24.0 - 0.660).abs() <= 0.005, "30 to 24, per output: {}", requests / 24.0);
        let replies = delivered(24, 30, 1, arbiter) as f64 / 60_000.0;
        assert!((replies / 24.0 - 0.660).abs() <= 0.005, "24 to 30, per input: {}", replies / 24.0);
        assert!((replies / 30.0 - 0.528).abs() <= 0.005, "24 to 30, per output: {}", replies / 30.0);
    }
}

/// A packet of five flits occupies its ports for five cycles: throughput falls accordingly, and
/// head-of-line blocking costs the same fraction.
#[test]
fn long_packets_take_their_flits() {
    for (n, expected) in [(1, 1.0), (16, 0.602)] {
        let throughput = 5.0 * delivered(n, n, 5, Arbiter::RoundRobin) as f64 / 60_000.0 / f64::from(n);
        assert!((throughput - expected).abs() <= 0.012, "N = {n}: {throughput:.4} flits, table {expected}");
    }
    let mut crossbar = Crossbar::new((2, 2), &net((4, 4), Arbiter::RoundRobin), 0);
    for (input, output, flits) in [(0, 0, 5), (0, 1, 1), (1, 0, 2), (1, 1, 1)] {
        crossbar.push(input, output, flits, (input, output));
    }
    let mut arrivals = Vec::new();
    for cycle in 1..10 {
        crossbar.advance();
        arrivals.extend((0..2).filter_map(|output| crossbar.pop(output)).map(|packet| (cycle, packet)));
    }
    // Input 1 waits for output 0 behind the five flits of input 0, whose second packet waits until
    // they have left.
    assert_eq!(arrivals, [(5, (0, 0)), (6, (0, 1)), (7, (1, 0)), (8, (1, 1))]);
    assert!(crossbar.is_idle());
}

#[test]
fn one_output_serves_its_inputs_in_turn() {
    let mut crossbar = Crossbar::new((100, 1), &net((2, 8), Arbiter::RoundRobin), 0);
    for input in 0..100 {
        crossbar.push(input, 0, 1, input);
        crossbar.push(input, 0, 1, input + 100);
    }
    let order: Vec<usize> = (0..200)
        .map(|_| {
            crossbar.advance();
            crossbar.pop(0).expect("one packet per cycle")
        })
        .collect();
    assert_eq!(order, (0..200).collect::<Vec<_>>());
    assert!(crossbar.is_idle());
}

/// By hand: after each input, the next but one is first; after either of the last two, input 0 is.
#[test]
fn a_skipping_output_leaves_neighbors_waiting() {
    let order = |inputs: u32, first: u32| -> Vec<usize> {
        let mut crossbar = Crossbar::new((inputs, 1), &net((2, 8), Arbiter::SkipOne), first);
        for input in 0..inputs as usize {
            crossbar.push(input, 0, 1, input);
            crossbar.push(input, 0, 1, input);
        }
        let mut served = || {
            crossbar.advance();
            crossbar.pop(0).expect("one packet per cycle")
        };
        (0..2 * inputs).map(|_| served()).collect()
    };
    assert_eq!(order(2, 1), [1, 0, 0, 1], "input 1 waits until input 0 has nothing left");
    assert_eq!(order(5, 0), [0, 2, 4, 0, 2, 4, 1, 3, 1, 3]);
    assert_eq!(order(5, 1), [1, 3, 0, 2, 4, 0, 2, 4, 1, 3]);
    assert_eq!(order(1, 1), [0, 0]);
}

/// By hand: an input with packets for outputs 0, 1 and 2 sends all three at once; with 2, 1 and 0,
/// one after the other. A packet behind one of several flits waits until the last flit has left.
#[test]
fn an_input_sends_to_later_outputs_in_the_same_cycle() {
    let arrivals = |packets: &[(usize, u8)]| -> Vec<Vec<usize>> {
        let mut crossbar = Crossbar::new((2, 3), &net((8, 8), Arbiter::SeveralPerInput), 0);
        for &(output, flits) in packets {
            crossbar.push(0, output, flits, output);
        }
        let mut cycles = vec![];
        while !crossbar.is_idle() {
            crossbar.advance();
            cycles.push((0..3).filter_map(|output| crossbar.pop(output)).collect());
        }
        cycles
    };
    assert_eq!(arrivals(&[(0, 1), (1, 1), (2, 1)]), [vec![0, 1, 2]]);
    assert_eq!(arrivals(&[(2, 1), (1, 1), (0, 1)]), [[2], [1], [0]]);
    assert_eq!(arrivals(&[(0, 1), (0, 1), (1, 1)]), [vec![0], vec![0, 1]], "an output takes one per cycle");
    assert_eq!(arrivals(&[(0, 1), (1, 2), (2, 1)]), [vec![0], vec![1], vec![2]]);
}

/// Without head-of-line blocking by packets that have left, throughput exceeds Karol's limit, and
/// the inputs of each output still take turns.
#[test]
fn several_per_input_pass_karols_limit() {
    let throughput = delivered(30, 24, 1, Arbiter::SeveralPerInput) as f64 / 60_000.0 / 24.0;
    assert!(throughput > 0.70, "30 to 24, per output: {throughput}");
}

proptest! {
    /// Comparison port by port and cycle by cycle, for sets of one word and of several. `load` is
    /// the number of inputs of eight that get a packet, and `drain` the number of outputs that give
    /// one.
    #[test]
    fn behaves_as_the_plain_subnet(
        (inputs, outputs) in prop_oneof![(1u32..10, 1u32..10), (60u32..140, 1u32..140)],
        buffers in (1u32..4, 1u32..4),
        (load, drain) in (1usize..=8, 1usize..=8),
        arbiter in prop_oneof![Just(Arbiter::RoundRobin), Just(Arbiter::SkipOne), Just(Arbiter::SeveralPerInput), Just(Arbiter::Random)],
        most_flits in 1u32..6,
        seed: u64,
    ) {
        let mut random = Random(seed | 1);
        let mut crossbar = Crossbar::new((inputs, outputs), &net(buffers, arbiter), 0);
        let mut plain = PlainCrossbar::new((inputs, outputs), buffers, arbiter);
        for cycle in 0..120 {
            for input in 0..inputs as usize {
                prop_assert_eq!(crossbar.can_push(input), plain.can_push(input));
                if crossbar.can_push(input) && random.below(8) < load {
                    let output = random.below(outputs);
                    let flits = 1 + random.below(most_flits) as u8;
                    crossbar.push(input, output, flits, cycle);
                    plain.push(input, output, flits, cycle);
                }
            }
            crossbar.advance();
            plain.advance();
            for output in 0..outputs as usize {
                prop_assert_eq!(crossbar.peek(output), plain.outputs[output].front(), "output {} in cycle {}", output, cycle);
                prop_assert_eq!(crossbar.waiting()[output / 64] >> (output % 64) & 1 == 1, !plain.outputs[output].is_empty());
                if random.below(8) < drain {
                    prop_assert_eq!(crossbar.pop(output), plain.pop(output));
                }
            }
            prop_assert_eq!(crossbar.has_queued(), plain.has_queued());
        }
    }

    /// No packet is lost, duplicated or reordered between a source and a destination; one packet
    /// per port and cycle.
    #[test]
    fn conserves_packets_and_order(
        (inputs, outputs) in (1u32..70, 1u32..70),
        arbiter in prop_oneof![Just(Arbiter::RoundRobin), Just(Arbiter::SkipOne), Just(Arbiter::Random)],
        most_flits in 1u32..6,
        seed: u64,
        buffer in 1u32..4,
    ) {
        let mut random = Random(seed | 1);
        let mut crossbar = Crossbar::new((inputs, outputs), &net((buffer, buffer), arbiter), 0);
        let pairs = (inputs * outputs) as usize;
        let (mut sent, mut received) = (vec![0u32; pairs], vec![0u32; pairs]);
        for cycle in 0..400 {
            for input in 0..inputs as usize {
                if cycle < 200 && crossbar.can_push(input) && random.below(2) == 0 {
                    let output = random.below(outputs);
                    let pair = input * outputs as usize + output;
                    crossbar.push(input, output, 1 + random.below(most_flits) as u8, (pair, sent[pair]));
                    sent[pair] += 1;
                }
            }
            crossbar.advance();
            for output in 0..outputs as usize {
                prop_assert_eq!(crossbar.waiting()[output / 64] >> (output % 64) & 1 == 1, crossbar.peek(output).is_some());
                if random.below(4) > 0
                    && let Some((pair, number)) = crossbar.pop(output) {
                        prop_assert_eq!(pair % outputs as usize, output);
                        prop_assert_eq!(number, received[pair]);
                        received[pair] += 1;
                    }
            }
        }
        for output in 0..outputs as usize {
            for _ in 0..20_000 {
                crossbar.advance();
                let Some((pair, number)) = crossbar.pop(output) else { break };
                prop_assert_eq!(number, received[pair]);
                received[pair] += 1;
            }
        }
        while !crossbar.is_idle() {
            crossbar.advance();
            for output in 0..outputs as usize {
                if let Some((pair, _)) = crossbar.pop(output) {
                    received[pair] += 1;
                }
            }
        }
        prop_assert_eq!(sent, received);
    }
}
