//! `nbdy`: one time step of many independent systems of bodies, all pairs through shared-memory tiles
//! (`kernels/nbdy/nbdy.cu`; seed 000 section 4.1.2, SDK `nbody`).

use super::random::Random;
use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType};
use crate::ptx::{Arg, DeviceMemory, Launch};
use rayon::prelude::*;

/// Threads per TB, bodies per tile.
const THREADS: u64 = 256;

/// Bodies of one system: two tiles, so that a TB's life of about 160,000 cycles is within a profiling window's reach.
const BODIES: u64 = 2 * THREADS;

/// Most bodies: offsets of the 16-byte elements stay below 2^31.
const MAX_BODIES: u64 = 1 << 26;

/// Length of the time step and softening of the attraction. Assumptions: a step moves a body by about a hundredth of the
/// system's size, and near encounters stay bounded.
const STEP: f32 = 1.0 / 64.0;
const SOFTENING: f32 = 1.0 / 256.0;

/// Largest difference to the reference in double precision: sums of 512 terms around 2, each addition rounded to 2^-24 of it and
/// the approximate root's cube good to 3 * 2^-22 (PTX ISA 9.7.3, `rsqrt`), are within 10^-4 or so, and `STEP` times that is
/// 1.6e-6. What a step changes is some 10^-2.
const TOLERANCE: f32 = 4e-6;

/// `size` bodies in systems of 512.
#[derive(Debug)]
pub(super) struct Nbdy;

impl Kernel for Nbdy {
    fn name(&self) -> &'static str {
        "nbdy"
    }

    fn description(&self) -> &'static str {
        "one step of systems of 512 bodies, all pairs through shared memory"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Compute
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/nbdy/nbdy.ptx",
            ptx: include_str!("../../../kernels/nbdy/nbdy.ptx"),
            report_file: "kernels/nbdy/nbdy.ptxas.txt",
            report: include_str!("../../../kernels/nbdy/nbdy.ptxas.txt"),
        }
    }

    /// 120 systems, 240 TBs: two waves on 30 SMs.
    fn default_size(&self) -> u64 {
        120 * BODIES
    }

    fn size_unit(&self) -> &'static str {
        "bodies, a multiple of 512"
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let (size, seed) = (input.size.unwrap_or(self.default_size()), input.seed);
        if size == 0 || !size.is_multiple_of(BODIES) || size > MAX_BODIES {
            return Err(KernelError::Size { kernel: self.name(), size, message: "must be a multiple of 512, from 512 to 67108864" });
        }
        let mut random = Random::new(seed);
        let places: Vec<Body> =
            (0..size).map(|_| [random.float(), random.float(), random.float(), (1.5 + 0.5 * random.float()) / BODIES as f32]).collect();
        let velocities: Vec<Body> = (0..size).map(|_| [random.float() / 4.0, random.float() / 4.0, random.float() / 4.0, 0.0]).collect();
        let mut memory = DeviceMemory::new();
        let bits = |bodies: &[Body]| bodies.as_flattened().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        // Places, then velocities.
        let new = memory.allocate(std::iter::repeat_n(f32::NAN.to_bits(), 8 * size as usize));
        let (place, velocity) = (memory.allocate(bits(&places)), memory.allocate(bits(&velocities)));
        let launch = Launch {
            grid: [(BODIES / THREADS) as u32, (size / BODIES) as u32, 1],
            block: [THREADS as u32, 1, 1],
            args: vec![
                Arg::U64(new.address),
                Arg::U64(new.address + 16 * size),
                Arg::U64(place.address),
                Arg::U64(velocity.address),
                Arg::I32(BODIES as i32),
                Arg::F32(STEP),
                Arg::F32(SOFTENING),
            ],
            shared_bytes: 0,
        };
        let expected = Expected::floats(new, agrees, move || {
            let (places, velocities) = step(&places, &velocities, BODIES as usize);
            [places.into_flattened(), velocities.into_flattened()].concat()
        });
        Ok(Instance { memory, entry: "nbdy".into(), launch, expected: Some(expected) })
    }
}

/// To within the tolerance.
fn agrees(found: f32, expected: f32) -> bool {
    (found - expected).abs() <= TOLERANCE
}

/// Place and mass, or velocity and nothing.
type Body = [f32; 4];

/// New places and velocities, by the formula, in double precision.
fn step(places: &[Body], velocities: &[Body], bodies: usize) -> (Vec<Body>, Vec<Body>) {
    let moved = |index: usize| {
        let system = &places[index / bodies * bodies..][..bodies];
        let own = places[index].map(f64::from);
        let mut acceleration = [0.0f64; 3];
        for other in system.iter().map(|body| body.map(f64::from)) {
            let distance: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
            let square = distance.iter().map(|d| d * d).sum::<f64>() + f64::from(SOFTENING);
            let pull = other[3] / (square * square.sqrt());
            acceleration.iter_mut().zip(distance).for_each(|(sum, d)| *sum += pull * d);
        }
        let (mut place, mut velocity) = (places[index], velocities[index]);
        for axis in 0..3 {
            let speed = f64::from(velocity[axis]) + acceleration[axis] * f64::from(STEP);
            velocity[axis] = speed as f32;
            place[axis] = (own[axis] + speed * f64::from(STEP)) as f32;
        }
        (place, velocity)
    };
    (0..places.len()).into_par_iter().map(moved).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bodies at distance 1 pull each other with the other's mass over (1 + softening)^1.5.
    #[test]
    fn two_bodies_attract_each_other() {
        let places = [[0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 0.0, 1.0]];
        let (moved, velocities) = step(&places, &[[0.0; 4]; 2], 2);
        let pull = (1.0 + SOFTENING).powf(-1.5) * STEP;
        for (found, expected) in [(velocities[0][1], pull), (velocities[1][1], -3.0 * pull), (moved[0][1], pull * STEP)] {
            assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        }
        assert_eq!((velocities[0][0], velocities[1][2], moved[1][3]), (0.0, 0.0, 1.0));
    }

    /// Action equals reaction: a step keeps the momentum of each system.
    #[test]
    fn momentum_is_kept() {
        let mut random = Random::new(5);
        let mut bodies = |mass: f32| -> Vec<Body> { (0..40).map(|_| [random.float(), random.float(), random.float(), mass]).collect() };
        let (places, velocities) = (bodies(0.25), bodies(0.0));
        let moved = step(&places, &velocities, 20).1;
        assert_ne!(moved, velocities);
        for system in 0..2 {
            for axis in 0..3 {
                let momentum = |v: &[Body]| v[20 * system..][..20].iter().map(|body| f64::from(body[axis])).sum::<f64>();
                let (before, after) = (momentum(&velocities), momentum(&moved));
                assert!((before - after).abs() < 1e-5, "{before} {after}");
            }
        }
    }
}
