//! Texture format DXT1 (S3TC; Khronos Data Format Specification 1.3, section 18.1, BC1): a decoder,
//! and the exhaustive search that serves as reference for the kernel `dxtc`.

use crate::picture::Pixel;

/// Rows and columns of a block.
pub(super) const SIDE: usize = 4;

/// Pixels of a block.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// Pixels of a block, row by row.
pub(super) type Block = [Pixel; PIXELS];

/// Bits per channel of an end color.
const BITS: [u32; 3] = [5, 6, 5];

/// Steps of the power method (assumption: enough for an axis in double precision, or for two
/// equally good ones).
const POWER_STEPS: usize = 64;

/// Decodes a packed block: the end colors, then 2 bits per pixel.
pub(super) fn decode([ends, choices]: [u32; 2]) -> Block {
    let (first, second) = (ends & 0xffff, ends >> 16);
    let (a, b) = (expand(first), expand(second));
    let mix = |weight_a: u16, weight_b: u16| -> Pixel {
        let sum = weight_a + weight_b;
        std::array::from_fn(|c| ((weight_a * u16::from(a[c]) + weight_b * u16::from(b[c]) + sum / 2) / sum) as u8)
    };
    let palette = if first > second { [a, b, mix(2, 1), mix(1, 2)] } else { [a, b, mix(1, 1), [0; 3]] };
    std::array::from_fn(|k| palette[(choices >> (2 * k) & 3) as usize])
}

/// Expands 5, 6 and 5 bits to 8 bits per channel by repeating the upper bits below.
fn expand(color: u32) -> Pixel {
    let shifts = [11, 5, 0];
    std::array::from_fn(|c| {
        let code = color >> shifts[c] & ((1 << BITS[c]) - 1);
        (code << (8 - BITS[c]) | code >> (2 * BITS[c] - 8)) as u8
    })
}

/// Returns the sum of the squared differences over all channels.
pub(super) fn square_error(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

/// Returns all divisions of 16 sorted colors into four runs, as the ends of the first three runs.
pub(super) fn cuts() -> impl Iterator<Item = [usize; 3]> {
    (0..=PIXELS).flat_map(|i| (i..=PIXELS).flat_map(move |j| (j..=PIXELS).map(move |k| [i, j, k])))
}

/// Returns the run of the color at a position.
pub(super) fn run(ends: &[usize; 3], place: usize) -> usize {
    ends.iter().filter(|&&end| end <= place).count()
}

/// Returns the best packing over all divisions of the colors sorted along their principal axis,
/// with least-squares end colors.
pub(super) fn compress(pixels: &Block) -> [u32; 2] {
    let colors: [[f64; 3]; PIXELS] = pixels.map(|pixel| pixel.map(f64::from));
    let order = sorted(&colors);
    let best = cuts()
        .map(|ends| pack(&colors, &order, &ends))
        .min_by_key(|&packed| square_error(decode(packed).as_flattened(), pixels.as_flattened()));
    best.unwrap_or_default()
}

/// Returns the indices of the colors in ascending order along the principal axis.
fn sorted(colors: &[[f64; 3]; PIXELS]) -> [usize; PIXELS] {
    let mean: [f64; 3] = std::array::from_fn(|c| colors.iter().map(|color| color[c]).sum::<f64>() / PIXELS as f64);
    let centered = colors.map(|color| [0, 1, 2].map(|c| color[c] - mean[c]));
    let dot = |a: &[f64; 3], b: &[f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    // The farthest color is never orthogonal to the axis.
    let mut axis = centered.into_iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b))).unwrap_or_default();
    for _ in 0..POWER_STEPS {
        let mut next = [0.0; 3];
        for color in &centered {
            let along = dot(color, &axis);
            (0..3).for_each(|c| next[c] += along * color[c]);
        }
        let length = dot(&next, &next).sqrt().max(f64::MIN_POSITIVE);
        axis = next.map(|value| value / length);
    }
    let mut order: [usize; PIXELS] = std::array::from_fn(|k| k);
    order.sort_by(|&a, &b| dot(&centered[a], &axis).total_cmp(&dot(&centered[b], &axis)));
    order
}

/// Packs one division: least-squares end colors, each rounded to its bits.
fn pack(colors: &[[f64; 3]; PIXELS], order: &[usize; PIXELS], ends: &[usize; 3]) -> [u32; 2] {
    let weight = |place| run(ends, place) as f64 / 3.0;
    let (mut aa, mut ab, mut bb) = (0.0, 0.0, 0.0);
    let (mut ax, mut bx) = ([0.0; 3], [0.0; 3]);
    for (place, &pixel) in order.iter().enumerate() {
        let (a, b) = (1.0 - weight(place), weight(place));
        aa += a * a;
        ab += a * b;
        bb += b * b;
        for c in 0..3 {
            ax[c] += a * colors[pixel][c];
            bx[c] += b * colors[pixel][c];
        }
    }
    let determinant: f64 = aa * bb - ab * ab;
    let code = |numerator: f64, channel: usize| {
        let most = f64::from((1u32 << BITS[channel]) - 1);
        // With all colors in one run, any single end works, and other divisions are better.
        let value = if determinant > 1e-9 { numerator / determinant } else { 0.0 };
        (value.clamp(0.0, 255.0) * most / 255.0).round() as u32
    };
    let join = |codes: [u32; 3]| codes[0] << 11 | codes[1] << 5 | codes[2];
    let a = join(std::array::from_fn(|c| code(ax[c] * bb - bx[c] * ab, c)));
    let b = join(std::array::from_fn(|c| code(bx[c] * aa - ax[c] * ab, c)));
    // Stored choices along the line from the larger end to the smaller.
    let line = [0, 2, 3, 1];
    let choice = |place| if a > b { line[run(ends, place)] } else { line[3 - run(ends, place)] };
    let choices = order.iter().enumerate().fold(0, |word, (place, &pixel)| word | choice(place) << (2 * pixel));
    [a.max(b) | a.min(b) << 16, if a == b { 0 } else { choices }]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// White over black: ends 0xffff and 0, with four choices. In the other order, the fourth is
    /// black and the third a half.
    #[test]
    fn palettes_follow_the_order_of_the_ends() {
        let choices = 0b11_10_01_00;
        assert_eq!(decode([0xffff, choices])[..5], [[255; 3], [0; 3], [170; 3], [85; 3], [255; 3]]);
        assert_eq!(decode([0xffff << 16, choices])[..4], [[0; 3], [255; 3], [128; 3], [0; 3]]);
        // Pure channels: red 5 bits, green 6, blue 5.
        assert_eq!([0xf800, 0x07e0, 0x001f, 0x0841].map(|ends| decode([ends, 0])[0]), [[255, 0, 0], [0, 255, 0], [0, 0, 255], [8, 8, 8]]);
    }

    /// Colors that a palette represents exactly are restored exactly.
    #[test]
    fn four_colors_on_a_line_are_kept() {
        let palette: [Pixel; 4] = [[255; 3], [170; 3], [85; 3], [0; 3]];
        let block: Block = std::array::from_fn(|k| palette[k * 7 % 4]);
        assert_eq!(decode(compress(&block)), block);
        assert_eq!(decode(compress(&[[255, 0, 0]; PIXELS])), [[255, 0, 0]; PIXELS]);
    }

    /// Evenly spaced: 16 colors in four runs are 0.5 or 1.5 steps from the middle of their run,
    /// 1.25 steps squared on average. Rounding the ends to 5 and 6 bits adds little.
    #[test]
    fn a_gradient_is_near() {
        let block: Block = std::array::from_fn(|k| [16 * k as u8, 8 * k as u8, 100]);
        let mean = f64::from(square_error(decode(compress(&block)).as_flattened(), block.as_flattened())) / PIXELS as f64;
        let step = 16.0 * 16.0 + 8.0 * 8.0;
        assert!(mean < 1.5 * step, "{mean}");
    }
}
