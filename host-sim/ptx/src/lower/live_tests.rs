//! Programs with live registers counted by hand.

use super::*;

fn live(body: &str) -> LiveRegisters {
    let text = format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p)\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n\
         .reg .b64 %rd<40>;\n.shared .align 16 .b8 s[512];\n{body}\n}}\n"
    );
    LiveRegisters::of(&Program::parse("t.ptx", &text, "k").unwrap_or_else(|e| panic!("{e}")))
}

fn counts(peak: u32, at_switch: Option<u32>) -> LiveRegisters {
    LiveRegisters { peak, at_switch }
}

/// The address is of 64 bits and needed again; what is awaited has no value.
#[test]
fn an_address_is_two_and_what_is_awaited_none() {
    // Before the addition: the address. At most: the address and the word.
    assert_eq!(
        live("ld.param.u64 %rd1, [p];\nld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\nst.global.u32 [%rd1], %r2;\nret;"),
        counts(3, Some(2))
    );
}

/// Both parts of a vector come at once; the first use waits for one of them, and the other counts
/// as there.
#[test]
fn parts_of_a_vector_are_counted_one_by_one() {
    let body = "ld.param.u64 %rd1, [p];\nld.global.v2.u32 {%r1, %r2}, [%rd1];\nadd.u32 %r3, %r1, 1;\nadd.u32 %r4, %r3, %r2;\n\
                st.global.u32 [%rd1], %r4;\nret;";
    // At the first addition: address and second part; at the second: address and the first sum.
    // With both parts, 4.
    assert_eq!(live(body), counts(4, Some(3)));
    // The first use of a part that came before all others: nothing is awaited then but what is
    // touched.
    let four = "ld.param.u64 %rd1, [p];\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\nmad.lo.u32 %r5, %r1, %r2, %r3;\n\
                add.u32 %r6, %r5, %r4;\nst.global.u32 [%rd1], %r6;\nret;";
    assert_eq!(live(four), counts(6, Some(3)), "the address and the fourth part");
}

/// At a barrier everything that is read later is live, predicates aside. Shared memory is no wait.
#[test]
fn barriers_are_switch_points() {
    let body = "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 9;\nst.shared.u32 [s], %r1;\nbar.sync 0;\n\
                ld.shared.u32 %r2, [s+4];\nadd.u32 %r3, %r2, %r1;\n@%p1 st.global.u32 [%rd1], %r3;\nret;";
    // At the barrier: the address and the thread's number. Then what was loaded, too.
    assert_eq!(live(body), counts(4, Some(3)));
    assert_eq!(live("mov.u32 %r1, %tid.x;\nst.shared.u32 [s], %r1;\nret;").at_switch, None);
}

/// A sum over a loop is live around it, also where the next element is awaited.
#[test]
fn loops_keep_what_they_go_on_with() {
    let body = "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nL:\nld.global.u32 %r3, [%rd1];\nadd.u32 %r1, %r1, %r3;\n\
                add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\nst.global.u32 [%rd1], %r1;\nret;";
    // Address, sum and counter; and with the element 5.
    assert_eq!(live(body), counts(5, Some(4)));
}

/// Loads that cross into another block are awaited there; what is touched on one way only may be
/// awaited still.
#[test]
fn loads_are_awaited_across_blocks() {
    let body = "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nld.global.u32 %r2, [%rd1];\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n\
                add.u32 %r1, %r1, 7;\nL:\nadd.u32 %r4, %r2, %r1;\nst.global.u32 [%rd1], %r4;\nret;";
    // At the addition behind the label: the address and the number.
    assert_eq!(live(body), counts(4, Some(3)));
}

/// Counts are scaled by the numbers of the paper's section 6.6: of 28 registers at a peak of 20
/// values, 9 live ones are 13.
#[test]
fn counts_are_scaled_to_the_assemblers() {
    assert_eq!(counts(20, Some(9)).scaled(28), 13);
    assert_eq!(counts(3, Some(3)).scaled(16), 16);
    assert_eq!(counts(3, None).scaled(16), 0);
    assert_eq!(LiveRegisters::default().scaled(16), 0);
}
