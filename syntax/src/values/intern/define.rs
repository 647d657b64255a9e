//! Prints the definitions of the names of long types and attributes.

use super::AttrData;
use super::long::TypeOrAttr;
use super::text::{NumberTypes, TextPrinter};

impl TextPrinter<'_> {
    /// Returns the definitions of all printed names, and of the names that these definitions use.
    /// Each name is defined before its uses.
    pub(crate) fn long_definitions(&mut self) -> String {
        let body = std::mem::take(&mut self.out);
        let (mut lines, mut parts) = (Vec::new(), Vec::new());
        // Names that are first used in a definition are appended to `order`.
        while let Some(&what) = self.long_names.as_ref().and_then(|it| it.order.get(lines.len())) {
            if let Some(long) = &mut self.long_names {
                long.used.clear();
                self.out.push_str(&long.names[lines.len()]);
            }
            self.push(" = ");
            self.write_definition(what);
            self.push("\n");
            lines.push(std::mem::take(&mut self.out));
            parts.push(
                self.long_names.as_mut().map(|it| std::mem::take(&mut it.used)).unwrap_or_default(),
            );
        }
        let mut out = String::new();
        let mut is_met = vec![false; lines.len()];
        for root in 0..lines.len() {
            let mut open = vec![(root, false)];
            while let Some((at, is_done)) = open.pop() {
                if is_done {
                    out.push_str(&lines[at]);
                } else if !std::mem::replace(&mut is_met[at], true) {
                    open.push((at, true));
                    open.extend(parts[at].iter().rev().map(|&it| (it, false)));
                }
            }
        }
        self.out = body;
        out
    }

    /// Writes the definition of a name.
    fn write_definition(&mut self, what: TypeOrAttr) {
        match what {
            TypeOrAttr::Type(ty) => self.type_without_name(ty),
            TypeOrAttr::Attr(attr) => match self.interner.attr_data(attr) {
                AttrData::Location(parts) => {
                    self.push("loc(");
                    self.location(parts);
                    self.push(")");
                }
                _ => self.attr_without_name(attr, NumberTypes::All),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::print::{self, Style};
    use crate::{Source, Tool};

    /// A program with `n` aliases, each of which uses the previous one twice. `LAST` is replaced by
    /// the number of the previous alias, in `program` by that of the last one.
    fn program_of_nested_aliases(
        first: &str,
        next: impl Fn(usize) -> String,
        program: &str,
        n: usize,
    ) -> String {
        let mut text = format!("{first}\n");
        for it in 1..=n {
            let _ = writeln!(text, "{}", next(it).replace("LAST", &(it - 1).to_string()));
        }
        text + &program.replace("LAST", &n.to_string())
    }

    fn programs(n: usize) -> Vec<String> {
        let tuple = |it| format!("!t{it} = tuple<!tLAST, !tLAST>");
        let function = |it| format!("!t{it} = (!tLAST) -> !tLAST");
        let tensor = |it| format!("#e{it} = [!tLAST, !tLAST]\n!t{it} = tensor<2xi8, #e{it}>");
        let types = "func.func private @g(!tLAST)
func.func @f(%x: !tLAST) -> !tLAST {
  %0 = \"a.b\"(%x) : (!tLAST) -> !tLAST
  func.call @g(%0) : (!tLAST) -> ()
  cf.br ^bb1(%0 : !tLAST)
^bb1(%y: !tLAST):
  return %y : !tLAST
}
";
        let list = |it| format!("#a{it} = [#aLAST, #aLAST]");
        let dict = |it| format!("#a{it} = {{a = #aLAST, b = 1 : i8, c = #aLAST}}");
        let attrs = "module attributes {m.m = #aLAST} {
  func.func private @f(i32 {a.a = #aLAST}) -> (i32 {a.b = [#aLAST, 1]}) attributes {a.c = #aLAST}
}
";
        let fused = |it| format!("#l{it} = loc(fused[#lLAST, #lLAST])");
        let calls = |it| format!("#l{it} = loc(callsite(#lLAST at #lLAST))");
        let locations = "func.func @f(%x: i32 loc(#lLAST)) {
  \"a.b\"() {a = #lLAST} : () -> () loc(#lLAST)
  return loc(#lLAST)
}
";
        vec![
            program_of_nested_aliases("!t0 = i32", tuple, types, n),
            program_of_nested_aliases("!t0 = i32", function, types, n),
            program_of_nested_aliases("!t0 = i32", tensor, types, n),
            program_of_nested_aliases("#a0 = 1 : i32", list, attrs, n),
            program_of_nested_aliases("#a0 = {x = @f}", dict, attrs, n),
            program_of_nested_aliases("#l0 = loc(\"f\":1:2)", fused, locations, n),
            program_of_nested_aliases("#l0 = loc(\"f\":1:2)", calls, locations, n),
        ]
    }

    fn styles() -> Vec<Style> {
        let mut out = Vec::new();
        for bits in 0..8 {
            let [is_custom, has_aliases, has_locations] = [1, 2, 4].map(|it| bits & it != 0);
            let has_names = is_custom;
            out.push(Style {
                tool: Tool::default(),
                is_custom,
                has_names,
                has_aliases,
                has_locations,
            });
        }
        out
    }

    fn printed(text: &str, style: Style) -> String {
        let source = Source::new(text);
        assert_eq!(source.problems(), [], "{text}");
        print::document(&source.into_located_ir("f", 0), style)
    }

    #[test]
    fn prints_nested_aliases_in_proportion_to_the_text() {
        for style in styles() {
            for text in programs(60) {
                let once = printed(&text, style);
                assert!(once.len() < 4 * text.len(), "{} bytes\n{text}", once.len());
                let twice = printed(&once, style);
                // The implicit module is not in the text and has no location.
                assert!(twice == once || style.has_locations, "{style:?}\n{twice}\n{once}");
                assert_eq!(printed(&twice, style), twice, "{style:?}\n{text}");
            }
        }
    }

    #[test]
    fn prints_short_programs_without_aliases() {
        for style in styles() {
            for text in programs(4) {
                let once = printed(&text, style);
                assert!(!once.contains("!type") && !once.contains("#attr"), "{once}");
            }
        }
    }

    #[test]
    fn a_long_alias_that_is_used_often_is_written_once() {
        let long = "x".repeat(2000);
        let uses = |it: &str| it.repeat(20_000);
        let style = Style { is_custom: true, ..Style::default() };
        for text in [
            format!("#a = \"{long}\"\n{}", uses("\"a.b\"() {a = #a} : () -> ()\n")),
            format!("!a = !x.y<\"{long}\">\n{}", uses("\"a.b\"() : () -> !a\n")),
            format!(
                "#a = @{long}\nfunc.func private @{long}()\nfunc.func @f() {{\n{}  return\n}}\n",
                uses("  \"func.call\"() {callee = #a} : () -> ()\n")
            ),
            format!(
                "#a = dense<\"0x{}\"> : tensor<1000xi8>\nfunc.func @f() {{\n{}  return\n}}\n",
                "0102".repeat(500),
                uses("  \"arith.constant\"() {value = #a} : () -> tensor<1000xi8>\n")
            ),
        ] {
            let once = printed(&text, style);
            assert!(once.len() < 4 * text.len(), "{} bytes", once.len());
            assert_eq!(printed(&once, style), once);
        }
    }

    #[test]
    fn a_chain_of_aliases_costs_no_stack() {
        let tuple = |it| format!("!t{it} = tuple<!tLAST>");
        let text =
            program_of_nested_aliases("!t0 = i32", tuple, "func.func private @f(!tLAST)\n", 20_000);
        let style = Style { is_custom: true, ..Style::default() };
        let once = printed(&text, style);
        assert_eq!(printed(&once, style), once);
        // A print of a single op has no place to define names.
        let ir = Source::new(&text).into_ir();
        let op = ir.functions()[0];
        assert_eq!(print::op_with_names(&ir, op, style, &print::PrintedNames::default()), None);
    }
}
