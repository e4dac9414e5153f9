//! The user guide holds: every command in `docs/user-guide.md` is run, and prints what the guide says, `...` aside.
//! After a change of results, `TRYCMD=overwrite cargo test -p mias --test guide` writes the outputs into the guide again.
//! The README shows the guide's `compare`, word for word.

use std::fs;
use std::path::Path;

const GPU_OF_HALF_SIZE: [(&str, &str); 3] =
    [("name = \"rtx2060\"", "name = \"half\""), ("count = 30", "count = 15"), ("channels = 12", "channels = 6")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the crate is in the workspace")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// The machines that the guide's examples speak of, as a reader would have made them, and the traces of the project.
fn lay_out(folder: &Path) {
    let whole = mias_machines::text("rtx2060").expect("a machine that is built in").to_owned();
    let half = GPU_OF_HALF_SIZE.iter().fold(whole.clone(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replacen(old, new, 1)
    });
    fs::write(folder.join("half.toml"), half).expect("half.toml");
    let shown = assert_cmd::Command::new(env!("CARGO_BIN_EXE_mias")).args(["gpu", "show"]).output().expect("mias").stdout;
    let shown = String::from_utf8(shown).expect("TOML is text");
    fs::write(folder.join("my.toml"), shown.replacen("count = 30", "count = 0", 1)).expect("my.toml");
    for linked in ["tests", "examples"] {
        std::os::unix::fs::symlink(root().join(linked), folder.join(linked)).expect("a link to the traces and examples");
    }
}

/// The guide as trycmd reads it, which takes the last end of line of an output for its own: another one after outputs shown
/// to their end.
fn open_ended(guide: &str) -> String {
    let mut text = String::new();
    let (mut in_console, mut last) = (false, "");
    for line in guide.lines() {
        let ends_output = line == "```" || line.starts_with("$ ") && last != "```console";
        if in_console && ends_output && last != "..." {
            text.push('\n');
        }
        in_console = line == "```console" || in_console && line != "```";
        text.extend([line, "\n"]);
        last = line;
    }
    text
}

#[test]
fn every_command_of_the_user_guide_prints_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    lay_out(folder.path());
    let guide = folder.path().join("user-guide.md");
    fs::write(&guide, open_ended(&read("docs/user-guide.md"))).expect("the guide's copy");
    std::env::set_current_dir(&folder).expect("the folder");
    let run = std::panic::catch_unwind(|| trycmd::TestCases::new().env("MIAS_CACHE", "cache").case(&guide).run());
    if std::env::var_os("TRYCMD").is_some_and(|mode| mode == "overwrite") {
        let text = fs::read_to_string(&guide).expect("the guide's copy").replace("\n\n```\n", "\n```\n").replace("\n\n$ ", "\n$ ");
        fs::write(root().join("docs/user-guide.md"), text).expect("the guide");
    }
    if let Err(differences) = run {
        std::panic::resume_unwind(differences);
    }
}

#[test]
fn the_readme_shows_the_guides_comparison() {
    let (readme, guide) = (read("README.md"), read("docs/user-guide.md"));
    let table = |text: &str| {
        let start = text.find("policy        config").expect("the table of policies");
        text[start..].split("\n\n").next().map(str::to_owned).expect("its end")
    };
    assert_eq!(table(&readme), table(&guide));
}
