//! Finds mistakes in the entries of HEIR's attributes, with their corrections: a misspelled key,
//! `:` instead of `=`, a missing comma.

use std::ops::Range;

use noisy_dataflow::attributes;
use noisy_syntax::{Op, Source, nearest};

use crate::text::annotation::{self, ANNOTATION_KEYS};
use crate::text::entries::entries;

/// The keys of `bgv.schemeParam` and `ckks.schemeParam`.
const PARAMS_KEYS: [&str; 7] = [
    "logN",
    "Q",
    "P",
    "plaintextModulus",
    "logDefaultScale",
    "encryptionType",
    "encryptionTechnique",
];
/// The attributes of a module that contain the parameters of a scheme.
const PARAMS_ATTRIBUTES: [&str; 2] = ["bgv.schemeParam", "ckks.schemeParam"];

/// A mistake in an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryFault {
    /// The range of the wrong key or sign in the file.
    pub range: Range<usize>,
    /// The mistake, with the name of the attribute.
    pub message: String,
    /// The range that the correction replaces.
    pub replaced_range: Range<usize>,
    /// The new text.
    pub new_text: &'static str,
}

/// Returns the mistakes in the annotations of an op and in the parameters of a module, in textual
/// order. Annotations in an alias are not checked.
pub fn entry_faults(source: &Source, op: Op) -> Vec<EntryFault> {
    let mut out = Vec::new();
    let listed = attributes::listed_attributes(source, op, "mgmt.mgmt").into_iter().map(|it| it.2);
    let own = attributes::own_attribute(source, op, "mgmt.mgmt");
    for place in listed.chain(own) {
        let text = source.slice(place.value.clone());
        if let Some(body) = annotation::annotation_body(&text) {
            find_faults(
                body,
                place.value.end - body.len(),
                "mgmt.mgmt",
                &ANNOTATION_KEYS,
                &mut out,
            );
        }
    }
    for name in PARAMS_ATTRIBUTES {
        if let Some(place) = attributes::own_attribute(source, op, name) {
            let text = source.slice(place.value.clone());
            find_faults(&text, place.value.start, name, &PARAMS_KEYS, &mut out);
        }
    }
    out.sort_by_key(|it| it.range.start);
    out
}

fn find_faults(
    text: &str,
    start: usize,
    of: &str,
    keys: &[&'static str],
    out: &mut Vec<EntryFault>,
) {
    let at = |it: Range<usize>| start + it.start..start + it.end;
    for entry in entries(text) {
        let key = entry.key;
        if !keys.contains(&key) {
            let [meant] = nearest(key, keys.iter().copied())[..] else { continue };
            let Some(&text) = keys.iter().find(|it| **it == meant) else { continue };
            let range = at(entry.key_range);
            let message = format!("unknown key `{key}` of `{of}`; did you mean `{meant}`?");
            out.push(EntryFault { replaced_range: range.clone(), range, message, new_text: text });
            continue;
        }
        let value = &text[entry.value_range.clone()];
        if entry.value_tokens.first() == Some(&":") {
            let sign = entry.value_range.start..entry.value_range.start + 1;
            let message = format!("expected `=` after `{key}` of `{of}`, found `:`");
            let replaced = at(entry.key_range.end..sign.end);
            out.push(EntryFault {
                range: at(sign),
                message,
                replaced_range: replaced,
                new_text: " =",
            });
        } else if let Some(next) = entry.value_tokens.windows(2).find(|it| it[1] == "=")
            && keys.contains(&next[0])
            && let Some(offset) = value.rfind(next[0]).filter(|&it| it > 0)
        {
            let next_start = entry.value_range.start + offset;
            let end = entry.value_range.start + value[..offset].trim_end().len();
            let message = format!("expected `,` before the key `{}` of `{of}`", next[0]);
            let range = at(next_start..next_start + next[0].len());
            out.push(EntryFault { range, message, replaced_range: at(end..end), new_text: "," });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrected(text: &str) -> (String, String) {
        let mut found = Vec::new();
        find_faults(text, 0, "mgmt.mgmt", &ANNOTATION_KEYS, &mut found);
        let [it] = &found[..] else { panic!("{text}: {found:?}") };
        let mut new = text.to_owned();
        new.replace_range(it.replaced_range.clone(), it.new_text);
        (text[it.range.clone()].to_owned(), new)
    }

    #[test]
    fn each_mistake_has_one_place_and_one_correction() {
        for (text, place, wanted) in [
            ("#mgmt.mgmt<levle = 1>", "levle", "#mgmt.mgmt<level = 1>"),
            ("#mgmt.mgmt<level: 0, scale = 4>", ":", "#mgmt.mgmt<level = 0, scale = 4>"),
            ("#mgmt.mgmt<level = 2 scale = 45>", "scale", "#mgmt.mgmt<level = 2, scale = 45>"),
        ] {
            assert_eq!(corrected(text), (place.to_owned(), wanted.to_owned()));
        }
        let mut found = Vec::new();
        let text = "#mgmt.mgmt<level = 2, dimension = 3, noise = 4>";
        find_faults(text, 0, "mgmt.mgmt", &ANNOTATION_KEYS, &mut found);
        assert!(found.is_empty(), "{found:?}");
    }
}
