//! Subjects of commits, as `docs/style.md` wants them: `area: imperative`, at most 72 characters.
//! The rule holds for commits after the one that brought the page.

use anyhow::{Result, ensure};

use crate::util::{command, stdout};

/// Characters of a subject.
const MOST: usize = 72;

/// The page with the rule.
const PAGE: &str = "docs/style.md";

/// Checks every commit since the rule; in a shallow clone those that are there.
pub(crate) fn check() -> Result<()> {
    let first = stdout(&mut command("git", ["log", "--diff-filter=A", "--format=%H", "--", PAGE]))?;
    let Some(first) = first.lines().last() else { return Ok(()) };
    let subjects = stdout(&mut command("git", ["log", "--no-merges", "--format=%h %s", &format!("{first}..HEAD")]))?;
    let wrong: Vec<String> = subjects.lines().filter_map(complaint).collect();
    ensure!(wrong.is_empty(), "subjects of commits, see {PAGE}:\n{}", wrong.join("\n"));
    Ok(())
}

/// Returns the fault of a commit's line: its hash, a space, its subject.
fn complaint(line: &str) -> Option<String> {
    let (_, subject) = line.split_once(' ')?;
    let length = subject.chars().count();
    if length > MOST {
        return Some(format!("{line}: {length} characters, at most {MOST}"));
    }
    let area = subject.split_once(": ").map(|(area, _)| area);
    let named = |area: &str| !area.is_empty() && area.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-, ".contains(c));
    (!area.is_some_and(named)).then(|| format!("{line}: not `area: imperative`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_have_an_area_and_fit() {
        assert_eq!(complaint("1234567 hw-model, lab: count stalls by cause"), None);
        assert!(complaint("1234567 Count stalls by cause").is_some());
        assert!(complaint("1234567 Area: count").is_some());
        assert!(complaint(&format!("1234567 lab: {}", "x".repeat(68))).is_some());
        assert_eq!(complaint(&format!("1234567 lab: {}", "x".repeat(67))), None);
    }
}
