//! Tests of placement requests in a plan.

use super::*;
use crate::experiment::requests::Scheme;
use mias_hw_model::config::SelectorConfig;

const URGENT: &str = "name = \"p\"\ndescription = \"d\"\n\n[[experiment]]\nname = \"e\"\ntitle = \"t\"\ngpu = \"shieh16-lines\"\n\
    kernels = [\"pf\", \"preempt\"]\npolicies = [\"left-over\"]\nconfigurations = false\n\
    requests = { count = 3, schemes = [\"shieh\", \"oracle\"], limits-ns = [2_000, 5_000] }\n\
    [experiment.parameters]\ncycles = 20_000\n[experiment.gpu-settings]\nsm.preemption.switch = \"stall\"\n";

#[test]
fn requests_are_read() {
    let plan = parse("my.toml", URGENT).unwrap();
    let requests = plan.experiments[0].settings[0].options.requests.unwrap();
    assert_eq!(requests.count, 3);
    assert_eq!(requests.schemes().collect::<Vec<_>>(), [Scheme::Shieh, Scheme::Oracle]);
    assert_eq!(requests.limits_ns().collect::<Vec<_>>(), [2_000, 5_000]);
}

#[test]
fn requests_that_would_say_nothing_are_refused() {
    for (from, to, said) in [
        ("sm.preemption.switch = \"stall\"", "sm.count = 4", "does not support preemption: set `sm.preemption.switch = \"traffic\"`"),
        (
            "cycles = 20_000",
            "cycles = 20_000\ntransition = \"ideal\"",
            "transition: conflicts with `requests`, which sets transitions by `schemes`: leave it out",
        ),
        ("cycles = 20_000", "cycles = 20_000\ntransition = \"drain\"", "transition: conflicts with `requests`"),
        (
            "cycles = 20_000",
            "cycles = 20_000\npriority = 1",
            "priority: conflicts with `requests`, which gives the urgent kernel the highest priority",
        ),
        ("cycles = 20_000", "cycles = 20_000\nlimit = \"5us\"", "limit: conflicts with `requests`, which sets limits by `limits-ns`"),
        ("cycles = 20_000", "cycles = 20_000\narrive = 5", "arrive: conflicts with `requests`"),
        (
            "cycles = 20_000",
            "cycles = 20_000\norder = \"reversed\"",
            "order: conflicts with `requests`, which needs the urgent kernel last",
        ),
        ("5_000]", "2_000]", "limits-ns: 2000 is already listed: leave one out"),
        ("\"oracle\"", "\"shieh\"", "schemes: shieh is already listed"),
        ("cycles = 20_000", "until = \"done\"", "requests are spread over a window: use `cycles`, not `until`"),
        ("5_000]", "90_000]", "limits-ns = 90000: 126000 cycles exceed the window of 20000"),
        ("\"oracle\"", "\"oracel\"", "did you mean `oracle`?"),
        ("count = 3", "count = 0", "count"),
    ] {
        let message = refused(&URGENT.replace(from, to));
        assert!(message.contains("requests") && message.contains(said), "{message}");
    }
    // The error points to its own line.
    let message = refused(&URGENT.replace("cycles = 20_000", "cycles = 20_000\npriority = 1"));
    assert!(message.starts_with("my.toml:14:"), "{message}");
}

/// Values of a parameter are settings, so a duplicate would count twice.
#[test]
fn a_value_stands_once() {
    let text = URGENT.replace("requests", "# requests");
    for (parameter, said) in [
        ("transition = [\"preempt:shieh\", \"preempt\"]", "transition: preempt:shieh is already listed"),
        ("limit = [\"5us\", \"5us\"]", "limit: 5us is already listed"),
        ("priority = [1, 1]", "priority: 1 is already listed"),
        ("limit = 6825", "limit: expected a text, found integer, as in \"5us\" or \"6825\""),
    ] {
        let message = refused(&text.replace("cycles = 20_000", &format!("cycles = 20_000\n{parameter}")));
        assert!(message.starts_with("my.toml:14:") && message.contains(said), "{message}");
    }
}

/// An invalid limit is reported at its own line, not at the GPU's.
#[test]
fn a_limit_is_told_of_at_its_line() {
    let text = URGENT.replace("requests", "# requests").replace("cycles = 20_000", "cycles = 20_000\nlimit = \"0us\"");
    let message = refused(&text);
    assert!(message.starts_with("my.toml:14:") && message.contains("limit: 0us is less than one cycle"), "{message}");
}

/// An empty table stands for its defaults, as in a GPU's file: here a selector with its
/// defaults.
#[test]
fn an_empty_table_is_a_table_with_its_defaults() {
    let selectors = |text: &str| {
        let plan = parse("my.toml", text).unwrap();
        let settings = &plan.experiments[0].settings;
        settings.iter().map(|setting| setting.gpu.sm.preemption.unwrap().selector).collect::<Vec<_>>()
    };
    let own = SelectorConfig { tb_cycles: 9, ..SelectorConfig::default() };
    assert_eq!(selectors(URGENT), [None]);
    for empty in ["sm.preemption = { switch = \"stall\", selector = {} }", "sm.preemption.switch = \"stall\"\nsm.preemption.selector = {}"]
    {
        assert_eq!(selectors(&URGENT.replace("sm.preemption.switch = \"stall\"", empty)), [Some(SelectorConfig::default())], "{empty}");
    }
    let varied = URGENT.replace("switch = \"stall\"", "selector.tb_cycles = [9, 36]");
    assert_eq!(selectors(&varied), [Some(own), Some(SelectorConfig::default())]);
    // A table without defaults.
    let message = refused(&URGENT.replace("sm.preemption.switch", "sm.power_gating = {}\nsm.preemption.switch"));
    assert!(
        message.starts_with("my.toml:15:") && message.contains("missing field `wake_cycles`: an empty table has its defaults"),
        "{message}"
    );
}
