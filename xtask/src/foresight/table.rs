//! A plain table: how many times SMK-P's TBs the best configurations of other mixes have: of the same mix on other machines where it is known, else of its class.
//!
//! Kernels have no names in it: the first of a class is the one that issues most in SMK-P's configuration, and so on. A mix of a class and size that the table lacks
//! stays as SMK-P has it.

use super::data::Mix;

/// The configuration of `mix` that is nearest to what the table says, in logarithms of TBs.
pub(super) fn choose(from: &[&Mix], mix: &Mix) -> usize {
    let all = |is_like: &dyn Fn(&Mix) -> bool| -> Vec<&Mix> { from.iter().filter(|other| is_like(other)).copied().collect() };
    let mut like = all(&|other| other.has_same_kernels(mix));
    if like.is_empty() {
        like = all(&|other| other.class == mix.class && other.alone.len() == mix.alone.len());
    }
    if like.is_empty() {
        return mix.smk;
    }
    let steps = |kernel: usize| like.iter().map(|other| steps(other, other.best())[kernel]).sum::<f64>() / like.len() as f64;
    let asked: Vec<f64> = (0..mix.alone.len()).map(steps).collect();
    let distance = |choice: usize| self::steps(mix, choice).iter().zip(&asked).map(|(is, asked)| (is - asked).powi(2)).sum::<f64>();
    super::largest(0..mix.choices.len(), |choice| -distance(choice))
}

/// Logarithms of TBs over SMK-P's, whoever issues most first. A kernel without TBs has half a TB, so that it has a logarithm.
fn steps(mix: &Mix, choice: usize) -> Vec<f64> {
    let tbs = |choice: usize, kernel: usize| mix.choices[choice].tbs[kernel].max(0.5);
    let mut kernels: Vec<usize> = (0..mix.alone.len()).collect();
    kernels.sort_by(|one, other| mix.counts[*other].0[0].total_cmp(&mix.counts[*one].0[0]));
    kernels.iter().map(|&kernel| (tbs(choice, kernel) / tbs(mix.smk, kernel)).ln()).collect()
}
