//! Location and size limit of the cache: the platform's convention, or the environment.

use bytesize::ByteSize;
use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use std::path::PathBuf;

/// Environment variable with the folder of the cache.
pub const FOLDER_VARIABLE: &str = "MIAS_CACHE";

/// Environment variable with the size limit of the cache: bytes, or a number with a unit, as in
/// `500MB` or `4GiB`; 0 disables the cache.
pub const LIMIT_VARIABLE: &str = "MIAS_CACHE_LIMIT";

/// Default size limit: 4 GiB (assumption: hundreds of kernels of the default sizes).
pub const DEFAULT_LIMIT_BYTES: u64 = 4 * bytesize::GIB;

/// Location and size limit of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Folder of the cache; `None` without a home folder.
    pub folder: Option<PathBuf>,
    /// Maximum size of all traces in bytes.
    pub limit_bytes: u64,
}

/// Error for an invalid environment variable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{LIMIT_VARIABLE} `{0}`: expected a number of bytes, as in 500MB or 4GiB; 0 disables the cache")]
pub struct PlaceError(pub String);

impl Place {
    /// Reads the environment of the process; empty variables count as unset.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn of_process() -> Result<Self, PlaceError> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let limit_bytes = variable(LIMIT_VARIABLE).map_or(Ok(DEFAULT_LIMIT_BYTES), |text| limit(&text.to_string_lossy()))?;
        Ok(Place { folder: variable(FOLDER_VARIABLE).map(PathBuf::from).or_else(convention), limit_bytes })
    }
}

/// Returns the default folder: `$XDG_CACHE_HOME` if it is absolute (XDG base directory
/// specification), and otherwise `~/.cache`; on macOS and Windows, their own.
fn convention() -> Option<PathBuf> {
    let caches = choose_native_strategy().ok()?.cache_dir();
    caches.is_absolute().then(|| caches.join("mias"))
}

fn limit(text: &str) -> Result<u64, PlaceError> {
    text.trim().parse().map(|ByteSize(bytes)| bytes).map_err(|_| PlaceError(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units of IEC 80000-13: those of 1,024 have an `i`.
    #[test]
    fn limits_have_units() {
        let sizes = [("0", 0), ("3k", 3_000), ("3 KiB", 3 << 10), ("500M", 500_000_000), ("1.5GB", 1_500_000_000), ("4GiB", 4 << 30)];
        for (text, bytes) in sizes {
            assert_eq!(limit(text), Ok(bytes), "{text}");
        }
        for text in ["much", "-1", "4X", "G", "4 G iB"] {
            assert_eq!(limit(text), Err(PlaceError(text.into())));
        }
    }
}
