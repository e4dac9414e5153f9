//! `nbdy`: one time step of many independent systems of bodies, all pairs through shared-memory tiles
//! (`kernels/cuda-samples/nbdy/nbdy.cu`; Nasef 2023, section 4.1.2, SDK `nbody`).

use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType, Setting};
use crate::random::Random;
use mias_ptx::{Arg, DeviceMemory, Launch};
use rayon::prelude::*;

/// Threads per TB, bodies per tile.
const THREADS: u64 = 256;

/// Bodies of one system by default: two tiles, so that a TB's life of about 160,000 cycles is within a profiling window's reach.
const BODIES: u64 = 2 * THREADS;

/// Most bodies of one system (assumption: twice the SDK's 30,720 is enough; the work grows with the square).
const MAX_SYSTEM: u64 = 1 << 16;

/// Most bodies: offsets of the 16-byte elements stay below 2^31.
const MAX_BODIES: u64 = 1 << 26;

/// Length of the time step and softening of the attraction. Assumptions: a step moves a body by about a hundredth of the
/// system's size, and near encounters stay bounded.
const STEP: f32 = 1.0 / 64.0;
const SOFTENING: f32 = 1.0 / 256.0;

/// Largest difference to the reference in double precision, for systems of up to 512 bodies: sums of 512 terms around 2, each addition
/// rounded to 2^-24 of it and the approximate root's cube good to 3 * 2^-22 (PTX ISA 9.7.3, `rsqrt`), are within 10^-4 or so, and
/// `STEP` times that is 1.6e-6. What a step changes is some 10^-2. The sum's part grows with the number of terms.
const TOLERANCE: f32 = 4e-6;

/// `size` bodies in systems of `bodies`.
#[derive(Debug)]
pub(super) struct Nbdy;

impl Kernel for Nbdy {
    fn name(&self) -> &'static str {
        "nbdy"
    }

    fn description(&self) -> &'static str {
        "one step of systems of 512 bodies or as set, all pairs through shared memory"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Compute
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/cuda-samples/nbdy/nbdy.ptx",
            ptx: include_str!("../../../../kernels/cuda-samples/nbdy/nbdy.ptx"),
            report_file: "kernels/cuda-samples/nbdy/nbdy.ptxas.txt",
            report: include_str!("../../../../kernels/cuda-samples/nbdy/nbdy.ptxas.txt"),
        }
    }

    /// 120 systems, 240 TBs: two waves on 30 SMs.
    fn default_size(&self) -> u64 {
        120 * BODIES
    }

    fn size_unit(&self) -> &'static str {
        "bodies, a multiple of those of a system"
    }

    fn settings(&self) -> &'static [Setting] {
        &[Setting { key: "bodies", description: "bodies of a system, a multiple of 256 up to 65536; 512 by default" }]
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let seed = input.seed;
        let bodies = match input.get("bodies").map(|word| (word, word.parse::<u64>())) {
            None => BODIES,
            Some((_, Ok(bodies))) if (1..=MAX_SYSTEM).contains(&bodies) && bodies.is_multiple_of(THREADS) => bodies,
            Some((word, _)) => {
                let message = format!("must be a multiple of {THREADS}, from {THREADS} to {MAX_SYSTEM}");
                return Err(KernelError::Setting { kernel: self.name(), setting: "bodies", value: word.into(), message });
            }
        };
        // Whole systems, about as many bodies as by default.
        let size = input.size.unwrap_or((self.default_size() / bodies).max(1) * bodies);
        if size == 0 || !size.is_multiple_of(bodies) || size > MAX_BODIES {
            let message = "must be a multiple of the bodies of a system (`bodies`, 512 by default), from one system to 67108864";
            return Err(KernelError::Size { kernel: self.name(), size, message });
        }
        let mut random = Random::new(seed);
        let places: Vec<Body> =
            (0..size).map(|_| [random.float(), random.float(), random.float(), (1.5 + 0.5 * random.float()) / bodies as f32]).collect();
        let velocities: Vec<Body> = (0..size).map(|_| [random.float() / 4.0, random.float() / 4.0, random.float() / 4.0, 0.0]).collect();
        let mut memory = DeviceMemory::new();
        let bits = |values: &[Body]| values.as_flattened().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        // Places, then velocities.
        let new = memory.allocate(std::iter::repeat_n(f32::NAN.to_bits(), 8 * size as usize));
        let (place, velocity) = (memory.allocate(bits(&places)), memory.allocate(bits(&velocities)));
        let launch = Launch {
            grid: [(bodies / THREADS) as u32, (size / bodies) as u32, 1],
            block: [THREADS as u32, 1, 1],
            args: vec![
                Arg::U64(new.address),
                Arg::U64(new.address + 16 * size),
                Arg::U64(place.address),
                Arg::U64(velocity.address),
                Arg::I32(bodies as i32),
                Arg::F32(STEP),
                Arg::F32(SOFTENING),
            ],
            shared_bytes: 0,
        };
        let tolerance = TOLERANCE * (bodies as f32 / BODIES as f32).max(1.0);
        let agrees = move |found: f32, expected: f32| (found - expected).abs() <= tolerance;
        let expected = Expected::floats(new, agrees, move || {
            let (places, velocities) = step(&places, &velocities, bodies as usize);
            [places.into_flattened(), velocities.into_flattened()].concat()
        });
        Ok(Instance { memory, entry: "nbdy".into(), launch, expected: Some(expected) })
    }
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

    #[test]
    fn systems_have_other_sizes() {
        let init = |input: &Input| Nbdy.init(input).map(|instance| instance.launch.grid);
        let with = |bodies| Input::default().with("bodies", bodies);
        // About 61,440 bodies, of whole systems; the SDK's 30,720 twice.
        for (bodies, grid) in [("256", [1, 240, 1]), ("1024", [4, 60, 1]), ("30720", [120, 2, 1]), ("65536", [256, 1, 1])] {
            assert_eq!(init(&with(bodies)), Ok(grid));
        }
        for bodies in ["0", "100", "65792", "many"] {
            let message = format!("kernel `nbdy`: bodies `{bodies}`: must be a multiple of 256, from 256 to 65536");
            assert_eq!(init(&with(bodies)).unwrap_err().to_string(), message);
        }
        let wrong = Input::sized(1024, 1).with("bodies", "768");
        assert!(matches!(Nbdy.init(&wrong), Err(KernelError::Size { size: 1024, .. })));
    }
}
