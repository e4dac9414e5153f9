//! The list of cuts, and pictures of all kinds and shapes, judged decoded.

use super::*;
use crate::kernels::{Input, Instance, KernelError, Prepared, Spec, find};
use mias_ptx::lower::record::execute;

/// Four ordered runs of 16: 16 + 3 choose 3.
#[test]
fn the_list_of_cuts_is_complete() {
    let list = cuts();
    let mut different = list.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!((list.len(), different.len()), (CUTS, 19 * 18 * 17 / 6));
    for cut in list {
        let runs: Vec<u32> = (0..16).map(|place| cut >> (2 * place) & 3).collect();
        assert!(runs.is_sorted());
    }
}

fn prepared(input: &Input) -> Result<Prepared, KernelError> {
    Spec { kernel: find("dxtc").unwrap(), input: input.clone() }.prepare()
}

/// Runs the kernel, checks its results, and returns the instance.
fn compressed(input: &Input) -> Instance {
    let Prepared { program, instance, .. } = prepared(input).unwrap();
    execute(&program, &instance.launch, &instance.memory).unwrap();
    instance.check_results("dxtc").unwrap();
    instance
}

/// 255 over a root-mean-square error of 25.5 is 20 dB, and of 2.55 40 dB.
#[test]
fn the_ratio_is_in_decibels() {
    assert!((psnr(25.5) - 20.0).abs() < 1e-4 && (psnr(2.55) - 40.0).abs() < 1e-4);
}

/// Creates a picture of a gradient and stripes, wider than high.
fn sample(width: usize, height: usize) -> Picture {
    let pixel = |k: usize| [(9 * (k % width)) as u8, (7 * (k / width)) as u8, if k % width % 7 < 3 { 200 } else { 90 }];
    Picture { width, height, pixels: (0..width * height).map(pixel).collect() }
}

/// Returns the errors of the packed blocks; words after the first buffer's are of no interest here.
fn packed(instance: &Instance) -> Vec<f32> {
    (instance.expected.as_ref().unwrap().results)(&instance.memory)
}

/// Beyond the picture's edge there is nothing to be wrong: of a picture of 5 x 6 pixels the whole's
/// error is that of 30 pixels.
#[test]
fn padding_counts_for_blocks_only() {
    let picture = sample(5, 6);
    // All packed as black.
    let found = errors(&picture, |_, _| [0, 0]);
    let mean = |pixels: &[[u8; 3]]| {
        let sum: f64 = pixels.as_flattened().iter().map(|&value| f64::from(value).powi(2)).sum();
        (sum / (3 * pixels.len()) as f64).sqrt()
    };
    assert_eq!(found.len(), 2 * 2 + 1);
    assert!((f64::from(found[4]) - mean(&picture.pixels)).abs() < 1e-3);
    // The last block: column 4 four times, of rows 4, 5, 5 and 5.
    let last: Vec<[u8; 3]> = [4, 5, 5, 5].iter().flat_map(|&row: &usize| [picture.pixels[5 * row + 4]; 4]).collect();
    assert!((f64::from(found[3]) - mean(&last)).abs() < 1e-3);
}

#[test]
fn a_size_takes_the_middle_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.ppm").to_str().unwrap().to_owned();
    std::fs::write(&file, [b"P6 20 9 255\n".to_vec(), sample(20, 9).pixels.concat()].concat()).unwrap();
    let with = |size| Input::sized(size, 1).with("image", &file);
    assert_eq!(compressed(&with(8)).launch.grid, [2, 2, 1]);
    let error = prepared(&with(10)).unwrap_err().to_string();
    assert_eq!(error, format!("kernel `dxtc`: size `10`: {file} has 20 x 9 pixels; use at most its shorter side"));
    assert!(matches!(prepared(&with(0)), Err(KernelError::Size { size: 0, .. })));
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    /// The peak signal-to-noise ratio of what the kernel packs: at least 30 dB, the usual measure
    /// of a good picture, and not below the host's by more than 0.1 dB. Of sides that are
    /// multiples of 4, and others.
    #[test]
    fn the_decoded_picture_is_good() {
        for (side, seed) in [(32, 1), (64, 2), (33, 3), (62, 4)] {
            let instance = compressed(&Input::sized(side, seed));
            let expected = instance.expected.as_ref().unwrap();
            let found = psnr(*(expected.results)(&instance.memory).last().unwrap());
            let host = psnr(*(expected.reference)().last().unwrap());
            assert!(found >= 30.0 && found >= host - 0.1, "{found} dB, host {host} dB");
            assert_eq!(instance.quality(), Some(format!("{found:.2} dB peak signal-to-noise ratio, {side} x {side} pixels")));
        }
    }

    #[test]
    fn png_and_ppm_of_one_picture_give_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        for (width, height) in [(20, 12), (9, 18), (1, 1), (3, 21)] {
            let picture = sample(width, height);
            let (png, ppm) = (file("p.png"), file("p.ppm"));
            let mut encoder = png::Encoder::new(std::fs::File::create(&png).unwrap(), width as u32, height as u32);
            encoder.set_color(png::ColorType::Rgb);
            encoder.write_header().unwrap().write_image_data(picture.pixels.as_flattened()).unwrap();
            let head = format!("P6 {width} {height} 255\n").into_bytes();
            std::fs::write(&ppm, [head, picture.pixels.as_flattened().to_vec()].concat()).unwrap();
            let [a, b] = [png, ppm].map(|file| compressed(&Input::default().with("image", &file)));
            assert_eq!(a.launch.grid, [width.div_ceil(4) as u32, height.div_ceil(4) as u32, 1]);
            assert_eq!(
                (a.launch.grid, a.launch.args.clone(), packed(&a), a.quality()),
                (b.launch.grid, b.launch.args.clone(), packed(&b), b.quality())
            );
        }
    }
}
