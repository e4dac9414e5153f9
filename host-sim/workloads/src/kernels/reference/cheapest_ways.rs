//! Reference `cheapest-ways` for `pf`: dynamic programming over the rows of a grid. It computes the
//! cost of the cheapest path to each cell of the last row, and the predecessor in every row, one of
//! three cells. Rodinia's pathfinder computes the costs.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use mias_ptx::DeviceMemory;

/// Returns the host side from the buffers `before` (`size` columns for each of `starts`) and
/// `cells`, `rows` rows, into `after` and `ways`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let columns = inputs.value("size")? as usize;
    Ok(Host::new(move |filled| {
        let words = |name: &str| Ok::<_, String>(filled.memory.words(filled.buffer(name)?).collect::<Vec<u32>>());
        let (before, cells) = (words("before")?, words("cells")?);
        let [after, ways] = [filled.buffer("after")?, filled.buffer("ways")?];
        Ok(Expected {
            results: Box::new(move |memory: &DeviceMemory| exact(memory.words(after), memory.words(ways))),
            reference: Box::new(move || {
                let all: Vec<Way> = before.chunks(columns).flat_map(|start| cheapest(start, &cells)).collect();
                exact(all.iter().map(|way| way.cost), all.iter().map(|way| way.from))
            }),
            agrees: Box::new(Expected::equal),
            quality: None,
        })
    }))
}

/// Returns the costs, and the paths in halves, as integers that a float represents.
fn exact(costs: impl Iterator<Item = u32>, ways: impl Iterator<Item = u32>) -> Vec<f32> {
    let halves = ways.flat_map(|way| [way & 0xffff, way >> 16]);
    costs.chain(halves).map(|value| value as f32).collect()
}

/// Cheapest path to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    cost: u32,
    /// Two bits per row, from the lowest on: 0 straight, 1 from the left, 2 from the right.
    from: u32,
}

/// Returns the cheapest paths from one start. A column has two words of cells for two rows. The
/// lower half of a word is the cost of a straight step, and the upper half that of a diagonal one.
/// Of equal costs, straight precedes diagonal, and left precedes right. `from` records the step
/// into the cell's own column in each row, so a path is traced back from column to column.
fn cheapest(start: &[u32], cells: &[u32]) -> Vec<Way> {
    let mut ways: Vec<Way> = start.iter().map(|&cost| Way { cost, from: 0 }).collect();
    for (pair, rows) in cells.chunks(2 * start.len()).enumerate() {
        for half in 0..2 {
            let costs: Vec<u32> = ways.iter().map(|way| way.cost).collect();
            for (column, way) in ways.iter_mut().enumerate() {
                let cell = rows[2 * column + half];
                let (left, right) = (costs[column.saturating_sub(1)], costs[(column + 1).min(costs.len() - 1)]);
                let (straight, aslant) = (costs[column] + (cell & 0xffff), left.min(right) + (cell >> 16));
                if aslant < straight {
                    way.from |= (if left <= right { 1 } else { 2 }) << (2 * (2 * pair + half));
                }
                way.cost = straight.min(aslant);
            }
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A straight step costs 5 everywhere, a diagonal one 1. The start's 0 is reached from both
    /// sides, and then from its sides again.
    #[test]
    fn ways_go_where_it_is_cheap() {
        let cells = [5 | 1 << 16; 6];
        let ways = cheapest(&[9, 0, 9], &cells);
        assert_eq!(ways.iter().map(|way| way.cost).collect::<Vec<_>>(), [2, 2, 2]);
        // First row: the outer cells come from the middle one, which stays (5 before 10). Second
        // row: the middle cell comes from the left, and the outer ones from themselves in place of
        // their missing neighbor.
        assert_eq!(ways.iter().map(|way| way.from).collect::<Vec<_>>(), [2 | 1 << 2, 1 << 2, 1 | 2 << 2]);
    }
}
