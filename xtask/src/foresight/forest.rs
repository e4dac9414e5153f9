//! A forest of regression trees: how many times as fast as in SMK-P's configuration a kernel is in another one, from what SMK-P's run counted.

use anyhow::{Result, anyhow};
use smartcore::ensemble::random_forest_regressor::{RandomForestRegressor, RandomForestRegressorParameters};
use smartcore::linalg::basic::matrix::DenseMatrix;

use super::data::Mix;

/// Trees (assumption: many).
const TREES: usize = 1_000;

/// A kernel is taken to do so much at least, parts of what it does in SMK-P's configuration: logarithms need something.
const LEAST: f64 = 1e-3;

type Trees = RandomForestRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

/// What was learned.
pub(super) struct Forest(Trees);

impl Forest {
    /// From every kernel in every configuration of `mixes`.
    pub(super) fn learn(mixes: &[&Mix]) -> Result<Self> {
        let (mut rows, mut rates) = (Vec::new(), Vec::new());
        for mix in mixes {
            for choice in 0..mix.choices.len() {
                for kernel in (0..mix.alone.len()).filter(|&kernel| mix.choices[choice].tbs[kernel] > 0.0) {
                    rows.push(features(mix, choice, kernel));
                    rates.push((mix.choices[choice].ipc[kernel] / mix.choices[mix.smk].ipc[kernel]).max(LEAST).ln());
                }
            }
        }
        let tried = rows.first().map_or(1, |row| row.len().div_ceil(3));
        let parameters = RandomForestRegressorParameters::default().with_n_trees(TREES).with_m(tried).with_seed(1);
        let trees = Trees::fit(&matrix(&rows)?, &rates, parameters);
        Ok(Forest(trees.map_err(|error| anyhow!("no forest: {error}"))?))
    }

    /// What it expects of each kernel of `mix` in each configuration, in instructions per cycle. 0 without TBs.
    pub(super) fn rates(&self, mix: &Mix) -> Result<Vec<Vec<f64>>> {
        let of = |choice: usize| {
            let rows: Vec<_> = (0..mix.alone.len()).map(|kernel| features(mix, choice, kernel)).collect();
            let times = self.0.predict(&matrix(&rows)?).map_err(|error| anyhow!("the forest does not answer: {error}"))?;
            let rate = |(kernel, times): (usize, &f64)| {
                let runs = mix.choices[choice].tbs[kernel] > 0.0;
                if runs { mix.choices[mix.smk].ipc[kernel] * times.exp() } else { 0.0 }
            };
            Ok(times.iter().enumerate().map(rate).collect())
        };
        (0..mix.choices.len()).map(of).collect()
    }
}

fn matrix(rows: &Vec<Vec<f64>>) -> Result<DenseMatrix<f64>> {
    DenseMatrix::from_2d_vec(rows).map_err(|error| anyhow!("no mixes to learn from: {error}"))
}

/// What a tree may ask of a kernel in a configuration: its TBs and those of the others, now and in SMK-P's configuration, and what SMK-P's run counted of it and of
/// the others together.
fn features(mix: &Mix, choice: usize, kernel: usize) -> Vec<f64> {
    let (now, smk) = (&mix.choices[choice].tbs, &mix.choices[mix.smk].tbs);
    let share = |tbs: &[f64], of: usize| tbs[of] / mix.most_tbs[of];
    let others = || (0..mix.alone.len()).filter(move |&other| other != kernel);
    let others_share = |tbs: &[f64]| others().map(|other| share(tbs, other)).sum::<f64>();
    let mut row = vec![
        now[kernel] / smk[kernel].max(0.5),
        share(now, kernel),
        share(smk, kernel),
        others_share(now) / others_share(smk).max(f64::EPSILON),
        others_share(now),
        others_share(smk),
        mix.counts[kernel].0[0] / smk[kernel].max(0.5),
    ];
    row.extend(&mix.counts[kernel].0);
    row.extend((0..mix.counts[kernel].0.len()).map(|count| others().map(|other| mix.counts[other].0[count]).sum::<f64>()));
    row
}
