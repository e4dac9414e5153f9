//! Names of functions and variables in C++. nvcc mangles them by the rules of the Itanium C++ ABI,
//! section 5.1. A message shows both names, and a user may give either.

use cpp_demangle::{BorrowedSymbol, DemangleOptions, DemangleWrite};

/// Maximum length of a demangled name, and of its demangled form, in bytes. Assumption: longer ones
/// are unreadable; the demangled form may be far longer.
const LONGEST: usize = 4096;

/// Text up to a length.
struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

fn translated(name: &str, options: DemangleOptions) -> Option<String> {
    // Text that is no mangled name may still be a mangled type: `f` is `float`.
    if !name.starts_with("_Z") || name.len() > LONGEST {
        return None;
    }
    let (symbol, rest) = BorrowedSymbol::with_tail(name.as_bytes()).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let mut text = Bounded(String::new());
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(text.0)
}

/// Demangles a name: `add(float*, int)` for `_Z3addPfi`; `None` for a name that is not mangled.
pub fn demangled(name: &str) -> Option<String> {
    translated(name, DemangleOptions::new())
}

/// Returns the demangled name without results and parameters: `ns::add<float>`.
fn bare(name: &str) -> Option<String> {
    translated(name, DemangleOptions::new().no_params().no_return_type())
}

/// Formats a name for lists: `_Z3addPfi (add(float*, int))`, or unchanged.
pub fn shown(name: &str) -> String {
    demangled(name).map_or_else(|| name.to_owned(), |plain| format!("{name} ({plain})"))
}

/// Formats a name within a sentence: the name in quotes, its demangled form in parentheses.
pub fn quoted(name: &str) -> String {
    demangled(name).map_or_else(|| format!("`{name}`"), |plain| format!("`{name}` ({plain})"))
}

/// Returns names in `known` that `given` may mean: the name itself, or names with this C++ form,
/// with or without parameters, template arguments and namespaces. An exact match takes precedence:
/// `add` refers to `add` even if `add(int)` exists.
pub fn matching<'n>(given: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let given = plain(given);
    let mut best: (u8, Vec<&'n str>) = (u8::MAX, Vec::new());
    for name in known {
        let closeness = if name == given {
            Some(0)
        } else if demangled(name).is_some_and(|whole| plain(&whole) == given) {
            Some(1)
        } else {
            bare(name).and_then(|bare| near(&plain(&bare), &given))
        };
        match closeness {
            Some(closeness) if closeness < best.0 => best = (closeness, vec![name]),
            Some(closeness) if closeness == best.0 => best.1.push(name),
            _ => {}
        }
    }
    best.1
}

/// Returns the rank of the match between `ns::add<float>` and the given name.
fn near(bare: &str, given: &str) -> Option<u8> {
    let template = bare.find('<').filter(|_| bare.ends_with('>'));
    let name = &bare[..template.unwrap_or(bare.len())];
    let last = name.rfind("::").map_or(0, |at| at + 2);
    [bare, name, &bare[last..], &name[last..]].iter().position(|form| *form == given).map(|form| form as u8 + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ADD: &str = "_Z3addPfS_i";
    const SCALE_FLOAT: &str = "_Z5scaleIfEvPT_i";
    const SCALE_DOUBLE: &str = "_Z5scaleIdEvPT_i";
    const INNER: &str = "_ZN5outer5innerEi";

    #[test]
    fn mangled_names_are_translated() {
        assert_eq!(demangled(ADD).as_deref(), Some("add(float*, float*, int)"));
        assert_eq!(demangled(INNER).as_deref(), Some("outer::inner(int)"));
        assert_eq!((demangled("saxpy"), demangled("f"), demangled("_Z3addPfS_i_param_0")), (None, None, None));
        assert_eq!((shown(ADD), shown("saxpy")), (format!("{ADD} (add(float*, float*, int))"), "saxpy".into()));
        assert_eq!((quoted(INNER), quoted("saxpy")), (format!("`{INNER}` (outer::inner(int))"), "`saxpy`".into()));
    }

    #[test]
    fn a_name_is_found_by_what_cpp_calls_it() {
        let known = [ADD, SCALE_FLOAT, SCALE_DOUBLE, INNER, "saxpy"];
        for (given, expected) in [
            ("saxpy", &["saxpy"][..]),
            (ADD, &[ADD]),
            ("add", &[ADD]),
            ("add(float*,float *, int)", &[ADD]),
            ("add(float*)", &[]),
            ("scale<float>", &[SCALE_FLOAT]),
            ("void scale<float>(float*, int)", &[SCALE_FLOAT]),
            ("scale", &[SCALE_FLOAT, SCALE_DOUBLE]),
            ("inner", &[INNER]),
            ("outer::inner", &[INNER]),
            ("outer", &[]),
            ("", &[]),
        ] {
            assert_eq!(matching(given, known.into_iter()), expected, "{given}");
        }
        assert_eq!(matching("add", [ADD, "add"].into_iter()), ["add"], "what is exact goes first");
    }

    proptest! {
        #[test]
        fn any_name_is_translated_or_not(name in "_Z[0-9A-Za-z_]{0,60}") {
            let _ = (demangled(&name), matching(&name, [ADD].into_iter()));
        }
    }
}
