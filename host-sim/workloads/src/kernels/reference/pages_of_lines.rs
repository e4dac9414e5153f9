//! Reference `pages-of-lines` for `pvc`: the page and hash of each line of a log, as in the map
//! step of Mars' page view count (He et al. 2008). The reference generates the log. Assumptions:
//! addresses of 16 to 48 letters, and as many for the rest of a line, a visitor and a cookie.

use super::{Host, whole};
use crate::kernels::given::Inputs;
use crate::random::Random;

/// Minimum and maximum length of an address in letters.
const ADDRESS: (i32, i32) = (16, 48);

/// Ends of an address and of a line.
const ENDS: (u8, u8) = (b'\t', b'\n');

/// Generated parts: the log, four letters per word, and the starts of its lines.
pub(super) const PARTS: &[&str] = &["text", "lines"];

/// Returns the host side for `size` lines into `pages`.
pub(super) fn host(inputs: &Inputs) -> Result<Host, String> {
    let mut random = Random::new(inputs.seed);
    let (mut text, mut lines, mut pages) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..inputs.value("size")? {
        lines.push(u32::try_from(text.len()).map_err(|_| "the log is longer than 4 GiB".to_owned())?);
        let start = text.len();
        letters(&mut text, &mut random);
        pages.extend(page(&text[start..]));
        text.push(ENDS.0);
        letters(&mut text, &mut random);
        text.push(ENDS.1);
    }
    text.resize(text.len().next_multiple_of(4), 0);
    let words = text.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    let host = Host::new(move |filled| Ok(whole(filled.buffers(["pages"])?, move || pages.clone())));
    Ok(host.with("text", words).with("lines", lines))
}

/// Appends random lower-case letters.
fn letters(text: &mut Vec<u8>, random: &mut Random) {
    let count = random.integer(ADDRESS.0, ADDRESS.1);
    let mut bits = 0;
    for at in 0..count {
        bits = if at % 8 == 0 { random.bits() } else { bits >> 8 };
        text.push(b'a' + (bits & 0xf) as u8);
    }
}

/// Returns the length and hash of an address: Bernstein's hash, of which 24 bits are kept.
fn page(address: &[u8]) -> [i32; 2] {
    let hash = address.iter().fold(5381u32, |hash, &letter| hash.wrapping_mul(33).wrapping_add(letter.into()));
    [address.len() as i32, (hash % (1 << 24)) as i32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_of_all_letters() {
        assert_eq!(page(b""), [0, 5381]);
        assert_eq!(page(b"a"), [1, 33 * 5381 + 97]);
        assert_eq!(page(b"ab"), [2, 33 * (33 * 5381 + 97) + 98]);
    }
}
