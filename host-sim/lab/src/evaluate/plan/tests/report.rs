//! Tests of report blocks with unknown names.

use super::*;

/// Returns the error about a plan with this block, which must point at it.
fn of_block(block: &str) -> String {
    let message = refused(&format!("{SOUND}\n[[report]]\n{block}\n"));
    let line = SOUND.matches('\n').count() + 2;
    assert!(message.starts_with(&format!("my.toml:{line}:")), "{message}");
    message
}

#[test]
fn names_that_no_row_has_are_refused() {
    let bars = |value: &str, rest: &str| format!("kind = \"bars\"\nfigure = \"1\"\nby = [\"group\"]\nvalue = \"{value}\"\n{rest}");
    let join = "join.base = { where = \"policy == 'spatial'\", on = [\"group\"] }";
    for (block, part) in [
        (bars("sptp", ""), "unknown name `sptp`; did you mean `stp`?"),
        (bars("half_widths.stp", ""), "unknown name `half_widths.stp`"),
        (bars("stp", "rows = \"kernels\""), "unknown name `stp`"),
        (bars("stp / base.stq", join), "unknown name `base.stq`"),
        (bars("stp / base.stp", "join.base = { on = [\"pair\"] }"), "unknown name `pair`"),
        (bars("stp", "caption = \"{mean(stq):.2}\""), "unknown name `stq`"),
        (bars("stp / paper.whole", ""), "unknown name `paper.whole`"),
        (bars("gpu.sm.cuont", ""), "unknown name `gpu.sm.cuont`"),
        (bars("study.cycle", ""), "unknown name `study.cycle`; did you mean"),
        (bars("at", ""), "unknown name `at`"),
        (bars("stp", "policies = [\"mias-ipx\"]"), "unknown policy `mias-ipx`; did you mean `mias-ipc`?"),
    ] {
        let message = of_block(&block);
        assert!(message.contains(part), "{block}\n{message}");
    }
    for sound in ["half_widths.metrics.stp", "gpu.sm.count", "study.cycles", "ranking.kendall.stp", "normalized_ipc.1", "setting.cycles"] {
        parse("my.toml", &format!("{SOUND}\n[[report]]\n{}\n", bars(sound, ""))).unwrap();
    }
}
