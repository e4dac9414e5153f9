//! Citations of definitions in generated pages. `cargo xtask` compiles this file, too.

/// First definition of each page of definitions.
const DEFINITIONS: [u32; 4] = [1, 61, 121, 171];

/// Mark before the definitions that code cites.
const SOURCES: &str = "sources.md ";

/// Returns prose of a page in a folder of the book, with links in place of citations such as
/// `sources.md D12 and D13`.
pub(crate) fn linked(text: &str) -> String {
    let Some((before, mut rest)) = text.split_once(SOURCES) else { return text.to_owned() };
    let mut new = before.to_owned();
    let mut between = "";
    while let Some(behind) = rest.strip_prefix(between).and_then(|rest| rest.strip_prefix('D')) {
        let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(number) = behind[..digits].parse::<u32>() else { break };
        let page = DEFINITIONS.iter().filter(|first| **first <= number).count();
        new += &format!("{between}[D{number}](../sources/definitions-{page}.md#d{number})");
        rest = &behind[digits..];
        between = [", and ", ", ", " and ", " to "].into_iter().find(|between| rest.starts_with(between)).unwrap_or(" ");
    }
    if new.len() == before.len() {
        new += SOURCES;
    }
    new + &linked(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_linked() {
        let link = |page, number| format!("[D{number}](../sources/definitions-{page}.md#d{number})");
        let expected = format!("({}, {} and {}), DRAM, {}", link(1, 2), link(2, 61), link(3, 170), link(4, 190));
        assert_eq!(linked("(sources.md D2, D61 and D170), DRAM, sources.md D190"), expected);
        assert_eq!(linked("sources.md alone"), "sources.md alone");
    }
}
