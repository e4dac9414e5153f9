//! Properties of the fluxes and of the mesh.

use super::mesh::ROW;
use super::*;

const SIDE: [f64; 3] = [0.3, -0.4, 1.2];

/// Between equal states there is no difference: the flux is that of the state.
#[test]
fn equal_states_let_their_own_flux_through() {
    let state = [1.1, 0.3, -0.2, 0.1, 2.5];
    assert_eq!(rusanov(&state, &state, SIDE), flux(&state, SIDE));
}

/// The flux out of one cell enters the other: seen from the other side, the flux is the opposite.
#[test]
fn nothing_is_lost_between_cells() {
    let (a, b) = ([0.7, 0.3, -0.2, 0.1, 2.5], [1.3, -0.4, 0.2, 0.3, 2.9]);
    let there = rusanov(&a, &b, SIDE);
    let back = rusanov(&b, &a, SIDE.map(|axis| -axis));
    assert!(there.iter().zip(back).all(|(there, back)| (there + back).abs() < 1e-12), "{there:?}, {back:?}");
}

/// Gas at rest only presses: (E - 0) (gamma - 1) is 1 for an energy of 2.5, and the speed of sound
/// sqrt(1.4).
#[test]
fn gas_at_rest_presses() {
    let rest = [1.0, 0.0, 0.0, 0.0, 2.5];
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
    near(pressure(&rest), 1.0);
    near(fastest(&rest, [0.0, 3.0, 4.0]), 5.0 * 1.4f64.sqrt());
    near(flux(&rest, SIDE)[3], 1.2);
    near(flux(&rest, SIDE)[0], 0.0);
    // A pressure of 1, as the kernel's source says, and Mach 1.01.
    near(pressure(&FREE_STREAM), 1.0);
}

/// The other side of a side is the cell itself; the first row has the wing, the last the far field.
#[test]
fn sides_are_seen_from_both_cells() {
    let cells = 8 * ROW;
    let mesh = neighbors(cells, &mut Random::new(5));
    let opposite = [1, 0, 3, 2];
    let count = |what| mesh.iter().filter(|&&behind| behind == what).count();
    assert_eq!((count(WALL), count(FAR_FIELD)), (ROW, ROW));
    for (at, &behind) in mesh.iter().enumerate().filter(|(_, behind)| **behind >= 0) {
        let (side, cell) = (at / cells, at % cells);
        assert_eq!(mesh[opposite[side] * cells + behind as usize], cell as i32);
    }
}

/// Sums over all cells of a closed surface: with all states equal and each cell's normals adding to
/// zero, no flux is left.
#[test]
fn a_uniform_gas_stays() {
    let cells = 4 * ROW;
    let mesh: Vec<i32> = neighbors(cells, &mut Random::new(2)).into_iter().map(|behind| behind.max(0)).collect();
    let states: Vec<f32> = [1.0f32, 0.5, -0.25, 0.125, 2.0].iter().flat_map(|&value| vec![value; cells]).collect();
    let signs = [1.0f32, -1.0, 1.0, -1.0];
    let normals: Vec<f32> =
        signs.iter().flat_map(|&sign| [0.5, 0.25, 2.0].map(|axis| sign * axis)).flat_map(|axis| vec![axis; cells]).collect();
    assert!(fluxes(&states, &mesh, &normals).iter().all(|flux| flux.abs() < 1e-6));
}
