//! Tests of what is kept of kernel lists: that it is what was read, and of which file it is.

use super::*;
use crate::random::Random;
use crate::trace_store::{DEFAULT_LIMIT_BYTES, Store};
use std::fs;
use std::path::PathBuf;

const HEADER: &str = "-kernel name = k\n-grid dim = (64,1,1)\n-block dim = (256,1,1)\n-shmem = 0\n-nregs = 32\n-binary version = 75\n\
    -cuda stream id = 7\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = ...\n";

/// Returns the text of 64 TBs of 8 warps of 41 instructions: more than the least that is kept. One
/// opcode is unknown; loads lie `bytes` apart.
fn text(bytes: u64) -> String {
    let mut text = HEADER.to_owned();
    for tb in 0..64 {
        text += &format!("\n#BEGIN_TB\n\nthread block = {tb},0,0\n");
        for warp in 0..8 {
            text += &format!("\nwarp = {warp}\ninsts = 41\n{}", "0000 ffffffff 1 R4 FROB 1 R2 0 0\n".repeat(40));
            text += &format!("0010 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x{:x} 4 0\n", 0x1000 + bytes * (8 * tb + warp));
        }
        text += "\n#END_TB\n";
    }
    text
}

/// A folder for traces, with a cache in it.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn cache(&self) -> Cache {
        Cache::of(Store::new(self.folder.path().join("cache"), DEFAULT_LIMIT_BYTES))
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn kept(&self) -> Vec<PathBuf> {
        let Ok(list) = fs::read_dir(self.folder.path().join("cache")) else { return Vec::new() };
        let mut kept: Vec<PathBuf> = list.map(|entry| entry.unwrap().path()).collect();
        kept.sort();
        kept
    }
}

/// Returns the text of `tbs` TBs of 8 warps, each of which gathers 32 words 20 times from anywhere.
/// Nothing repeats, and patterns take most of the memory.
pub(crate) fn gathers(tbs: u64, seed: u64) -> String {
    let mut text = HEADER.replace("(64,1,1)", &format!("({tbs},1,1)"));
    let mut random = Random::new(seed);
    for tb in 0..tbs {
        text += &format!("\n#BEGIN_TB\n\nthread block = {tb},0,0\n");
        for warp in 0..8 {
            text += &format!("\nwarp = {warp}\ninsts = 20\n");
            for pc in 0..20 {
                text += &format!("{:04x} ffffffff 1 R4 LDG.E.SYS 1 R2 4 0", 16 * (pc + tb / 4));
                (0..32).for_each(|_| text += &format!(" 0x{:x}", 0x10_0000 + 4 * (random.bits() % (1 << 24))));
                text += "\n";
            }
        }
        text += "\n#END_TB\n";
    }
    text
}

fn as_read(listed: &Listed) -> Listed {
    Listed { is_cached: false, ..listed.clone() }
}

#[test]
fn what_is_kept_is_what_was_read() {
    let place = Place::new();
    let path = place.write("kernel-1.traceg", text(128));
    let read = place.cache().listed(&path, 2).unwrap();
    assert!(!read.is_cached);
    assert_eq!((read.stream, read.trace.warp_insts()), (StreamId(7), 64 * 8 * 41));
    assert_eq!(read.warnings.unknown_opcodes().values().copied().collect::<Vec<_>>(), [64 * 8 * 40]);
    assert_eq!(read.span, 0x1000 / 32..0x1000 / 32 + 64 * 8 * 4);
    let kept = place.cache().listed(&path, 2).unwrap();
    assert!(kept.is_cached);
    assert_eq!(as_read(&kept), read);
    assert_eq!(read, Listed::read(&path, 1).unwrap());
    assert_eq!(place.kept().len(), 1);
}

/// Neither a name nor a time says what a file holds.
#[test]
fn a_changed_file_is_another_one_and_a_copy_is_not() {
    let place = Place::new();
    let (path, copy) = (place.write("kernel-1.traceg", text(128)), place.write("kernel-2.traceg", text(128)));
    let about = fs::metadata(&path).unwrap();
    let (before, other) = (place.cache().listed(&path, 2).unwrap(), place.cache().listed(&copy, 2).unwrap());
    assert!(other.is_cached);
    // As long as before, at the same time, and under the same name.
    place.write("kernel-1.traceg", text(256));
    let file = File::options().append(true).open(&path).unwrap();
    file.set_modified(about.modified().unwrap()).unwrap();
    let after = place.cache().listed(&path, 2).unwrap();
    assert!(!after.is_cached && after.hash != before.hash);
    assert_eq!(after.span.end - after.span.start, 2 * (64 * 8 - 1) * 4 + 4);
    assert_eq!(place.kept().len(), 2);
}

#[test]
fn the_form_of_a_file_is_in_its_key() {
    let place = Place::new();
    let keys = ["a.traceg", "b.traceg", "a.traceg.xz"].map(|name| content_key(&place.write(name, "same")).unwrap());
    assert!(keys[0] == keys[1] && keys[0] != keys[2] && keys.iter().all(|key| key.len() == 32));
    assert!(content_key(&place.folder.path().join("none")).is_err());
}

/// A kept file that is cut, changed by a bit, or of another launch, is told and made again.
#[test]
fn a_damaged_or_foreign_file_is_made_again_with_a_note() {
    let place = Place::new();
    let (path, other) = (place.write("kernel-1.traceg", text(128)), place.write("kernel-2.traceg", text(256)));
    let read = place.cache().listed(&path, 2).unwrap();
    let [kept] = &place.kept()[..] else { panic!("one file") };
    let whole = fs::read(kept).unwrap();
    place.cache().listed(&other, 2).unwrap();
    let foreign = place.kept().into_iter().find(|file| file != kept).unwrap();
    let flipped = |at: usize| [&whole[..at], &[whole[at] ^ 1], &whole[at + 1..]].concat();
    for bytes in [Vec::new(), whole[..whole.len() - 1].to_vec(), flipped(0), flipped(whole.len() / 2), fs::read(foreign).unwrap()] {
        fs::write(kept, bytes).unwrap();
        let cache = place.cache();
        assert_eq!(cache.listed(&path, 2).unwrap(), read);
        let notes = cache.notes();
        assert!(notes.len() == 1 && notes[0].contains("kernel-1.traceg: rebuilding its cached trace: "), "{notes:?}");
        assert!(fs::read(kept).unwrap() == whole);
    }
}

#[test]
fn without_a_cache_and_of_little_nothing_is_kept() {
    let place = Place::new();
    let path = place.write("kernel-1.traceg", text(128));
    for _ in 0..2 {
        assert!(!Cache::off().listed(&path, 2).unwrap().is_cached);
    }
    let little = format!("{HEADER}\n#BEGIN_TB\n#END_TB\n").replace("(64,1,1)", "(1,1,1)");
    let path = place.write("kernel-2.traceg", little);
    for _ in 0..2 {
        assert!(!place.cache().listed(&path, 2).unwrap().is_cached);
    }
    assert!(place.kept().is_empty());
}

/// The error is that of the reader, and a broken file is not cached.
#[test]
fn a_broken_file_is_told_every_time() {
    let place = Place::new();
    let path = place.write("kernel-1.traceg", text(128).replacen("#END_TB", "#END", 1));
    let told = Listed::read(&path, 1).unwrap_err().to_string();
    for _ in 0..2 {
        assert_eq!(place.cache().listed(&path, 2).unwrap_err().to_string(), told);
    }
    assert!(place.kept().is_empty() && place.cache().listed(&place.folder.path().join("none.traceg"), 2).is_err());
}

#[test]
fn many_may_read_one_file_at_once() {
    let place = Place::new();
    let path = place.write("kernel-1.traceg", text(128));
    let expected = Listed::read(&path, 1).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let cache = place.cache();
                    assert_eq!(as_read(&cache.listed(&path, 2).unwrap()), expected);
                    assert_eq!(cache.notes(), [""; 0]);
                }
            });
        }
    });
    assert_eq!(place.kept().len(), 1);
}

/// Not a test of the reader, but a reminder: when a fingerprint changes and the text did not, what
/// is kept is out of date, and [`READER_VERSION`] must grow. The fingerprints are taken from a run,
/// as there is no other source of them.
#[test]
fn what_reading_does_has_a_version() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/reference");
    let hash = |name: &str| Listed::read(&folder.join(name).join("kernel-1.traceg.xz"), 1).unwrap().hash;
    let found = (READER_VERSION, ["comp", "mem", "shm"].map(hash).concat());
    assert_eq!(
        found,
        (1, String::from("a23edac124831640370dcc49c9de1958cf5c417ff3d7e481")),
        "raise READER_VERSION, then note the fingerprints here"
    );
}
