//! Reference `n-body` for `nbdy`: one time step of independent systems of bodies that attract each
//! other.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use rayon::prelude::*;

/// Tolerance against a double-precision reference, for systems of up to 512 bodies. Sums have 512
/// terms around 2, and each addition is rounded to 2^-24 of it. The cube of the approximate root is
/// accurate to 3 * 2^-22 (PTX ISA 9.7.3, `rsqrt`). The error is about 10^-4, and the step of 1/64
/// times that is 1.6e-6. A step changes values by about 10^-2. The part of the sum grows with the
/// number of terms.
const TOLERANCE: f32 = 4e-6;

/// Number of bodies for which the tolerance holds.
const TOLERATED_BODIES: f32 = 512.0;

/// Indices of the kernel's arguments for the length of the step and the softening of the
/// attraction, from 0.
const ARGUMENTS: [usize; 2] = [5, 6];

/// Returns the host side from the buffers `place` and `velocity` into `new`, both one after the
/// other, for `systems` systems.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let bodies = (inputs.value("size")? / inputs.value("systems")?.max(1)) as usize;
    Ok(Host::new(move |filled| {
        let (places, velocities) = (filled.floats("place")?, filled.floats("velocity")?);
        let form = Form { bodies, step: filled.float(ARGUMENTS[0])?, softening: filled.float(ARGUMENTS[1])? };
        let tolerance = TOLERANCE * (bodies as f32 / TOLERATED_BODIES).max(1.0);
        let agrees = move |found: f32, expected: f32| (found - expected).abs() <= tolerance;
        Ok(Expected::floats(filled.buffer("new")?, agrees, move || {
            let (places, velocities) = step(places.as_chunks().0, velocities.as_chunks().0, form);
            [places.into_flattened(), velocities.into_flattened()].concat()
        }))
    }))
}

/// Bodies of a system, length of the step, and softening.
#[derive(Clone, Copy)]
struct Form {
    bodies: usize,
    step: f32,
    softening: f32,
}

/// Place and mass, or velocity and an unused value.
type Body = [f32; 4];

/// Returns the new places and velocities by the formula, in double precision.
fn step(places: &[Body], velocities: &[Body], form: Form) -> (Vec<Body>, Vec<Body>) {
    let (length, softening) = (f64::from(form.step), f64::from(form.softening));
    let moved = |index: usize| {
        let system = &places[index / form.bodies * form.bodies..][..form.bodies];
        let own = places[index].map(f64::from);
        let mut acceleration = [0.0f64; 3];
        for other in system.iter().map(|body| body.map(f64::from)) {
            let distance: [f64; 3] = std::array::from_fn(|axis| other[axis] - own[axis]);
            let square = distance.iter().map(|d| d * d).sum::<f64>() + softening;
            let pull = other[3] / (square * square.sqrt());
            acceleration.iter_mut().zip(distance).for_each(|(sum, d)| *sum += pull * d);
        }
        let (mut place, mut velocity) = (places[index], velocities[index]);
        for axis in 0..3 {
            let speed = f64::from(velocity[axis]) + acceleration[axis] * length;
            velocity[axis] = speed as f32;
            place[axis] = (own[axis] + speed * length) as f32;
        }
        (place, velocity)
    };
    (0..places.len()).into_par_iter().map(moved).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const FORM: Form = Form { bodies: 2, step: 1.0 / 64.0, softening: 1.0 / 256.0 };

    /// Two bodies at distance 1 attract each other with the other's mass over (1 + softening)^1.5.
    #[test]
    fn two_bodies_attract_each_other() {
        let places = [[0.0, 0.0, 0.0, 3.0], [0.0, 1.0, 0.0, 1.0]];
        let (moved, velocities) = step(&places, &[[0.0; 4]; 2], FORM);
        let pull = (1.0 + FORM.softening).powf(-1.5) * FORM.step;
        for (found, expected) in [(velocities[0][1], pull), (velocities[1][1], -3.0 * pull), (moved[0][1], pull * FORM.step)] {
            assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        }
        assert_eq!((velocities[0][0], velocities[1][2], moved[1][3]), (0.0, 0.0, 1.0));
    }

    /// A step conserves the momentum of each system.
    #[test]
    fn momentum_is_kept() {
        let mut random = Random::new(5);
        let mut bodies = |mass: f32| -> Vec<Body> { (0..40).map(|_| [random.float(), random.float(), random.float(), mass]).collect() };
        let (places, velocities) = (bodies(0.25), bodies(0.0));
        let moved = step(&places, &velocities, Form { bodies: 20, ..FORM }).1;
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
