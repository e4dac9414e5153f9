//! `opening-cost`: what it would change for each point of a clustering to open another centre, for `sc`, as Rodinia's streamcluster (Che et
//! al. 2009) asks it. The points' weights, costs and centres are made here. Assumption: costs are spread about what the distance of two random
//! points gives, so that about half of the points change over.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;
use crate::random::Random;
use mias_ptx::DeviceMemory;

/// What it makes: weight, cost and centre of each point; and for each point that is a centre its column of the table.
pub(super) const PARTS: &[&str] = &["points", "columns"];

/// Of `size` points, of which the one in the middle is the candidate, into `table` and `changes`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let value = |name: &str| Ok::<_, String>(inputs.value(name)? as usize);
    let (count, dimensions, centres) = (value("size")?, value("dimensions")?, value("centres")?);
    let mut random = Random::new(inputs.seed);
    let own: Vec<Point> = (0..count).map(|_| Point::random(dimensions, centres.min(count), &mut random)).collect();
    let columns: Vec<u32> = (0..count).map(|point| if point < centres { point as u32 } else { 0 }).collect();
    let points = own.iter().flat_map(|point| [point.weight.to_bits(), point.cost.to_bits(), point.centre]).collect();
    let host = Host::new(move |filled| {
        let coordinates = filled.floats("coordinates")?;
        let [table, changes] = [filled.buffer("table")?, filled.buffer("changes")?];
        let bytes = move |memory: &DeviceMemory| memory.words(changes).flat_map(u32::to_le_bytes).map(f32::from).collect::<Vec<f32>>();
        Ok(Expected {
            results: Box::new(move |memory| [memory.floats(table), bytes(memory)].concat()),
            reference: Box::new(move || {
                let (rows, changed): (Vec<_>, Vec<_>) = (0..own.len()).map(|at| own[at].row(at, &coordinates, own.len(), centres)).unzip();
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
    /// The point that is its centre: one of the first, whose numbers are their columns.
    centre: u32,
}

impl Point {
    /// Two random coordinates in [-1, 1) are 2/3 apart, squared.
    fn random(dimensions: usize, centres: usize, random: &mut Random) -> Self {
        let weight = 1.0 + random.float() / 2.0;
        let cost = weight * dimensions as f32 * 2.0 / 3.0 * (1.0 + random.float() / 4.0);
        Point { weight, cost, centre: random.integer(0, centres as i32 - 1) as u32 }
    }

    /// Its row of the table, which has a column per centre and one for the candidate; and 1 if it changes over.
    fn row(&self, at: usize, coordinates: &[f32], count: usize, centres: usize) -> (Vec<f32>, f32) {
        let distance = coordinates.chunks(count).fold(0.0f32, |sum, all| {
            let apart = all[at] - all[count / 2];
            apart.mul_add(apart, sum)
        });
        let cost = distance * self.weight;
        let mut row = vec![0.0; centres + 1];
        let changes = cost < self.cost;
        if changes {
            row[centres] += cost - self.cost;
        } else {
            row[self.centre as usize] += self.cost - cost;
        }
        (row, f32::from(u8::from(changes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three points on a line, the candidate in the middle: 2 away, nothing, and 4 away.
    #[test]
    fn the_cheaper_centre_wins() {
        let coordinates = [1.0, 3.0, 7.0];
        let point = |cost| Point { weight: 0.5, cost, centre: 1 };
        assert_eq!(point(5.0).row(0, &coordinates, 3, 2), (vec![0.0, 0.0, -3.0], 1.0));
        assert_eq!(point(0.0).row(1, &coordinates, 3, 2), (vec![0.0, 0.0, 0.0], 0.0));
        assert_eq!(point(9.0).row(2, &coordinates, 3, 2), (vec![0.0, 0.0, -1.0], 1.0));
        assert_eq!(point(6.0).row(2, &coordinates, 3, 2), (vec![0.0, -2.0, 0.0], 0.0), "8 is dearer than 6");
    }
}
