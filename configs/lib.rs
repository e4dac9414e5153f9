//! The machines that come with `mias`, as text: a TOML file per GPU in `gpus/`, where every number carries its source or the word
//! "assumption". `GpuConfig` of `mias-hw-model` is what they are read into.

/// The texts of `gpus/NAME.toml`, with their names.
macro_rules! gpus {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("gpus/", $name, ".toml")))),*] };
}

/// Name and file of every machine, in the order of lists.
pub const ALL: &[(&str, &str)] = gpus![
    "rtx2060",
    "rtx2060-accelsim",
    "rtx2060-fetch",
    "rtx2060-hw",
    "rtx2060-lines",
    "rtx3070-accelsim",
    "rtx3070-fetch",
    "a100",
    "h100",
    "dai18",
    "dai18-lines",
    "lin18",
    "lin18-lines",
    "shieh16",
    "shieh16-lines",
    "zhao18",
    "zhao18-lines",
    "p100",
    "field",
];

/// The file of the machine called `name`.
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file is in the list, under the name that it has inside.
    #[test]
    fn the_list_is_the_folder() {
        let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/gpus")).unwrap();
        let mut files: Vec<String> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        let mut listed: Vec<String> = ALL.iter().map(|(name, _)| format!("{name}.toml")).collect();
        files.sort();
        listed.sort();
        assert_eq!(files, listed);
        for (name, text) in ALL {
            let inside = format!("name = {name:?}");
            assert_eq!(text.lines().find(|line| line.starts_with("name")), Some(inside.as_str()));
        }
    }

    #[test]
    fn gpus_are_found_by_name() {
        assert!(text("rtx2060").is_some_and(|text| text.contains("[sm]")));
        assert_eq!(text("rtx2061"), None);
    }
}
