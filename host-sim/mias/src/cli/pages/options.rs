//! `docs/reference/options.md`, from the table of parameters.

use super::super::options::values;
use super::markdown::{self, cell, code, table};
use mias_lab::experiment::parameters::{Kind, OF_RUN, PARAMETERS, Parameter, check_together};

const ABOUT: &str = "This page lists the parameters that `--set KEY=VALUE` and `[experiment.parameters]` of a
[plan](plan.md) set. `mias options` prints them. `--set` also takes every key of a [GPU file](gpu.md), as in
`--set l1.mshrs=128`, and `KEY=off` removes an optional table of it.";

const IN_PLANS: &str = "In a plan a parameter may also have a list of values, or a range for numbers: then the plan runs
each value.";

const EDITORS: &str =
    "Editors check and complete TOML files by a JSON Schema. Taplo and Even Better TOML read its path from the first line,
relative to the file, as in `#:schema ./plan.schema.json`. `mias schema` prints the schemas of GPU files, plans and
kernel files. `docs/generated/` has those of this version.";

pub(super) fn page() -> Result<String, String> {
    let mut text = format!("## Parameters\n\n{IN_PLANS}\n\n{}", rows(&PARAMETERS));
    text += &format!("\n## Parameters of `mias run`\n\n{}", rows(&OF_RUN));
    text += &format!("\n## Conflicts\n\n{}", conflicts());
    text += &format!("\n## Editors\n\n{EDITORS}\n");
    Ok(markdown::page("Options", ABOUT, &text))
}

fn rows(parameters: &[Parameter]) -> String {
    let row = |parameter: &Parameter| {
        let (values, about) = match parameter.kind {
            Kind::Named { choices, .. } => {
                let choices = choices();
                let names: Vec<String> = choices.iter().map(|(name, _)| code(name)).collect();
                (names.join(", "), markdown::with_choices(parameter.about, choices))
            }
            Kind::Text { examples, .. } => (format!("as in {}", examples.map(code).join(" or ")), parameter.about.to_owned()),
            Kind::Whole { .. } | Kind::Flag { .. } => (values(parameter), parameter.about.to_owned()),
        };
        vec![code(parameter.name), values, cell(parameter.default), cell(&about)]
    };
    table(&["key", "values", "default", "description"], &parameters.iter().map(row).collect::<Vec<_>>())
}

/// Returns a row for each parameter that excludes or needs another.
fn conflicts() -> String {
    let names: Vec<&str> = PARAMETERS.iter().chain(&OF_RUN).map(|parameter| parameter.name).collect();
    let may_be = |some: &[&str]| check_together(|key| some.contains(&key)).is_ok();
    let listed = |names: &mut dyn Iterator<Item = &&str>| names.map(|name| code(name)).collect::<Vec<_>>().join(", ");
    let row = |name: &&str| {
        let alone = may_be(&[*name]);
        let excluded = listed(&mut names.iter().filter(|other| alone && may_be(&[**other]) && !may_be(&[*name, **other])));
        let needed = listed(&mut names.iter().filter(|other| !alone && may_be(&[*name, **other])));
        vec![code(name), excluded, needed]
    };
    let rows: Vec<Vec<String>> = names.iter().map(row).filter(|row| row[1..].iter().any(|cell| !cell.is_empty())).collect();
    table(&["key", "not with", "only with"], &rows)
}
