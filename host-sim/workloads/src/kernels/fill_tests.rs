use super::*;
use proptest::prelude::*;

fn scope() -> Scope {
    let mut scope = Scope::default();
    scope.set("size", 100);
    scope.set("nothing", 0);
    scope
}

fn element(name: &str) -> Element {
    Element::parse(name).unwrap()
}

fn rule(name: &str, word: &str) -> Result<Rule, String> {
    match Fill::parse(element(name), word)? {
        Fill::Made(made) => made.rule(element(name), &scope()),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn words_are_rules() {
    for (name, word, expected) in [
        ("f32", "zeros", Rule::Same(0)),
        ("f32", "ones", Rule::Same(0x3f80_0000)),
        ("f32", "nan", Rule::Same(f32::NAN.to_bits().into())),
        ("f32", "0.5", Rule::Same(0x3f00_0000)),
        ("u8", "7", Rule::Same(7)),
        ("i8", "iota", Rule::Iota),
        ("f32", "random:-1:2", Rule::Floats(-1.0, 2.0, None)),
        ("f32", "random:1:2:2 * size", Rule::Floats(1.0, 2.0, Some(200.0))),
        ("f32", "whole:5000:30000:1000", Rule::Wholes(5000, 30_000, Some(1000.0))),
        ("u32", "random:0:size - 1", Rule::Wholes(0, 99, None)),
        ("u32", "whole:0:size / 2", Rule::Wholes(0, 50, None)),
        ("u64", "random:0:0xffffffffffffffff", Rule::Wholes(0, u64::MAX.into(), None)),
        ("i64", "random:-9223372036854775808:0", Rule::Wholes(i64::MIN.into(), 0, None)),
    ] {
        assert_eq!(rule(name, word), Ok(expected), "{word}");
    }
    assert_eq!(Fill::parse(element("u8"), "file:x.bin"), Ok(Fill::File("x.bin".into())));
    assert_eq!(Fill::parse(element("u32"), "graph:rows"), Ok(Fill::Given(Giver::Graph, "rows".into())));
}

#[test]
fn mistakes_are_explained() {
    for (name, word, message) in [
        ("u8", "ramdom", "`ramdom`: expected zeros, ones, iota, random, random:LOW:HIGH or file:PATH; also a number"),
        ("u8", "256", "`256`: expected zeros, "),
        ("u8", "file:", "`file:`: expected zeros, "),
        ("u8", "random:9:3", "`9:3`: expected LOW:HIGH of u8, the lower first"),
        ("u8", "random:0:256", "`0:256`: expected LOW:HIGH of u8, the lower first"),
        ("i8", "random:size:3", "`100:3`: expected LOW:HIGH of i8, the lower first"),
        ("f32", "whole:-18446744073709551615:1", "`-18446744073709551615:1`: expected LOW:HIGH of f32, the lower first"),
        ("f32", "random:1", "`1`: expected LOW:HIGH of f32, the lower first"),
        ("f32", "random:2:1", "`2:1`: expected LOW:HIGH of f32, the lower first"),
        ("f32", "random:0:size", "`0:size`: expected LOW:HIGH of f32, the lower first"),
        ("u32", "random:0:sise", "unknown name `sise`; did you mean `size`?"),
        ("u32", "whole:1:2:3", "`1:2:3`: a divisor applies to f32 and f64, not to u32"),
        ("f32", "whole:1:2:", "``: expected a number, a name or `(`, found its end"),
        ("f32", "whole:1:2:nothing", "the divisor of random numbers is zero"),
    ] {
        let found = rule(name, word).unwrap_err();
        assert!(found.starts_with(message), "{found}\nexpected {message}");
    }
}

proptest! {
    /// Whole numbers over a thousand, as `blk` has its prices.
    #[test]
    fn thousandths_are_drawn_like_integers(seed in any::<u64>()) {
        let rule = rule("f32", "whole:5000:30000:1000").unwrap();
        let (mut random, mut other) = (Random::new(seed), Random::new(seed));
        for index in 0..20 {
            let expected = other.integer(5_000, 30_000) as f32 / 1000.0;
            prop_assert_eq!(rule.bits(element("f32"), index, &mut random), u64::from(expected.to_bits()));
        }
    }

    /// Floats of a range over a number: rounded, divided, rounded.
    #[test]
    fn quotients_of_floats_are_those_of_floats(seed in any::<u64>(), divisor in 1u16..) {
        let mut scope = Scope::default();
        scope.set("bodies", divisor.into());
        let Ok(Fill::Made(made)) = Fill::parse(element("f32"), "random:1:2:bodies") else { panic!() };
        let rule = made.rule(element("f32"), &scope).unwrap();
        let expected = (1.5 + 0.5 * Random::new(seed).float()) / f32::from(divisor);
        prop_assert_eq!(rule.bits(element("f32"), 0, &mut Random::new(seed)), u64::from(expected.to_bits()));
    }

    /// Against the remainder in 128 bits, up to ranges of all 2^64 numbers.
    #[test]
    fn whole_numbers_are_remainders(seed in any::<u64>(), one in any::<i64>(), other in any::<i64>()) {
        let (low, high) = (i128::from(one.min(other)), i128::from(one.max(other)));
        for (low, high) in [(low, high), (i64::MIN.into(), i64::MAX.into())] {
            let expected = low + i128::from(Random::new(seed).bits()) % (high - low + 1);
            prop_assert_eq!(element("i64").random_whole(low, high, &mut Random::new(seed)) as i64, expected as i64);
        }
    }

    #[test]
    fn any_word_is_read_or_refused(word in "(random:|whole:|file:|)[ -~]{0,20}") {
        for name in ["f16", "f32", "u8", "i64"] {
            let _ = rule(name, &word);
        }
    }
}
