//! Host references of the built-in kernels: expected results, and buffer contents that a TOML file
//! cannot express. A kernel file names its reference: `reference = "matrix-product"`.
//!
//! Each reference has one file and one line in [`ALL`].

mod alignment;
mod angle_histograms;
mod binomial_tree;
mod black_scholes;
mod block_differences;
mod block_sums;
mod box_forces;
mod breadth_first;
mod cheapest_ways;
mod circle_scores;
mod color_planes;
mod convolution;
mod coulomb_potential;
mod cutoff_potential;
mod diffusion;
mod dxt1;
mod dxt1_error;
mod elimination_step;
mod euler_fluxes;
mod field_steps;
mod fluid_step;
mod found_again;
mod heat_steps;
mod histogram;
mod jagged_diagonals;
mod layer_sums;
mod layer_training;
mod matrix_product;
mod matrix_vector;
mod n_body;
mod nearest_centers;
mod opening_cost;
mod pages_of_lines;
mod product_in_memory;
mod search_tree;
mod smoothing;
mod sorted_runs;
mod stencil;
mod stored_product;
mod transposition;
mod two_matrix_vector;
mod walsh;
mod wavelet_level;

use super::Expected;
use super::given::Inputs;
use mias_ptx::{Arg, Buffer, DeviceMemory};

/// A host reference.
#[derive(Debug)]
pub(super) struct Reference {
    /// Name in kernel files.
    pub(super) name: &'static str,
    /// Generated contents of buffers: the `PART` of `reference:PART`.
    pub(super) parts: &'static [&'static str],
    make: fn(&Inputs) -> Result<Host, String>,
}

/// All references.
pub(super) const ALL: &[Reference] = &[
    Reference { name: "matrix-product", parts: &[], make: matrix_product::host },
    Reference { name: "walsh-pass", parts: &[], make: walsh::host },
    Reference { name: "n-body", parts: &[], make: n_body::host },
    Reference { name: "black-scholes", parts: &[], make: black_scholes::host },
    Reference { name: "binomial-tree", parts: binomial_tree::PARTS, make: binomial_tree::host },
    Reference { name: "breadth-first-search", parts: breadth_first::PARTS, make: breadth_first::host },
    Reference { name: "dxt1", parts: dxt1_error::PARTS, make: dxt1_error::host },
    Reference { name: "cutoff-potential", parts: &[], make: cutoff_potential::host },
    Reference { name: "heat-steps", parts: &[], make: heat_steps::host },
    Reference { name: "cheapest-ways", parts: &[], make: cheapest_ways::host },
    Reference { name: "layer-sums", parts: &[], make: layer_sums::host },
    Reference { name: "breadth-first-start", parts: breadth_first::start::PARTS, make: breadth_first::start::host },
    Reference { name: "stencil", parts: &[], make: stencil::host },
    Reference { name: "product-in-memory", parts: &[], make: product_in_memory::host },
    Reference { name: "jagged-diagonals", parts: jagged_diagonals::PARTS, make: jagged_diagonals::host },
    Reference { name: "euler-fluxes", parts: euler_fluxes::PARTS, make: euler_fluxes::host },
    Reference { name: "block-sums", parts: &[], make: block_sums::host },
    Reference { name: "transposition", parts: &[], make: transposition::host },
    Reference { name: "matrix-vector", parts: &[], make: matrix_vector::host },
    Reference { name: "opening-cost", parts: opening_cost::PARTS, make: opening_cost::host },
    Reference { name: "wavelet-level", parts: &[], make: wavelet_level::host },
    Reference { name: "color-planes", parts: &[], make: color_planes::host },
    Reference { name: "nearest-centers", parts: nearest_centers::PARTS, make: nearest_centers::host },
    Reference { name: "diffusion-coefficients", parts: &[], make: diffusion::coefficients },
    Reference { name: "diffusion-step", parts: &[], make: diffusion::step },
    Reference { name: "tree-ranges", parts: search_tree::RANGE_PARTS, make: search_tree::ranges },
    Reference { name: "tree-keys", parts: search_tree::KEY_PARTS, make: search_tree::keys },
    Reference { name: "alignment-1", parts: alignment::PARTS, make: alignment::longest },
    Reference { name: "alignment-2", parts: alignment::PARTS, make: alignment::behind },
    Reference { name: "breadth-first-neighbors", parts: breadth_first::level::NEIGHBOR_PARTS, make: breadth_first::level::neighbors },
    Reference { name: "breadth-first-frontier", parts: breadth_first::level::FRONTIER_PARTS, make: breadth_first::level::frontier },
    Reference { name: "layer-products", parts: &[], make: layer_training::products },
    Reference { name: "layer-moves", parts: &[], make: layer_training::moves },
    Reference { name: "found-again", parts: found_again::PARTS, make: found_again::host },
    Reference { name: "smoothing", parts: &[], make: smoothing::host },
    Reference { name: "angle-histograms", parts: angle_histograms::PARTS, make: angle_histograms::host },
    Reference { name: "circle-scores", parts: circle_scores::PARTS, make: circle_scores::host },
    Reference { name: "coulomb-potential", parts: coulomb_potential::PARTS, make: coulomb_potential::host },
    Reference { name: "sorted-runs", parts: &[], make: sorted_runs::host },
    Reference { name: "box-forces", parts: &[], make: box_forces::host },
    Reference { name: "elimination-step", parts: &[], make: elimination_step::host },
    Reference { name: "fluid-step", parts: fluid_step::PARTS, make: fluid_step::host },
    Reference { name: "two-matrix-vector", parts: &[], make: two_matrix_vector::host },
    Reference { name: "pages-of-lines", parts: pages_of_lines::PARTS, make: pages_of_lines::host },
    Reference { name: "convolution", parts: &[], make: convolution::host },
    Reference { name: "electric-field-step", parts: &[], make: field_steps::electric },
    Reference { name: "magnetic-field-step", parts: &[], make: field_steps::magnetic },
    Reference { name: "scaled-product", parts: &[], make: stored_product::scaled },
    Reference { name: "added-product", parts: &[], make: stored_product::added },
    Reference { name: "histogram", parts: &[], make: histogram::host },
    Reference { name: "block-differences", parts: &[], make: block_differences::host },
];

impl Reference {
    /// Creates the host side for an input.
    pub(super) fn host(&self, inputs: &Inputs) -> Result<Host, String> {
        (self.make)(inputs)
    }
}

/// Function that creates the expected results once all buffers are filled.
type Expect = Box<dyn FnOnce(&Filled<'_>) -> Result<Expected, String>>;

/// Host side of a launch.
pub(super) struct Host {
    parts: Vec<(&'static str, Vec<u32>)>,
    expect: Expect,
}

impl Host {
    /// Creates a host side with the results of `expect`.
    fn new(expect: impl FnOnce(&Filled<'_>) -> Result<Expected, String> + 'static) -> Self {
        Host { parts: Vec::new(), expect: Box::new(expect) }
    }

    /// Adds the contents of a buffer.
    fn with(mut self, part: &'static str, words: Vec<u32>) -> Self {
        self.parts.push((part, words));
        self
    }

    /// Returns the contents of a buffer.
    pub(super) fn words(&self, part: &str) -> Option<Vec<u32>> {
        self.parts.iter().find(|(name, _)| *name == part).map(|(_, words)| words.clone())
    }

    /// Returns the expected results.
    pub(super) fn expected(self, filled: &Filled<'_>) -> Result<Expected, String> {
        (self.expect)(filled)
    }
}

/// Expects the floats of several buffers, one after the other.
fn floats(
    buffers: Vec<Buffer>,
    agrees: impl Fn(f32, f32) -> bool + Send + Sync + 'static,
    reference: impl Fn() -> Vec<f32> + Send + Sync + 'static,
) -> Expected {
    let results = move |memory: &DeviceMemory| buffers.iter().flat_map(|&buffer| memory.floats(buffer)).collect();
    Expected { results: Box::new(results), reference: Box::new(reference), agrees: Box::new(agrees), quality: None }
}

/// Expects the words of several buffers, one after the other: integers up to 2^24, which a float
/// represents.
fn whole(buffers: Vec<Buffer>, reference: impl Fn() -> Vec<i32> + Send + Sync + 'static) -> Expected {
    let number = |word: i32| word as f32;
    let results = move |memory: &DeviceMemory| {
        let words = buffers.iter().flat_map(|&buffer| memory.words(buffer));
        words.map(|word| number(word as i32)).collect()
    };
    Expected {
        results: Box::new(results),
        reference: Box::new(move || reference().into_iter().map(number).collect()),
        agrees: Box::new(Expected::equal),
        quality: None,
    }
}

/// A launch with filled buffers, before it runs.
pub(super) struct Filled<'a> {
    pub(super) memory: &'a DeviceMemory,
    pub(super) buffers: &'a [(String, Buffer)],
    pub(super) args: &'a [Arg],
}

impl Filled<'_> {
    /// Finds a buffer by name.
    fn buffer(&self, name: &str) -> Result<Buffer, String> {
        let found = self.buffers.iter().find(|(known, _)| known == name).map(|(_, buffer)| *buffer);
        found.ok_or_else(|| format!("the reference needs a buffer `{name}`"))
    }

    /// Finds several buffers by name.
    fn buffers<const N: usize>(&self, names: [&str; N]) -> Result<Vec<Buffer>, String> {
        names.iter().map(|name| self.buffer(name)).collect()
    }

    /// Returns the contents of a buffer of words.
    fn words(&self, name: &str) -> Result<Vec<u32>, String> {
        Ok(self.memory.words(self.buffer(name)?).collect())
    }

    /// Returns the contents of a buffer of floats.
    fn floats(&self, name: &str) -> Result<Vec<f32>, String> {
        Ok(self.memory.floats(self.buffer(name)?))
    }

    /// Returns the value of an f32 argument by index, from 0.
    fn float(&self, index: usize) -> Result<f32, String> {
        match self.args.get(index) {
            Some(Arg::F32(value)) => Ok(*value),
            _ => Err(format!("the reference needs an f32 as argument {}", index + 1)),
        }
    }
}
