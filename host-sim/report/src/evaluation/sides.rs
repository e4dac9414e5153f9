//! Who chooses the better side, inside or beside, as rows for people: in the terminal and on the page ([`mias_lab::evaluate::sides`]).

use mias_lab::evaluate::results::StudyResult;
use mias_lab::evaluate::sides::{Attained, Judged, Objective, Side, is_of, judge};
use mias_lab::table::{self, DASH, percent};

/// What the rows say.
pub(super) const WHAT: &str = "Inside: TBs of several kernels on the same SMs (MIAS, Warped-Slicer, SMK-P); beside: each kernel has SMs of its own (Spatial, search); both: a policy tries \
                        one and the other. A side is worth what its best policy attains, known afterwards. Right: groups for which the better side is chosen; of the better side: \
                        mean of what the choice attains of it. The rule asks one counter of the kernels alone; it is learned for each group from groups that share no kernel with \
                        it, and stands beside the side that is better for most of these. In the last column it is learned from all groups.";

/// Headings of the rows.
pub(super) const HEADINGS: [&str; 5] = ["objective", "who chooses", "right", "of the better side", "rule"];

/// The rows of an objective.
pub(super) fn rows(objective: Objective, judged: &Judged) -> Vec<Vec<String>> {
    let row = |who: &str, attained: Attained, rule: String| {
        let Attained { right, groups, share } = attained;
        vec![objective.name().to_owned(), who.to_owned(), format!("{right} of {groups}"), percent((groups > 0).then_some(share)), rule]
    };
    let both: Vec<f64> = judged
        .groups
        .iter()
        .filter(|group| group.best[Side::Both as usize].is_some())
        .filter_map(|group| group.share(Side::Both))
        .collect();
    let of_both = (!both.is_empty()).then(|| both.iter().sum::<f64>() / both.len() as f64);
    let rule = judged.of_all.map_or_else(|| DASH.to_owned(), |rule| rule.say());
    vec![
        row("always inside", judged.always[0], DASH.to_owned()),
        row("always beside", judged.always[1], DASH.to_owned()),
        row("what most others say", judged.majority, DASH.to_owned()),
        row("the rule", judged.rule, rule),
        vec![objective.name().to_owned(), "both, the best such policy".to_owned(), DASH.to_owned(), percent(of_both), DASH.to_owned()],
    ]
}

/// The table; empty where no plan asks the question.
pub(super) fn text(studies: &[StudyResult]) -> String {
    if !is_of(studies) {
        return String::new();
    }
    let rows: Vec<Vec<String>> = Objective::ALL.into_iter().flat_map(|objective| rows(objective, &judge(studies, objective))).collect();
    format!("Inside or beside\n{}{WHAT}\n\n", table::text(&table::of(&HEADINGS.map(str::to_owned), &rows)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::figure::geometry::evaluation;
    use crate::evaluation::html;
    use mias_lab::evaluate::memory::MemoryResult;

    /// A plan that asks nothing of memory, or has no policy that may do both, has neither table nor section; one that has them has five rows for each
    /// objective, of as many groups as ran on both sides.
    #[test]
    fn only_plans_that_ask_have_an_answer() {
        let mut some = evaluation(1);
        some.studies.truncate(1);
        assert_eq!(text(&some.studies), "");
        let study = &mut some.studies[0];
        let memory = MemoryResult {
            l1_miss_rate: Some(0.5),
            fails_per_access: Some(0.0),
            lsu_stall_share: Some(0.1),
            alu_utilization: Some(0.2),
            kernels: Vec::new(),
        };
        study.kernels.iter_mut().for_each(|kernel| kernel.memory = Some(memory.clone()));
        for (number, group) in (1..).zip(&mut study.groups) {
            let one = group.policies[0].clone();
            group.policies = [("smk", f64::from(number)), ("spatial", 2.0), ("maestro+search", 1.0)]
                .map(|(policy, stp)| {
                    let mut result = one.clone();
                    (result.policy, result.metrics.stp, result.metrics.antt, result.energy_joules) =
                        (policy, Some(stp), Some(2.0 / stp), Some(1.0));
                    result
                })
                .to_vec();
        }
        let groups = study.groups.len();
        assert!(groups > 3, "{groups}");
        // Group n has STP n inside and 2 beside: inside is better, or as good, from the second on.
        for objective in Objective::ALL {
            let rows = rows(objective, &judge(&some.studies, objective));
            assert_eq!((rows[0][2].as_str(), rows[1][2].as_str()), (&*format!("{} of {groups}", groups - 1), &*format!("1 of {groups}")));
        }
        assert_eq!(text(&some.studies).lines().filter(|line| line.contains("what most others say")).count(), 3);
        assert!(html::render(&some).contains("Inside or beside"));
    }
}
