use super::*;
use crate::kernels::fill::Giver;

fn scope() -> Scope {
    let mut scope = Scope::default();
    scope.set("size", 100);
    scope
}

fn place(word: &str, ty: Type) -> Result<Arg, String> {
    let words = |_: Giver, part: &str| Err(format!("no {part}"));
    let (scope, mut memory) = (scope(), DeviceMemory::new());
    let sources = Sources { scope: &scope, folder: None, words: &words };
    let buffers = [("x", Element::Float(4), 100, 0x7000), ("y", Element::Float(8), 100, 0x8000)];
    let param = Param { name: "x".into(), offset: 0, bytes: ty.bytes().into(), ty };
    Argument::parse(word)?.place(&param, &mut Launching { sources, buffers: &buffers, textures: &[], memory: &mut memory }, 1)
}

#[test]
fn numbers_take_the_type_of_the_parameter() {
    assert_eq!(place("-2", Type::Unsigned(4)), Ok(Arg::Bytes(vec![0xfe, 0xff, 0xff, 0xff])));
    assert_eq!(place("2", Type::Float(8)), Ok(Arg::Bytes(2.0f64.to_le_bytes().to_vec())));
    assert_eq!(place("size / 4", Type::Unsigned(4)), Ok(Arg::Bytes(vec![25, 0, 0, 0])));
    assert_eq!(place("size", Type::Float(4)), Ok(Arg::Bytes(100.0f32.to_le_bytes().to_vec())));
    assert_eq!(place("hex:01ff", Type::Bits(2)), Ok(Arg::Bytes(vec![1, 0xff])));
}

#[test]
fn stated_types_are_kept() {
    assert_eq!(place("f32:0.5", Type::Float(4)), Ok(Arg::F32(0.5)));
    assert_eq!(place("i32:-1", Type::Unsigned(4)), Ok(Arg::I32(-1)));
    assert_eq!(place("i32:-size", Type::Bits(4)), Ok(Arg::I32(-100)));
    assert_eq!(place("u64:size * size", Type::Unsigned(8)), Ok(Arg::U64(10_000)));
    assert_eq!(place("u8:size", Type::Unsigned(1)), Ok(Arg::Bytes(vec![100])));
}

#[test]
fn addresses_are_those_of_elements() {
    assert_eq!(place("&x", Type::Unsigned(8)), Ok(Arg::U64(0x7000)));
    assert_eq!(place("&x[size / 2]", Type::Unsigned(8)), Ok(Arg::U64(0x7000 + 200)));
    assert_eq!(place("&y[2]", Type::Unsigned(8)), Ok(Arg::U64(0x8010)));
    assert_eq!(place("&y[size]", Type::Unsigned(8)), Ok(Arg::U64(0x8000 + 800)), "the end");
}

#[test]
fn what_does_not_fit_is_explained() {
    for (word, ty, message) in [
        ("2.5", Type::Unsigned(4), "`2.5` is given, but parameter `x` is a u32"),
        ("4294967296", Type::Unsigned(4), "`4294967296` is given, but parameter `x` is a u32"),
        ("size - 200", Type::Pred, "`size - 200 = -100` is given, but parameter `x` is 1 bytes: use hex:BYTES"),
        ("f32:1", Type::Unsigned(4), "a f32 is given, but parameter `x` is a u32"),
        ("f32:1", Type::Float(8), "a f32 is given, but parameter `x` is a f64"),
        ("i8:size * 2", Type::Bits(1), "`size * 2` is 200, which is not a valid i8, with size = 100"),
        ("buf:f32:4:zeros", Type::Float(4), "the address of a buffer is given, which has 64 bits, but parameter `x` is a f32"),
        ("&x", Type::Float(4), "the address of a buffer is given, which has 64 bits, but parameter `x` is a f32"),
        ("&z", Type::Bits(8), "unknown buffer `z`; did you mean `y`? known: x, y"),
        ("&x[size", Type::Bits(8), "`&x[size`: expected `]` at the end"),
        ("&x[size + 1]", Type::Bits(8), "`&x[size + 1]` is element 101, but `x` has 100, with size = 100"),
        ("&x[-1]", Type::Bits(8), "`&x[-1]` is element -1, but `x` has 100"),
        ("hex:01", Type::Bits(2), "1 bytes are given, but parameter `x` is a u16"),
        ("hex:0", Type::Bits(2), "expected an even number of hexadecimal digits after hex:"),
        ("many", Type::Bits(2), "unknown name `many`; known: size"),
        ("2 many", Type::Bits(2), "expected a number, TYPE:NUMBER, buf:TYPE:COUNT:FILL or hex:BYTES; `2 many`: expected an operator"),
        ("u8:256", Type::Bits(1), "`256` is not a valid u8"),
        ("b32:1", Type::Bits(4), "unknown type `b32`; known: f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, and buf, hex"),
        ("buf:f32:0:zeros", Type::Bits(8), "`0` is not a number of elements, at least 1"),
        ("buf:f32:size - 100:zeros", Type::Bits(8), "`0` is not a number of elements, at least 1"),
        ("buf:f32:4", Type::Bits(8), "expected buf:TYPE:COUNT:FILL, as in buf:f32:1048576:random"),
        ("buf:f32:4:ramdom", Type::Bits(8), "`ramdom`: expected zeros, ones, iota, random, random:LOW:HIGH or file:PATH"),
        ("buf:u8:4:random:9:3", Type::Bits(8), "`9:3`: expected LOW:HIGH of u8, the lower first"),
        ("buf:f64:1000000000:zeros", Type::Bits(8), "a buffer has at most 4294967296 bytes"),
        ("buf:u8:4:file:x.bin", Type::Bits(8), "a built-in kernel has no files"),
    ] {
        let found = place(word, ty).unwrap_err();
        assert!(found.starts_with(message), "{word}: {found}\nexpected {message}");
    }
}
