//! Tables of one measurement campaign by file name, from a folder, or from one compressed file
//! (`measured/*.csv.xz`) in which a line `# file: NAME` starts each table.

use liblzma::read::XzDecoder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Prefix of a table's name in a compressed file.
const FILE: &str = "# file: ";

/// Texts by file name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Campaign(BTreeMap<String, String>);

impl Campaign {
    /// Reads a folder, or a file that is compressed with xz.
    ///
    /// # Errors
    /// A sentence with the name of the unreadable file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let named = |path: &Path, error: std::io::Error| format!("cannot read {}: {error}", path.display());
        if path.is_dir() {
            let mut files = BTreeMap::new();
            for entry in std::fs::read_dir(path).map_err(|error| named(path, error))? {
                let file = entry.map_err(|error| named(path, error))?.path();
                if file.extension().is_some_and(|extension| extension == "csv") {
                    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    files.insert(name, std::fs::read_to_string(&file).map_err(|error| named(&file, error))?);
                }
            }
            return Ok(Campaign(files));
        }
        let mut text = String::new();
        let mut read = || XzDecoder::new(File::open(path)?).read_to_string(&mut text);
        read().map_err(|error| named(path, error))?;
        Ok(Self::of(&text))
    }

    /// Splits the text of a compressed file.
    fn of(text: &str) -> Self {
        let mut files = BTreeMap::<String, String>::new();
        let mut name = "";
        for line in text.split_inclusive('\n') {
            match line.strip_prefix(FILE) {
                Some(next) => name = next.trim_end(),
                None => *files.entry(name.to_owned()).or_default() += line,
            }
        }
        Campaign(files)
    }

    /// Returns the table of that name.
    pub fn table(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_divided_where_a_file_is_named() {
        let campaign = Campaign::of("# file: alone.csv\n# a remark\na,b\n1,2\n# file: pairs.csv\na,b\n3,4\n");
        assert_eq!(campaign.table("alone.csv"), Some("# a remark\na,b\n1,2\n"));
        assert_eq!((campaign.table("pairs.csv"), campaign.table("triples.csv")), (Some("a,b\n3,4\n"), None));
    }
}
