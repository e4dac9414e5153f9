//! `mias kernels --check`: executes whole grids and compares results with the host.

use super::choices::Format;
use super::{CliError, interrupt, progress};
use mias_lab::characterise::check::{Checked, check};
use mias_lab::experiment::request::Request;
use mias_lab::output::Output;
use mias_lab::table::{self, DASH, grouped, number};
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    name: String,
    tbs: u64,
    /// Executed PTX warp instructions; `None` for a trace, which is not executed and has no seconds
    /// either.
    ptx_warp_insts: Option<u64>,
    seconds: Option<f64>,
    warp_insts_per_second: Option<f64>,
    /// Whether the results are correct; `None` for a kernel without a host reference.
    right: Option<bool>,
    wrong_because: Option<String>,
    /// Quality of the results, for kernels whose results are not just right or wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<String>,
    /// True for a trace recorded elsewhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    trace: bool,
}

impl Row {
    fn new(name: &str, checked: Checked, has_reference: bool) -> Self {
        let seconds = checked.executing.as_secs_f64();
        Row {
            name: name.to_owned(),
            tbs: checked.tbs,
            ptx_warp_insts: Some(checked.warp_insts),
            seconds: Some(seconds),
            warp_insts_per_second: (seconds > 0.0).then(|| checked.warp_insts as f64 / seconds),
            right: has_reference.then_some(checked.wrong.is_none()),
            wrong_because: checked.wrong.map(|wrong| wrong.to_string()),
            quality: None,
            trace: false,
        }
    }

    /// Returns the result row of a trace, which is correct by definition.
    fn of_trace(name: &str, tbs: u64) -> Self {
        let (name, none) = (name.to_owned(), None);
        Row {
            name,
            tbs,
            ptx_warp_insts: none,
            seconds: None,
            warp_insts_per_second: None,
            right: None,
            wrong_because: None,
            quality: None,
            trace: true,
        }
    }

    fn results(&self) -> &'static str {
        match self.right {
            Some(true) => "right",
            Some(false) => "WRONG",
            None if self.trace => "a trace: nothing to check",
            None => "no host reference",
        }
    }
}

/// Checks the kernels one after the other; each uses all workers.
pub(super) fn main(requests: &[(String, Request)], format: Format, output: &Output) -> Result<(), CliError> {
    let cancel = interrupt::catch()?;
    let bar = progress::tracing(&requests.iter().map(|(word, request)| request.name(word)).collect::<Vec<_>>());
    let mut rows: Vec<Row> = Vec::new();
    for (word, request) in requests {
        let spec = match request {
            Request::Kernel(spec) => spec,
            Request::Trace(trace) => {
                let tbs = trace.launches()?.iter().map(|(_, info)| info.tbs()).sum();
                rows.push(Row::of_trace(&request.name(word), tbs));
                continue;
            }
        };
        let prepared = spec.prepare()?;
        bar.inc_length(prepared.instance.launch.tbs());
        let mut before = 0;
        let mut progress = |done: u64, _| bar.inc(done - std::mem::replace(&mut before, done));
        let Some(checked) = check(&prepared, &cancel, &mut progress)? else { break };
        let row = Row::new(&request.name(word), checked, prepared.instance.expected.is_some());
        rows.push(Row { quality: prepared.instance.quality(), ..row });
    }
    bar.finish_and_clear();
    let text = match format {
        Format::Json => serde_json::to_string_pretty(&rows).map_err(CliError::internal)? + "\n",
        Format::Table => text(&rows),
    };
    if !rows.is_empty() {
        output.write(&text)?;
    }
    let missing: Vec<&str> = requests[rows.len()..].iter().map(|(word, _)| word.as_str()).collect();
    let wrong: Vec<&str> = rows.iter().filter_map(|row| row.wrong_because.as_deref()).collect();
    match (wrong.as_slice(), missing.as_slice()) {
        ([], []) => Ok(()),
        ([], _) => Err(CliError::Interrupted(format!("not checked: {}", missing.join(", ")))),
        (wrong, _) => Err(CliError::internal(wrong.join("; "))),
    }
}

fn text(rows: &[Row]) -> String {
    let mut table = table::new(&["kernel", "TBs", "PTX warp insts", "seconds", "million/s", "results"]);
    for row in rows {
        let rate = row.warp_insts_per_second.map(|rate| rate / 1e6);
        let insts = row.ptx_warp_insts.map_or_else(|| DASH.to_owned(), grouped);
        let cells = [grouped(row.tbs), insts, number(row.seconds, 2), number(rate, 1), row.results().to_owned()];
        table.add_row(std::iter::once(row.name.clone()).chain(cells));
    }
    let qualities = rows.iter().filter_map(|row| Some(format!("{}: {}\n", row.name, row.quality.as_ref()?)));
    table::text(&table) + &qualities.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_workloads::kernels::{KernelError, Mismatch};
    use std::time::Duration;

    #[test]
    fn right_wrong_and_unknown_are_told_apart() {
        let row = |wrong: Option<KernelError>, has_reference| {
            Row::new("k", Checked { tbs: 2, warp_insts: 3_000_000, executing: Duration::from_secs(2), wrong }, has_reference)
        };
        let mismatch = Mismatch { kernel: "k".into(), index: 7, found: 1.0, expected: 2.0 };
        let rows = [row(None, true), row(Some(mismatch.into()), true), row(None, false)];
        assert_eq!(rows.iter().map(Row::results).collect::<Vec<_>>(), ["right", "WRONG", "no host reference"]);
        assert!(rows[1].wrong_because.as_deref().is_some_and(|why| why.contains("result 7 is 1")));
        let text = text(&rows);
        assert_eq!(text.lines().nth(1), Some("k         2       3,000,000     2.00        1.5              right"), "{text}");
    }
}
