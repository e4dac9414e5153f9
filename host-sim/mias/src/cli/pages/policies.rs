//! `docs/reference/policies.md`, from the tables of policies, mechanisms and codes.

use super::markdown::{self, cell, code, table};
use mias_hw_model::config::GpuConfig;
use mias_lab::evaluate::storage::{Bits, bits};
use mias_lab::experiment::mechanisms::{Composed, MECHANISMS};
use mias_lab::experiment::policies::Policies;
use mias_lab::experiment::policy::{Policy, STATIC_HELP};
use mias_lab::gpus;
use mias_lab::table::grouped;
use mias_policies::policy::NAMED;
use mias_registers::PolicyCode;

/// GPU of the stored bits.
const GPU: &str = "rtx2060";

/// Policy without stored bits, to which mechanisms are added.
const BASE: &str = "spatial";

const ABOUT: &str = "This page lists the names that `--policy` and plans take, as `mias policies` prints them. A name is
`BASE[+VARIANT][+MECHANISM...]`, as in `warped-slicer+qbmi+dmil`. A variant belongs to one base. A policy may have
several mechanisms that set different keys.

[MIAS and profiling](../explanation/policies-mias.md), [partitioning SMs](../explanation/policies-partitioning.md) and
[memory and preemption](../explanation/policies-memory.md) describe the algorithms.";

const STORED: &str = "*Bits* are the storage in addition to quotas, resident TBs and launches, on `rtx2060`: in each SM, and
once per chip.";

pub(super) fn page() -> Result<String, String> {
    let gpu = gpus::load(GPU).map_err(|error| error.to_string())?;
    let known = Policies::default();
    let base = known.parse(BASE).ok().and_then(|policy| bits(policy, &gpu)).unwrap_or_default();
    let mut rows: Vec<Vec<String>> = in_order(&known).map(|policy| of_policy(policy, &gpu)).collect();
    rows.push(vec![
        code("static:N-M"),
        code(&(PolicyCode::FixedConfig as u32).to_string()),
        String::new(),
        String::new(),
        String::new(),
        cell(STATIC_HELP),
    ]);
    let headings = ["policy", "code", "option", "bits per SM", "bits per chip", "description"];
    let mut text = format!(
        "## Bases and variants\n\n{STORED} *Code* and *option* are values of `STRAP_POLICY` and `STRAP_OPTIONS`.\n\n{}",
        table(&headings, &rows)
    );
    let mechanisms = MECHANISMS.iter().map(|mechanism| {
        let policy = known.parse(&format!("{BASE}+{}", mechanism.name)).ok();
        let stored = policy.and_then(|policy| bits(policy, &gpu)).map(|all| Bits { sm: all.sm - base.sm, chip: all.chip - base.chip });
        let sets = policy.and_then(Policy::composed).map(Composed::sets).unwrap_or_default();
        let sets: Vec<String> = sets.iter().map(|key| code(key)).collect();
        let [sm, chip] = of_bits(stored);
        vec![code(&format!("+{}", mechanism.name)), sets.join(", "), sm, chip, cell(mechanism.help)]
    });
    let headings = ["mechanism", "sets", "bits per SM", "bits per chip", "description"];
    text += &format!("\n## Mechanisms\n\n{}", table(&headings, &mechanisms.collect::<Vec<_>>()));
    text += &format!("\n## Codes\n\nCodes of `STRAP_POLICY`. They never change.\n\n{}", codes());
    Ok(markdown::page("Policies and mechanisms", ABOUT, &text))
}

/// Returns every policy, variants after their bases.
fn in_order(known: &Policies) -> impl Iterator<Item = Policy> {
    let bases = known.all().filter(|policy| !policy.name().contains('+'));
    bases.flat_map(|base| {
        let begin = format!("{}+", base.name());
        std::iter::once(base).chain(known.all().filter(move |policy| policy.name().starts_with(&begin)))
    })
}

fn of_policy(policy: Policy, gpu: &GpuConfig) -> Vec<String> {
    let (number, option) = policy.in_firmware().map_or_else(Default::default, |named| {
        let option = if named.option == 0 { String::new() } else { format!("{:#x}", named.option) };
        ((named.code as u32).to_string(), option)
    });
    let [sm, chip] = of_bits(bits(policy, gpu));
    vec![code(policy.name()), code(&number), code(&option), sm, chip, cell(policy.help())]
}

fn of_bits(stored: Option<Bits>) -> [String; 2] {
    stored.map_or_else(Default::default, |Bits { sm, chip }| [grouped(sm), grouped(chip)])
}

fn codes() -> String {
    let row = |policy: PolicyCode| {
        let names = NAMED.iter().filter(|named| named.code == policy).map(|named| code(named.name));
        let name = code(&format!("{policy:?}"));
        vec![code(&(policy as u32).to_string()), name, cell(policy.meaning()), names.collect::<Vec<_>>().join(", ")]
    };
    table(&["code", "symbol", "meaning", "`--policy`"], &PolicyCode::ALL.map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_policy_is_on_the_page() {
        let page = page().unwrap();
        for (number, policy) in PolicyCode::ALL.into_iter().enumerate() {
            assert!(page.contains(&format!("| `{number}` | `{policy:?}` |")), "{policy:?}");
        }
        for name in Policies::default().names() {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
