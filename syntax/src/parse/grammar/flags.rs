//! Sets of flags, such as `#arith.overflow<nsw, nuw>`.

/// Syntax of a set of flags or an enumeration, and its attribute.
#[derive(Debug)]
pub(crate) struct FlagSyntax {
    /// The keyword before `<`.
    pub(crate) word: &'static str,
    pub(crate) attr: &'static str,
    /// The prefix `#dialect.name` of the attribute's text.
    pub(crate) prefix: &'static str,
    /// All flags with their bits, in the order of printing. A flag with several bits precedes its
    /// parts.
    pub(crate) cases: &'static [(&'static str, u32)],
    /// The separator between two flags in printed text.
    pub(crate) separator: &'static str,
}

impl FlagSyntax {
    /// Returns the text of the attribute with these flags: `#arith.overflow<nsw, nuw>`.
    pub(crate) fn text(&self, bits: u32) -> String {
        let mut left = bits;
        let mut names = Vec::new();
        for (name, mask) in self.cases {
            if left & mask == *mask && (*mask != 0 || bits == 0) {
                names.push(*name);
                left &= !mask;
            }
        }
        format!("{}<{}>", self.prefix, names.join(self.separator))
    }
}

/// `overflow<nsw, nuw>`
pub(crate) const OVERFLOW: FlagSyntax = FlagSyntax {
    word: "overflow",
    attr: "overflowFlags",
    prefix: "#arith.overflow",
    cases: &[("none", 0), ("nsw", 1), ("nuw", 2)],
    separator: ", ",
};

/// `fastmath<nnan,ninf>`
pub(crate) const FASTMATH: FlagSyntax = FlagSyntax {
    word: "fastmath",
    attr: "fastmath",
    prefix: "#arith.fastmath",
    cases: &[
        ("none", 0),
        ("fast", 127),
        ("reassoc", 1),
        ("nnan", 2),
        ("ninf", 4),
        ("nsz", 8),
        ("arcp", 16),
        ("contract", 32),
        ("afn", 64),
    ],
    separator: ",",
};

/// Returns the canonical text of an attribute of flags; `None` for other attributes, an error
/// message for unknown flags.
pub(crate) fn flags_attr(text: &str) -> Option<Result<String, String>> {
    let all = [&OVERFLOW, &FASTMATH];
    let flags = all.into_iter().find(|it| text.starts_with(it.prefix))?;
    let body = &text[flags.prefix.len()..];
    if body.is_empty() {
        return Some(Err("expected '<'".to_owned()));
    }
    let body = body.strip_prefix('<')?.strip_suffix('>')?;
    let mut bits = 0;
    for word in body.split(',') {
        let Some((_, mask)) = flags.cases.iter().find(|it| it.0 == word.trim()) else {
            let names: Vec<_> = flags.cases.iter().map(|it| it.0).collect();
            return Some(Err(format!("expected some of {}", names.join(", "))));
        };
        bits |= mask;
    }
    Some(Ok(flags.text(bits)))
}
