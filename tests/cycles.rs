//! Folders of a crate import each other in one direction only.
//!
//! Every folder of a crate's `src` is a graph. Its nodes are the folders in it, each with all that
//! is below, and its other files. An edge from one node to another is a path in the code
//! (`crate::..`, `super::..`, `self::..`, in a `use` or anywhere else) from a file of the first to
//! a file of the second. `mod.rs` and `lib.rs` are the interface of their folder and not a node of
//! it. Children may use its declarations, and re-exports count as their origin. Test code is left
//! out.
//!
//! A cycle is rejected if it has at least two folders. Files of one folder may import each other,
//! because they are read together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A token of Rust code that paths consist of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Sign(char),
    /// The token `::`.
    Path,
}

fn is(token: Option<&Token>, sign: char) -> bool {
    token == Some(&Token::Sign(sign))
}

fn word(token: Option<&Token>) -> Option<&str> {
    if let Some(Token::Word(word)) = token { Some(word) } else { None }
}

/// Returns the tokens of a file, without comments and literals.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut at) = (Vec::new(), 0);
    let starts = |at: usize, with: &str| with.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    while at < chars.len() {
        let c = chars[at];
        if starts(at, "//") {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "/*") {
            while at < chars.len() && !starts(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if c == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if c == '\'' && (chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'')) {
            at += 2;
            while at < chars.len() && chars[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else if c == '_' || c.is_alphanumeric() {
            let from = at;
            while at < chars.len() && (chars[at] == '_' || chars[at].is_alphanumeric()) {
                at += 1;
            }
            let word: String = chars[from..at].iter().collect();
            let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
            if ["r", "br"].contains(&&*word) && chars.get(at + hashes) == Some(&'"') {
                let end = format!("\"{}", "#".repeat(hashes));
                at += hashes + 1;
                while at < chars.len() && !starts(at, &end) {
                    at += 1;
                }
                at += end.len();
            } else {
                tokens.push(Token::Word(word));
            }
        } else if starts(at, "::") {
            tokens.push(Token::Path);
            at += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Sign(c));
            }
            at += 1;
        }
    }
    tokens
}

/// Returns the end of the group that starts at `from` with `{`, `(` or `[`.
fn group_end(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token {
            Token::Sign('{' | '(' | '[') => depth += 1,
            Token::Sign('}' | ')' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Removes test code: each item after `#[cfg(test)]` or `#[test]`.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        if is(tokens.get(at), '#') && is(tokens.get(at + 1), '[') {
            let end = group_end(tokens, at + 1);
            let words: Vec<&str> = tokens[at..end].iter().filter_map(|token| word(Some(token))).collect();
            if words == ["cfg", "test"] || words == ["test"] || words == ["cfg", "any", "test"] {
                at = end;
                while at < tokens.len() && !is(tokens.get(at), ';') && !is(tokens.get(at), '{') {
                    let opens = is(tokens.get(at), '(') || is(tokens.get(at), '[');
                    at = if opens { group_end(tokens, at) } else { at + 1 };
                }
                at = if is(tokens.get(at), '{') { group_end(tokens, at) } else { at + 1 };
                continue;
            }
        }
        kept.push(tokens[at].clone());
        at += 1;
    }
    kept
}

/// Collects every path in the use tree or expression from `at` on, and returns its end.
fn paths(tokens: &[Token], mut at: usize, mut so_far: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    loop {
        match tokens.get(at) {
            Some(Token::Word(segment)) => so_far.push(segment.clone()),
            Some(Token::Sign('*')) => so_far.push("*".into()),
            Some(Token::Sign('{')) => {
                let end = group_end(tokens, at);
                at += 1;
                while at + 1 < end {
                    at = paths(tokens, at, so_far.clone(), found);
                    while at + 1 < end && !is(tokens.get(at), ',') {
                        at += 1;
                    }
                    at += 1;
                }
                return end;
            }
            _ => break,
        }
        at += 1;
        if tokens.get(at) != Some(&Token::Path) {
            break;
        }
        at += 1;
    }
    if !so_far.is_empty() {
        found.push(so_far);
    }
    at
}

/// A module with a file.
struct Module {
    file: PathBuf,
    children: BTreeMap<String, usize>,
    parent: Option<usize>,
    /// Whether the file is the interface of its folder.
    is_interface: bool,
    /// Imports from its own children, by name.
    exports: Vec<Vec<String>>,
    /// Names of the items defined in it.
    items: BTreeSet<String>,
    /// Paths in its code, from the crate's root.
    uses: Vec<Vec<String>>,
}

/// Modules of a crate, from the root on.
struct Crate {
    modules: Vec<Module>,
}

impl Crate {
    fn read(root: &Path) -> Crate {
        let mut found = Crate { modules: Vec::new() };
        found.load(root.to_owned(), None, &[]);
        found
    }

    fn load(&mut self, file: PathBuf, parent: Option<usize>, name: &[String]) -> usize {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tokens = without_tests(&tokens(&text));
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = file.parent().expect("a folder").to_owned();
        let is_root = parent.is_none();
        let below = if is_root || stem == "mod" { folder } else { folder.join(&stem) };
        let is_interface = is_root || stem == "mod" || below.is_dir();
        let number = self.modules.len();
        let children = BTreeMap::new();
        let (exports, items, uses) = (Vec::new(), BTreeSet::new(), Vec::new());
        self.modules.push(Module { file, children, parent, is_interface, exports, items, uses });
        // Names of the enclosing inline modules, each with the end of its braces.
        let mut inline: Vec<(String, usize)> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            inline.retain(|(_, end)| at < *end);
            let this = word(tokens.get(at));
            let next = word(tokens.get(at + 1));
            if let (Some("mod"), Some(child)) = (this, next) {
                if is(tokens.get(at + 2), ';') {
                    let places = [below.join(format!("{child}.rs")), below.join(child).join("mod.rs")];
                    if let Some(place) = places.into_iter().find(|place| place.is_file()) {
                        let name: Vec<String> = name.iter().cloned().chain([child.to_owned()]).collect();
                        let loaded = self.load(place, Some(number), &name);
                        self.modules[number].children.insert(child.to_owned(), loaded);
                    }
                } else if is(tokens.get(at + 2), '{') {
                    inline.push((child.to_owned(), group_end(&tokens, at + 2)));
                }
            }
            let defines = ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod", "macro_rules"];
            if let (Some(this), Some(item)) = (this, next)
                && defines.contains(&this)
            {
                self.modules[number].items.insert(item.to_owned());
            }
            let begins = at == 0 || tokens.get(at - 1) != Some(&Token::Path);
            if this == Some("use") {
                let mut found = Vec::new();
                let start = if tokens.get(at + 1) == Some(&Token::Path) { at + 2 } else { at + 1 };
                at = paths(&tokens, start, Vec::new(), &mut found);
                for path in found {
                    self.add(number, name, &inline, path);
                }
                continue;
            }
            if begins && this.is_some() && tokens.get(at + 1) == Some(&Token::Path) {
                let mut found = Vec::new();
                let next = paths(&tokens, at, Vec::new(), &mut found);
                for path in found {
                    self.add(number, name, &inline, path);
                }
                at = next.max(at + 1);
                continue;
            }
            at += 1;
        }
        number
    }

    /// Records a path of module `number`, whose own name is `name`.
    fn add(&mut self, number: usize, name: &[String], inline: &[(String, usize)], path: Vec<String>) {
        let here: Vec<String> = name.iter().cloned().chain(inline.iter().map(|(name, _)| name.clone())).collect();
        let absolute = match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("self") => here.into_iter().chain(path[1..].iter().cloned()).collect(),
            Some("super") => {
                let up = path.iter().take_while(|segment| *segment == "super").count();
                here[..here.len().saturating_sub(up)].iter().chain(&path[up..]).cloned().collect()
            }
            // A path to a child, perhaps, or to another crate.
            _ => {
                self.modules[number].exports.push(path.clone());
                name.iter().cloned().chain(path).collect()
            }
        };
        self.modules[number].uses.push(absolute);
    }

    /// Returns the module that a path from the root leads to. A re-export of an interface leads to
    /// its origin.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> usize {
        let mut at = from;
        for (place, segment) in path.iter().enumerate() {
            if let Some(&child) = self.modules[at].children.get(segment) {
                at = child;
                continue;
            }
            let module = &self.modules[at];
            if depth < 8 && !module.items.contains(segment) {
                let exports = module.exports.iter().filter(|path| module.children.contains_key(&path[0]));
                for export in exports {
                    let (last, way) = export.split_last().expect("not empty");
                    let target = self.resolve(at, way, depth + 1);
                    let named = last == segment || last == "self" && way.last() == Some(segment);
                    if target != at && (named || last == "*" && self.knows(target, segment)) {
                        return self.resolve(target, &path[place..], depth + 1);
                    }
                }
            }
            break;
        }
        at
    }

    fn knows(&self, module: usize, name: &String) -> bool {
        let module = &self.modules[module];
        module.items.contains(name) || module.exports.iter().any(|path| path.last() == Some(name))
    }

    /// Returns the folders and files below `src` on the way to a module. The interface of a folder
    /// counts as the folder itself.
    fn place(&self, module: usize, src: &Path) -> Vec<String> {
        let module = &self.modules[module];
        let mut path = module.file.strip_prefix(src).expect("below src").with_extension("");
        if path.ends_with("mod") || module.parent.is_none() {
            path.pop();
        }
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    }

    /// Returns the imports between the nodes of each folder, with one example each.
    fn edges(&self, src: &Path) -> BTreeMap<PathBuf, BTreeMap<(String, String), String>> {
        let mut edges: BTreeMap<PathBuf, BTreeMap<(String, String), String>> = BTreeMap::new();
        for (number, module) in self.modules.iter().enumerate() {
            let from = self.place(number, src);
            for path in &module.uses {
                let to = self.place(self.resolve(0, path, 0), src);
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                    let folder = from[..shared].iter().collect();
                    let import = format!("{} uses {}", module.file.display(), path.join("::"));
                    edges.entry(folder).or_default().entry((a.clone(), b.clone())).or_insert(import);
                }
            }
        }
        edges
    }

    fn folders(&self, src: &Path) -> BTreeSet<PathBuf> {
        let interfaces = self.modules.iter().enumerate().filter(|(_, module)| module.is_interface);
        interfaces.map(|(number, _)| self.place(number, src).iter().collect()).collect()
    }
}

/// Returns the sets of at least two nodes that all reach each other.
fn cycles(edges: &BTreeMap<(String, String), String>) -> BTreeSet<BTreeSet<String>> {
    let mut reach: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in edges.keys() {
        reach.entry(from).or_default().insert(to);
    }
    let nodes: Vec<&str> = reach.keys().copied().collect();
    for via in &nodes {
        let further = reach[via].clone();
        for all in reach.values_mut().filter(|all| all.contains(via)) {
            all.extend(&further);
        }
    }
    let same = |a: &str, b: &str| reach[a].contains(b) && reach.get(b).is_some_and(|back| back.contains(a));
    let sets = nodes.iter().map(|a| nodes.iter().filter(|b| same(a, b)).map(|&b| b.to_owned()).collect::<BTreeSet<String>>());
    sets.filter(|set| set.len() > 1).collect()
}

/// Collects the source folders of crates below `folder`.
fn crates(folder: &Path, found: &mut Vec<PathBuf>) {
    let src = folder.join("src");
    if folder.join("Cargo.toml").is_file() && src.is_dir() {
        found.push(src.clone());
    }
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && path != src && name != "target" && !name.starts_with('.') {
            crates(&path, found);
        }
    }
}

/// Returns the cycles of a crate with two folders or more: location, folders, and the imports that
/// cause them.
fn folder_cycles(src: &Path) -> Vec<(PathBuf, String, Vec<String>)> {
    let mut found = Vec::new();
    for root in ["lib.rs", "main.rs"].map(|name| src.join(name)).into_iter().filter(|root| root.is_file()) {
        let read = Crate::read(&root);
        let folders = read.folders(src);
        for (folder, edges) in read.edges(src) {
            for cycle in cycles(&edges) {
                let names: Vec<&str> = cycle.iter().filter(|name| folders.contains(&folder.join(name))).map(String::as_str).collect();
                let inside = edges.iter().filter(|((from, to), _)| cycle.contains(from) && cycle.contains(to));
                let imports = inside.map(|((from, to), import)| format!("{from} -> {to}: {import}")).collect();
                if names.len() > 1 {
                    found.push((src.join(&folder), names.join(" "), imports));
                }
            }
        }
    }
    found
}

#[test]
fn folders_import_each_other_one_way_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    crates(root, &mut sources);
    assert!(sources.len() > 10, "{sources:?}");
    for src in sources {
        if let Some((folder, names, imports)) = folder_cycles(&src).first() {
            let folder = folder.strip_prefix(root).expect("in the tree").display();
            panic!("{folder}: {names} import each other:\n{}", imports.join("\n"));
        }
    }
}

/// A synthetic crate: a cycle over a file and a re-export is found; tests, texts and a parent's own
/// items cause none.
#[test]
fn cycles_are_found_where_they_are() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cycles");
    // From an earlier run, perhaps.
    let _ = fs::remove_dir_all(&folder);
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).and_then(|()| fs::write(&file, text)).expect("written");
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub struct Custom;\npub use a::Thing;\n");
    write("a/mod.rs", "pub mod deep;\npub struct Thing;\n");
    write("a/deep.rs", "use crate::{Custom, c};\n#[cfg(test)]\nmod tests { use crate::b::T; }\n");
    write("b/mod.rs", "use crate::a::deep as d; // crate::c::X\nconst TEXT: &str = \"crate::c::X\";\n");
    write("c.rs", "mod inner { fn f() -> super::super::b::T { 0 } }\n");
    let found = folder_cycles(&folder);
    assert_eq!(found.iter().map(|(_, names, _)| names.as_str()).collect::<Vec<_>>(), ["a b"], "{found:?}");
    write("c.rs", "use crate::Thing;\n");
    let found = folder_cycles(&folder);
    assert!(found.is_empty(), "a and c are a cycle of one folder: {found:?}");
    write("c/mod.rs", "fn f(_: crate::Thing) {}\n");
    fs::remove_file(folder.join("c.rs")).expect("removed");
    assert_eq!(folder_cycles(&folder).iter().map(|(_, names, _)| names.as_str()).collect::<Vec<_>>(), ["a c"]);
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub struct Custom;\npub struct Thing;\n");
    assert!(folder_cycles(&folder).is_empty(), "what the root defines is nobody's");
}
