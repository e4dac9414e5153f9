//! How well fair share knows how slow kernels are: its estimate, for the shares that it chose, beside what came of the whole run, the search included.

use super::super::means::{joined, of, policies};
use super::super::page::Page;
use super::modes::EVEN;
use mias_lab::evaluate::results::{GroupResult, PolicyResult, StudyResult};
use mias_lab::evaluate::statistics::arithmetic;
use mias_lab::table::{DASH, number, percent};

/// The slowdown that was estimated over the one that was, less 1, of each kernel. Nothing where nothing is estimated, the search has not come to its
/// end, or a kernel made no progress.
fn errors(result: &PolicyResult) -> Vec<f64> {
    let Some(search) = result.search.as_ref().filter(|search| search.done) else { return Vec::new() };
    let both = search.estimated_progress.iter().zip(&result.normalized_ipc);
    let error =
        |(estimated, real): (&f64, &Option<f64>)| Some(real.filter(|real| *real > 0.0)? / Some(*estimated).filter(|e| *e > 0.0)? - 1.0);
    both.map(error).collect::<Option<_>>().unwrap_or_default()
}

fn mean_size(errors: &[f64]) -> Option<f64> {
    arithmetic(&errors.iter().map(|error| error.abs()).collect::<Vec<_>>())
}

fn all(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    if values.is_empty() { DASH.to_owned() } else { values.join(", ") }
}

/// A row for every pair and policy that estimates, and the means of all policies.
pub(super) fn tables(page: &mut Page, study: &StudyResult) {
    let row = |group: &GroupResult, policy: &str| {
        let result = of(group, policy)?;
        let search = result.search.as_ref().filter(|search| !search.estimated_progress.is_empty())?;
        let errors = errors(result);
        Some(vec![
            joined(group),
            policy.to_owned(),
            search.windows.to_string(),
            if search.done { "yes" } else { "no" }.to_owned(),
            all(search.estimated_progress.iter().map(|progress| number(Some(*progress), 2))),
            all(result.normalized_ipc.iter().map(|progress| number(*progress, 2))),
            all(errors.iter().map(|error| format!("{:+.0} %", 100.0 * error))),
            percent(mean_size(&errors)),
        ])
    };
    let known = policies(study);
    let rows: Vec<Vec<String>> = study.groups.iter().flat_map(|group| known.iter().filter_map(move |policy| row(group, policy))).collect();
    if rows.is_empty() {
        return;
    }
    page.heading("Slowdowns: the estimate beside what was");
    let headings = [
        "pair",
        "policy",
        "windows",
        "came to its end",
        "progress estimated",
        "progress really",
        "error of the slowdown",
        "its size in the mean",
    ];
    page.table(&headings, &rows, true);
    page.note("Progress: IPC over that of the kernel alone; estimated for the shares that were chosen, really over the whole run, the search included. Error: the slowdown that was estimated over the one that was.");
    let means = |policy: &&'static str| {
        let results: Vec<(&PolicyResult, &PolicyResult)> =
            study.groups.iter().filter_map(|group| Some((of(group, policy)?, of(group, EVEN)?))).collect();
        let mean = |of: fn(&(&PolicyResult, &PolicyResult)) -> Option<f64>| arithmetic(&results.iter().filter_map(of).collect::<Vec<_>>());
        let errors: Vec<f64> = results.iter().flat_map(|(result, _)| errors(result)).collect();
        vec![
            (*policy).to_owned(),
            results.len().to_string(),
            results.iter().filter(|(result, _)| result.search.as_ref().is_some_and(|search| search.done)).count().to_string(),
            percent(mean_size(&errors)),
            number(mean(|(result, _)| result.metrics.fairness), 3),
            number(mean(|(result, even)| Some(result.metrics.stp? / even.metrics.stp?)), 3),
            number(mean(|(result, even)| Some(even.metrics.antt? / result.metrics.antt?)), 3),
        ]
    };
    let headings = [
        "policy",
        "n",
        "came to their end",
        "mean error of the slowdown",
        "fairness",
        "STP over the even split",
        "ANTT of the even split over it",
    ];
    page.table(&headings, &known.iter().map(means).collect::<Vec<_>>(), true);
}

#[cfg(test)]
mod tests {
    use super::super::given::result;
    use super::*;
    use mias_lab::experiment::machine::SearchFound;

    /// 2 times as slow where it was 4 times is half of it, 5 times where it was 4 a quarter more; in the mean 37.5 %.
    #[test]
    fn errors_are_of_slowdowns() {
        let found = SearchFound {
            memory_intensive: Vec::new(),
            windows: 5,
            done: true,
            estimated_progress: vec![0.5, 0.2],
            active_warps: Vec::new(),
        };
        let mut estimated = result("fair-share", 0.5, &[1.0, 1.0], 1.0);
        estimated.normalized_ipc = vec![Some(0.25); 2];
        estimated.search = Some(found.clone());
        let known = errors(&estimated);
        assert!((known[0] + 0.5).abs() < 1e-9 && (known[1] - 0.25).abs() < 1e-9, "{known:?}");
        assert!((mean_size(&known).unwrap() - 0.375).abs() < 1e-9);
        estimated.search = Some(SearchFound { done: false, ..found });
        assert!(errors(&estimated).is_empty());
    }
}
