//! Every machine file in `configs/gpus/` reads, passes its checks, and is named after its file.

use mias_hw_model::config::GpuConfig;

#[test]
fn every_gpu_file_is_valid_and_named_after_itself() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/gpus");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let gpu: GpuConfig = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        gpu.check().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(path.file_stem().unwrap().to_str().unwrap(), gpu.name);
        seen += 1;
    }
    assert!(seen >= 2, "the thesis' machine and the reference machine");
}
