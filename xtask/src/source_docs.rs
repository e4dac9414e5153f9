//! Bits and codes of the register map with their meanings: plain constants, parsed from the source
//! text that defines them.

use mias_registers::PolicyCode;

/// Source text of bits and codes.
pub(crate) const FIELDS: &str = include_str!("../../firmware/registers/src/fields.rs");

/// Returns all bits and codes, including those of policies.
pub(crate) fn all_groups() -> Vec<Group> {
    let mut groups = groups(FIELDS);
    groups.push(policy_codes());
    groups
}

/// Returns the codes of policies, in the form of [`groups`].
fn policy_codes() -> Group {
    let entry = |code: PolicyCode| Entry { name: format!("{code:?}"), value: (code as u32).to_string(), meaning: plain(code.meaning()) };
    Group { name: "PolicyCode".into(), meaning: "Policies, in `global::STRAP_POLICY`.".into(), entries: PolicyCode::ALL.map(entry).into() }
}

/// Module of constants, or enumeration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) meaning: String,
    pub(crate) entries: Vec<Entry>,
}

/// Constant, or variant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) meaning: String,
}

/// Returns the documented modules and enumerations of a source text: `pub mod` with `pub const`,
/// `pub enum` with variants.
pub(crate) fn groups(source: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut doc = String::new();
    let mut is_open = false;
    for line in source.lines() {
        let code = line.trim();
        if let Some(text) = code.strip_prefix("/// ") {
            doc += text;
            doc += " ";
            continue;
        }
        if code.starts_with("#[") {
            continue;
        }
        let meaning = plain(&std::mem::take(&mut doc));
        if line == "}" {
            is_open = false;
        } else if let Some(name) = ["pub mod ", "pub enum "].iter().find_map(|start| line.strip_prefix(start)?.strip_suffix(" {")) {
            groups.push(Group { name: name.to_owned(), meaning, entries: Vec::new() });
            is_open = true;
        } else if is_open
            && !meaning.is_empty()
            && let Some(group) = groups.last_mut()
        {
            let constant = code.strip_prefix("pub const ").and_then(|rest| rest.strip_suffix(';')?.split_once(": u32 = "));
            let variant = code.strip_suffix(',').map(|rest| rest.split_once(" = ").unwrap_or((rest, "")));
            if let Some((name, value)) = constant.or(variant) {
                group.entries.push(Entry { name: name.to_owned(), value: value.to_owned(), meaning });
            }
        }
    }
    groups
}

/// Converts a doc comment to one line of plain Markdown: links to items become their names.
pub(crate) fn plain(doc: &str) -> String {
    let mut text = doc.split_whitespace().collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    for path in ["super::", "crate::counters::", "crate::regs::"] {
        text = text.replace(path, "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_is_read_from_source() {
        let source = "/// Bits of [`super::A`].\npub mod bits {\n    /// One,\n    /// really.\n    pub const ONE: u32 = 1 << 0;\n}\n\n\
            /// Codes.\n#[derive(Clone)]\npub enum Code {\n /// Nothing.\n None = 0,\n}\n\nimpl Code
            /// {\n /// All.\n pub const ALL: u32 = 1;\n}\n";
        let entry = |name: &str, value: &str, meaning: &str| Entry { name: name.into(), value: value.into(), meaning: meaning.into() };
        let expected = [
            Group { name: "bits".into(), meaning: "Bits of `A`.".into(), entries: vec![entry("ONE", "1 << 0", "One, really.")] },
            Group { name: "Code".into(), meaning: "Codes.".into(), entries: vec![entry("None", "0", "Nothing.")] },
        ];
        assert_eq!(groups(source), expected);
    }
}
