//! Sets of kernels that run together: words of the command line, and all pairs, triples or
//! quadruples of them.

use crate::control::KERNELS;
use mias_kernels::{ALL, THESIS, ZHAO};

/// Expands words for several kernels: `all` for the library, `seven` for those of the thesis (Nasef
/// 2023), `zhao` for those of Zhao et al. 2018 with the grids of its table 1.
pub fn expanded(words: &[String]) -> Vec<String> {
    let kernels = |word: &String| match word.as_str() {
        "all" => ALL.iter().map(|kernel| kernel.name.to_owned()).collect(),
        "seven" => THESIS.map(str::to_owned).to_vec(),
        "zhao" => ZHAO.map(|(_, word)| word.to_owned()).to_vec(),
        _ => vec![word.clone()],
    };
    let mut found = Vec::new();
    for word in words.iter().flat_map(kernels) {
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// Parses a set such as `mm+fwt`. Words of kernels contain commas, so commas cannot separate them.
///
/// # Errors
/// A sentence for a set of one, of more than can run together, or with a kernel twice.
pub fn parse(text: &str) -> Result<Vec<String>, String> {
    let words: Vec<String> = text.split('+').map(str::to_owned).collect();
    let twice = words.iter().enumerate().any(|(number, word)| words[..number].contains(word));
    if words.len() < 2 || words.len() > KERNELS || twice {
        return Err(format!("`{text}`: a set is 2 to {KERNELS} different kernels, such as `mm+fwt`"));
    }
    Ok(words)
}

/// Returns the kernels and the pairs that a command line of `splits` names.
///
/// They are all pairs of the words for kernels, then the pairs that are written as sets, in their
/// order, none twice.
///
/// # Errors
/// As [`parse`], and a sentence for a larger set.
pub fn pairs(words: &[String]) -> Result<(Vec<String>, Vec<[String; 2]>), String> {
    let (sets, kernels): (Vec<String>, Vec<String>) = words.iter().cloned().partition(|word| word.contains('+'));
    let mut kernels = expanded(&kernels);
    let mut wanted = subsets(&kernels, 2);
    for text in &sets {
        wanted.push(parse(text)?);
    }
    let mut pairs = Vec::new();
    for set in wanted {
        let Ok(pair) = <[String; 2]>::try_from(set) else { return Err("a division of SMs needs sets of two kernels".into()) };
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    for kernel in pairs.iter().flatten() {
        if !kernels.contains(kernel) {
            kernels.push(kernel.clone());
        }
    }
    Ok((kernels, pairs))
}

/// Returns all sets of `size` different words, in their order.
pub fn subsets(words: &[String], size: usize) -> Vec<Vec<String>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let with = |(number, word): (usize, &String)| {
        let rest = subsets(&words[number + 1..], size - 1);
        rest.into_iter().map(|set| [vec![word.clone()], set].concat()).collect::<Vec<_>>()
    };
    words.iter().enumerate().flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn subsets_are_as_many_as_binomials_say() {
        let seven = expanded(&words("seven"));
        assert_eq!([0, 1, 2, 3, 4].map(|size| subsets(&seven, size).len()), [1, 7, 21, 35, 35]);
        assert_eq!(subsets(&words("a b c"), 2), [words("a b"), words("a c"), words("b c")]);
    }

    #[test]
    fn kernels_stand_for_all_their_pairs_and_sets_for_themselves() {
        let (kernels, found) = pairs(&words("fwt+dxtc mm fwt mm+fwt")).unwrap();
        let joined: Vec<String> = found.iter().map(|pair| pair.join("+")).collect();
        assert_eq!((kernels, joined), (words("mm fwt dxtc"), words("mm+fwt fwt+dxtc")));
        assert_eq!(pairs(&words("seven")).unwrap().1.len(), 21);
        assert!(pairs(&words("mm+fwt+blk")).unwrap_err().contains("needs sets of two kernels"));
    }

    #[test]
    fn words_for_several_are_replaced_and_none_is_twice() {
        assert_eq!(expanded(&words("mm seven mm:64")).len(), 8);
        assert_eq!(expanded(&words("all seven")).len(), ALL.len());
        assert_eq!((expanded(&words("zhao")).len(), &expanded(&words("zhao"))[0]), (14, &"dxtc:512".to_owned()));
    }

    #[test]
    fn sets_are_of_two_to_four_different_kernels() {
        assert_eq!(parse("mm+bopt:480,steps=512"), Ok(words("mm bopt:480,steps=512")));
        for text in ["mm", "mm+mm", "a+b+c+d+e", ""] {
            assert!(parse(text).unwrap_err().contains("2 to 4 different kernels"));
        }
    }
}
