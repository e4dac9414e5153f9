//! Where the cache is and how large it may grow: the platform's convention, or what the environment says.

use std::ffi::OsString;
use std::path::PathBuf;

/// Names the folder of the cache.
pub const FOLDER_VARIABLE: &str = "MIAS_CACHE";

/// Bounds the cache: bytes, or a number with K, M or G (of 1,024); 0 is no cache.
pub const LIMIT_VARIABLE: &str = "MIAS_CACHE_LIMIT";

/// Bound unless the environment says another: 4 GiB (assumption: hundreds of kernels of the default sizes).
pub const DEFAULT_LIMIT_BYTES: u64 = 4 << 30;

/// Where, and how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder; none if there is no home.
    pub folder: Option<PathBuf>,
    /// Bytes of traces that it may hold.
    pub limit_bytes: u64,
}

/// A variable that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{LIMIT_VARIABLE} `{0}`: expected a number of bytes, as in 500M or 4G; 0 is no cache")]
pub struct PlaceError(pub String);

impl Place {
    /// As the environment of the process says.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn of_process() -> Result<Self, PlaceError> {
        Place::from(&|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// As these variables say; empty ones are none.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn from(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, PlaceError> {
        let limit_bytes = match variable(LIMIT_VARIABLE) {
            None => DEFAULT_LIMIT_BYTES,
            Some(text) => {
                let text = text.to_string_lossy();
                parse_bytes(&text).ok_or_else(|| PlaceError(text.into_owned()))?
            }
        };
        let folder = variable(FOLDER_VARIABLE).map(PathBuf::from);
        Ok(Place { folder: folder.or_else(|| convention(variable)), limit_bytes })
    }
}

/// `$XDG_CACHE_HOME` where it is absolute (XDG base directory specification), else `~/.cache`; on macOS and Windows their own.
fn convention(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = if cfg!(windows) {
        path("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        path("HOME").map(|home| home.join("Library/Caches"))
    } else {
        path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")))
    };
    caches.map(|caches| caches.join("mias"))
}

fn parse_bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.trim().strip_suffix(['K', 'k', 'M', 'm', 'G', 'g']) {
        None => (text.trim(), 1),
        Some(digits) => match text.trim().as_bytes().last() {
            Some(b'K' | b'k') => (digits, 1 << 10),
            Some(b'M' | b'm') => (digits, 1 << 20),
            _ => (digits, 1 << 30),
        },
    };
    digits.replace('_', "").parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Result<Place, PlaceError> {
        Place::from(&|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_folder_is_where_the_platform_keeps_caches() {
        let folder = |variables: &[(&str, &str)]| place(variables).unwrap().folder;
        let home = ("HOME", "/home/me");
        assert_eq!(folder(&[home]), Some("/home/me/.cache/mias".into()));
        assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "/fast")]), Some("/fast/mias".into()));
        assert_eq!(folder(&[home, ("XDG_CACHE_HOME", "not/absolute")]), Some("/home/me/.cache/mias".into()));
        assert_eq!(folder(&[home, (FOLDER_VARIABLE, "here")]), Some("here".into()));
        assert_eq!(folder(&[]), None);
    }

    #[test]
    fn limits_have_units() {
        let limit = |text| place(&[(LIMIT_VARIABLE, text)]).map(|place| place.limit_bytes);
        assert_eq!(place(&[]).unwrap().limit_bytes, DEFAULT_LIMIT_BYTES);
        for (text, bytes) in [("0", 0), ("1_000", 1000), ("3k", 3 << 10), ("500M", 500 << 20), ("4G", 4 << 30)] {
            assert_eq!(limit(text), Ok(bytes));
        }
        for text in ["much", "-1", "4T", "G", "99999999999G", "1.5G"] {
            assert_eq!(limit(text), Err(PlaceError(text.into())));
        }
    }
}
