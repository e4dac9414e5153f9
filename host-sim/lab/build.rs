//! The fingerprint of the model (`src/model_sources.rs`), as the environment variable `MIAS_MODEL`.
//! In a checkout it is made of the sources; a package from a registry has no others beside it, and
//! is what its version says.

use std::fs;
use std::path::PathBuf;

#[path = "src/model_sources.rs"]
mod model_sources;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/model_sources.rs");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let places = model_sources::DECIDING.map(|place| root.join(place));
    if places.iter().any(|place| !place.exists()) {
        println!("cargo:rustc-env=MIAS_MODEL={}", std::env::var("CARGO_PKG_VERSION").unwrap_or_default());
        return;
    }
    // FNV-1a, 64 bits, as in `mias_trace::fingerprint`.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for place in places {
        println!("cargo:rerun-if-changed={}", place.display());
        for file in model_sources::files(&place) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            for byte in model_sources::code(&text).into_iter().flat_map(str::bytes) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    println!("cargo:rustc-env=MIAS_MODEL={hash:016x}");
}
