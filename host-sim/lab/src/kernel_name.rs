//! Short names of kernels, for columns of tables and for figures. Documents for programs have the
//! whole name.

use crate::experiment::recorded::LIST;
use std::borrow::Cow;
use std::path::Path;

/// Returns a short name: for a trace, its list's folder or its file, and its launch.
/// `runs/hotspot/kernelslist.g#3` becomes `hotspot#3`, and `runs/app.mtrace` becomes `app.mtrace`.
/// Other names are unchanged.
pub fn short(name: &str) -> Cow<'_, str> {
    let (path, launch) = name.split_at(name.find('#').unwrap_or(name.len()));
    let path = Path::new(path);
    let (Some(file), Some("g" | "mtrace")) = (path.file_name(), path.extension().and_then(|end| end.to_str())) else {
        return Cow::Borrowed(name);
    };
    // All lists have the same file name, so the folder's name is used.
    let folder = path.parent().and_then(Path::file_name).filter(|_| file == LIST);
    Cow::Owned(format!("{}{launch}", folder.unwrap_or(file).display()))
}

/// Returns whether `name` is the name of a trace.
pub fn is_trace(name: &str) -> bool {
    matches!(short(name), Cow::Owned(_))
}

/// Returns the short names of kernels that run together, or the whole name if the short one is
/// ambiguous.
pub fn columns<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<Cow<'n, str>> {
    let whole: Vec<&str> = names.into_iter().collect();
    let short: Vec<Cow<'_, str>> = whole.iter().map(|name| short(name)).collect();
    let alone = |name: &str| short.iter().filter(|other| *other == name).count() == 1;
    whole.iter().zip(&short).map(|(whole, short)| if alone(short) { short.clone() } else { Cow::Borrowed(*whole) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_goes_by_its_folder_and_launch() {
        let names =
            ["mm:256", "fwt#2", "a/hotspot/kernelslist.g#3", "kernelslist.g", "a/kernelslist.g##2", "/b/app.mtrace#scale", "c/mine.g"];
        assert_eq!(names.map(short), ["mm:256", "fwt#2", "hotspot#3", "kernelslist.g", "a##2", "app.mtrace#scale", "mine.g"]);
    }

    #[test]
    fn no_two_columns_are_called_the_same() {
        assert_eq!(columns(["a/app.mtrace", "b/app.mtrace", "c/mm/kernelslist.g"]), ["a/app.mtrace", "b/app.mtrace", "mm"]);
    }
}
