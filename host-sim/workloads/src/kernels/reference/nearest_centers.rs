//! Reference `nearest-centers` for `km`: the cluster of each point by its nearest center, a step of
//! k-means as in Rodinia's kmeans (Che et al. 2009). The reference generates the centers.

use super::{Host, whole};
use crate::kernels::given::Inputs;
use crate::random::Random;

/// Generated parts.
pub(super) const PARTS: &[&str] = &["centers"];

/// Capacity for coordinates in constant memory, in the kernel's source.
const ROOM: usize = 2048;

/// Returns the host side from the buffer `by_feature`, which has `features` rows, into `member`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let (features, clusters) = (inputs.value("features")? as usize, inputs.value("clusters")? as usize);
    let mut random = Random::new(inputs.seed);
    let centers: Vec<f32> = (0..clusters * features).map(|_| random.float()).collect();
    let mut words: Vec<u32> = centers.iter().map(|value| value.to_bits()).collect();
    words.resize(ROOM, 0);
    let host = Host::new(move |filled| {
        let table = filled.floats("by_feature")?;
        Ok(whole(filled.buffers(["member"])?, move || nearest(&table, &centers, features)))
    });
    Ok(host.with("centers", words))
}

/// Finds the center with the smallest squared distance for each point, the first of several.
/// Multiply-adds are fused, in the kernel's order.
fn nearest(table: &[f32], centers: &[f32], features: usize) -> Vec<i32> {
    let points = table.len() / features;
    let distance = |point: usize, center: &[f32]| {
        center.iter().enumerate().fold(0.0f32, |sum, (feature, &of_center)| {
            let apart = table[feature * points + point] - of_center;
            apart.mul_add(apart, sum)
        })
    };
    let of_point = |point: usize| {
        let all = centers.chunks(features).map(|center| distance(point, center));
        let (_, at) = (0..).zip(all).fold((f32::MAX, -1), |least, (at, distance)| if distance < least.0 { (distance, at) } else { least });
        at
    };
    (0..points).map(of_point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points in the plane, by feature: (0, 0), (4, 1), and (2, 2), which is equally far from both
    /// centers.
    #[test]
    fn the_first_of_the_nearest_wins() {
        let table = [0.0, 4.0, 2.0, 0.0, 1.0, 2.0];
        assert_eq!(nearest(&table, &[0.0, 2.0, 4.0, 2.0], 2), [0, 1, 0]);
        assert_eq!(nearest(&table, &[4.0, 2.0, 0.0, 2.0], 2), [1, 0, 0]);
    }
}
