//! `mias policies`: policies with their variants, and the mechanisms that combine with any of them.

use super::CliError;
use super::choices::Format;
use mias_lab::experiment::mechanisms::MECHANISMS;
use mias_lab::experiment::policies::Policies;
use mias_lab::gpus::fields::Field;
use mias_lab::output::Output;
use mias_lab::table;
use serde::Serialize;

#[derive(Debug, clap::Args)]
pub(super) struct PoliciesArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Contents of the list.
#[derive(Serialize)]
struct Listed {
    /// Policies, including variants.
    policies: Vec<Named>,
    /// Mechanisms, appended to a policy after a plus.
    mechanisms: Vec<Named>,
}

#[derive(Serialize)]
struct Named {
    name: String,
    help: &'static str,
    /// GPU keys that the policy sets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sets: Vec<String>,
}

pub(super) fn main(args: &PoliciesArgs, known: &Policies) -> Result<(), CliError> {
    let mut policies: Vec<Named> =
        known.all().map(|policy| Named { name: policy.name().into(), help: policy.help(), sets: Vec::new() }).collect();
    policies.push(Named { name: "static:N-M".into(), help: mias_lab::experiment::policy::STATIC_HELP, sets: Vec::new() });
    let mechanism = |mechanism: &mias_lab::experiment::mechanisms::Mechanism| Named {
        name: mechanism.name.into(),
        help: mechanism.help,
        sets: mechanism.fields().iter().map(Field::name).collect(),
    };
    let listed = Listed { policies, mechanisms: MECHANISMS.iter().map(mechanism).collect() };
    let text = match args.format {
        Format::Json => serde_json::to_string_pretty(&listed).map_err(CliError::internal)? + "\n",
        Format::Table => listed.text(),
    };
    Ok(Output::open(None)?.write(&text)?)
}

impl Listed {
    /// Returns the text form of the list. Variants follow their bases, which need not be adjacent
    /// in reports.
    fn text(&self) -> String {
        let bases = self.policies.iter().filter(|named| !named.name.contains('+'));
        let rows = bases.flat_map(|base| {
            let begin = format!("{}+", base.name);
            let variants = self.policies.iter().filter(move |named| named.name.starts_with(&begin));
            let variant = |named: &Named| vec![format!("  {}", named.name), named.help.to_owned()];
            std::iter::once(vec![base.name.clone(), base.help.to_owned()]).chain(variants.map(variant).collect::<Vec<_>>())
        });
        let mechanisms = self.mechanisms.iter().map(|named| vec![format!("+{}", named.name), named.help.to_owned()]);
        let of = |first: &str, rows: Vec<Vec<String>>| table::text(&table::of(&[first.to_owned(), String::new()], &rows));
        let policies = of("policy", rows.collect());
        let mechanisms = of("mechanism", mechanisms.collect());
        format!("{policies}\n{mechanisms}\nA policy may have mechanisms, as in --policy warped-slicer+qbmi+dmil.\n")
    }
}
