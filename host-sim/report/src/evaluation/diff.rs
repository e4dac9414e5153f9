//! Text output of `mias diff`.

use mias_lab::evaluate::diff::Diff;
use mias_lab::evaluate::record::Identity;

/// Formats a line per unreadable file, then a line per different run, the largest change first.
/// Runs that only one folder has follow, then the counts.
pub fn render(diff: &Diff, models: (&str, &str)) -> String {
    let mut text = String::new();
    if models.0 != models.1 {
        text += &format!("versions {} and {}\n", models.0, models.1);
    }
    text.extend(diff.unreadable.iter().map(|line| format!("{line}\n")));
    for difference in &diff.different {
        text += &format!("{}: {}\n", difference.question.describe(), difference.what.join(", "));
    }
    let only =
        |which: &str, runs: &[Identity]| runs.iter().map(|run| format!("only in the {which}: {}\n", run.describe())).collect::<String>();
    text += &only("first", &diff.only_first);
    text += &only("second", &diff.only_second);
    let counts = (diff.same, diff.different.len(), diff.only_first.len(), diff.only_second.len());
    text + &format!(
        "{} runs are identical, {} differ, {} only in the first, {} only in the second\n",
        counts.0, counts.1, counts.2, counts.3
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_comes_first() {
        let diff = Diff { unreadable: vec!["cannot read it".into()], ..Diff::default() };
        assert!(render(&diff, ("m", "m")).starts_with("cannot read it\n0 runs are identical"));
        assert!(render(&diff, ("m", "n")).starts_with("versions m and n\ncannot read it\n"));
    }
}
