//! Reference `opening-cost` for `sc`: the cost change for each point of a clustering if another
//! center opens, as in Rodinia's streamcluster (Che et al. 2009). The reference generates the
//! weights, costs and centers of the points. Assumption: costs are spread about the distance of two
//! random points, so about half of the points switch.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;
use mias_ptx::DeviceMemory;

/// Generated parts: weight, cost and center of each point; and for each point that is a center, its
/// column of the table.
pub(super) const PARTS: &[&str] = &["points", "columns"];

/// Returns the host side for `size` points, of which the middle one is the candidate, into `table`
/// and `changes`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let value = |name: &str| Ok::<_, String>(inputs.value(name)? as usize);
    let (count, dimensions, centers) = (value("size")?, value("dimensions")?, value("centers")?);
    let mut random = Random::new(inputs.seed);
    let own: Vec<Point> = (0..count).map(|_| Point::random(dimensions, centers.min(count), &mut random)).collect();
    let columns: Vec<u32> = (0..count).map(|point| if point < centers { point as u32 } else { 0 }).collect();
    let points = own.iter().flat_map(|point| [point.weight.to_bits(), point.cost.to_bits(), point.center]).collect();
    let host = Host::new(move |filled| {
        let coordinates = filled.floats("coordinates")?;
        let [table, changes] = [filled.buffer("table")?, filled.buffer("changes")?];
        let bytes = move |memory: &DeviceMemory| memory.words(changes).flat_map(u32::to_le_bytes).map(f32::from).collect::<Vec<f32>>();
        Ok(Expected {
            results: Box::new(move |memory| [memory.floats(table), bytes(memory)].concat()),
            reference: Box::new(move || {
                let (rows, changed): (Vec<_>, Vec<_>) = (0..own.len()).map(|at| own[at].row(at, &coordinates, own.len(), centers)).unzip();
                [rows.concat(), changed].concat()
            }),
            agrees: Box::new(Expected::equal),
            quality: None,
        })
    });
    Ok(host.with("points", points).with("columns", columns))
}

/// A point without its coordinates.
#[derive(Debug)]
struct Point {
    weight: f32,
    cost: f32,
    /// Center of the point: one of the first points, whose numbers are their columns.
    center: u32,
}

impl Point {
    /// Draws a random point, for which two random coordinates in [-1, 1) have a mean squared
    /// distance of 2/3.
    fn random(dimensions: usize, centers: usize, random: &mut Random) -> Self {
        let weight = 1.0 + random.float() / 2.0;
        let cost = weight * dimensions as f32 * 2.0 / 3.0 * (1.0 + random.float() / 4.0);
        Point { weight, cost, center: random.integer(0, centers as i32 - 1) as u32 }
    }

    /// Returns the point's row in the table, which has a column per center and one for the
    /// candidate; and 1 if the point switches.
    fn row(&self, at: usize, coordinates: &[f32], count: usize, centers: usize) -> (Vec<f32>, f32) {
        let distance = coordinates.chunks(count).fold(0.0f32, |sum, all| {
            let apart = all[at] - all[count / 2];
            apart.mul_add(apart, sum)
        });
        let cost = distance * self.weight;
        let mut row = vec![0.0; centers + 1];
        let changes = cost < self.cost;
        if changes {
            row[centers] += cost - self.cost;
        } else {
            row[self.center as usize] += self.cost - cost;
        }
        (row, f32::from(u8::from(changes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three points on a line, with the candidate in the middle: at distances 2, 0 and 4.
    #[test]
    fn the_cheaper_center_wins() {
        let coordinates = [1.0, 3.0, 7.0];
        let point = |cost| Point { weight: 0.5, cost, center: 1 };
        assert_eq!(point(5.0).row(0, &coordinates, 3, 2), (vec![0.0, 0.0, -3.0], 1.0));
        assert_eq!(point(0.0).row(1, &coordinates, 3, 2), (vec![0.0, 0.0, 0.0], 0.0));
        assert_eq!(point(9.0).row(2, &coordinates, 3, 2), (vec![0.0, 0.0, -1.0], 1.0));
        assert_eq!(point(6.0).row(2, &coordinates, 3, 2), (vec![0.0, -2.0, 0.0], 0.0), "8 is dearer than 6");
    }
}
