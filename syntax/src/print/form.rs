//! Writes an op along the description of its form in the op table: what `grammar/custom.rs` reads.
//!
//! Each element of a description has an arm in [`Printer::write_element`]. What takes more than a few lines stands in a file by its
//! idea: `types.rs`, `flag.rs`, `branch.rs`, `func.rs`, `loops.rs`, `affine.rs`, `memref.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::dialect::format::Element;
use crate::intern::Types;
use crate::{Attr, AttrData, TokenKind, Tool, Type};

impl Printer<'_> {
    /// Writes an op along the description of its form, after its name.
    pub(super) fn write_form(&mut self, format: &'static [Element]) -> Fits {
        format.iter().try_for_each(|it| self.write_element(*it))
    }

    fn write_element(&mut self, element: Element) -> Fits {
        match element {
            Element::Punct(kind) => {
                match kind {
                    TokenKind::Comma => self.text.push(","),
                    TokenKind::LParen => self.text.push("("),
                    TokenKind::RParen => self.text.push(")"),
                    TokenKind::LSquare if self.text.out.ends_with(',') => self.text.push(" ["),
                    TokenKind::LSquare => self.text.push("["),
                    TokenKind::RSquare => self.text.push("]"),
                    TokenKind::Colon => self.word(":"),
                    TokenKind::Arrow => self.word("->"),
                    _ => return Err(Unfit),
                }
                Ok(())
            }
            Element::Word(word) => {
                self.word(word);
                Ok(())
            }
            Element::OptWord(word, attr) => match self.op_attr(attr) {
                Some(Attr::UNIT) => {
                    self.word(word);
                    Ok(())
                }
                it => fits(it.is_none()),
            },
            Element::Use(ty) => self.operand(ty),
            Element::Uses(n) => {
                let values = self.take_operands(n.into())?;
                self.blank();
                self.values(&values)
            }
            Element::ParenUses(ty) => {
                let values = self.take_operands(self.n_left())?;
                fits(ty == Type::UNKNOWN || values.iter().all(|it| self.type_of(*it) == ty))?;
                self.text.push("(");
                self.values(&values)?;
                self.text.push(")");
                Ok(())
            }
            Element::Indices(open) => self.write_indices(open),
            Element::OptUsesTypes => {
                let values = self.take_operands(self.n_left())?;
                if values.is_empty() {
                    return Ok(());
                }
                self.blank();
                self.values_types(&values)
            }
            Element::AttrDict => {
                self.other_attrs("");
                Ok(())
            }
            Element::AttrDictWithKeyword => {
                self.other_attrs("attributes");
                Ok(())
            }
            Element::ConstantValue => {
                let value = self.op_attr("value").ok_or(Unfit)?;
                fits(self.ir.interner.attr_type(value) == Some(self.take_result()?))?;
                self.attr_word(value, Types::All);
                Ok(())
            }
            Element::StrAttr(name) => {
                self.string(name).ok_or(Unfit)?;
                self.attr_word(self.op_attr(name).ok_or(Unfit)?, Types::All);
                Ok(())
            }
            Element::Type(bind) => self.write_bound_type(bind),
            Element::ResultIs(ty) => fits(self.take_result()? == ty),
            Element::ResultTypes => {
                let types = self.take_results()?;
                fits(!types.is_empty())?;
                self.blank();
                self.text.types(&types);
                Ok(())
            }
            Element::OptArrowTypes => self.write_arrow_types(),
            Element::OptArrowResultTypes => {
                let types = self.take_results()?;
                if !types.is_empty() {
                    self.word("-> ");
                    self.text.types(&types);
                }
                Ok(())
            }
            Element::FunctionType(from) => self.write_function_type(from.into()),
            Element::OptFlags(flags) => self.write_flags(flags),
            Element::OptRounding => self.write_rounding(),
            Element::Predicate(names) => {
                let at = usize::try_from(self.int("predicate")?).map_err(|_| Unfit)?;
                self.word(names.get(at).ok_or(Unfit)?);
                Ok(())
            }
            Element::Select => self.write_select(),
            Element::SymbolName => {
                let name = self.string("sym_name").ok_or(Unfit)?;
                self.blank();
                self.text.symbol(name);
                Ok(())
            }
            Element::OptSymbolName => {
                if let Some(name) = self.string("sym_name") {
                    self.blank();
                    self.text.symbol(name);
                }
                Ok(())
            }
            Element::SymbolUse(name) => {
                let symbol = self.op_attr(name).ok_or(Unfit)?;
                fits(matches!(self.ir.interner.attr_data(symbol), AttrData::Symbol(_)))?;
                self.attr_word(symbol, Types::All);
                Ok(())
            }
            Element::Successor => self.write_successor(),
            Element::SuccessorSegments => {
                let sizes = self.segment_sizes::<3>()?;
                fits(sizes[0] == 1)
            }
            Element::OptWeights => self.write_weights(),
            Element::Switch => self.write_switch(),
            Element::Region => self.next_region(),
            Element::OptRegion => self.write_function_body(),
            Element::OptElse => {
                let Ok(region) = self.region_at(1) else { return Ok(()) };
                if self.ir.items(region).next().is_none() {
                    self.skip_region();
                    return Ok(());
                }
                self.word("else");
                self.braces(region)
            }
            Element::Visibility => {
                let Some(attr) = self.op_attr("sym_visibility") else { return Ok(()) };
                let AttrData::String(name, None) = self.ir.interner.attr_data(attr) else {
                    return Err(Unfit);
                };
                let visibility = self.ir.interner.str(*name);
                fits(matches!(visibility, "public" | "private" | "nested"))?;
                self.word(visibility);
                Ok(())
            }
            Element::FuncSignature => self.write_func_signature(),
            Element::ScfFor => self.write_scf_for(),
            Element::ScfWhile => self.write_scf_while(),
            Element::ScfParallel => self.write_scf_parallel(),
            Element::ScfReduce => self.write_scf_reduce(),
            Element::ScfForall => self.write_scf_forall(),
            Element::IndexSwitch => self.write_index_switch(),
            Element::AffineFor => self.write_affine_for(),
            Element::AffineParallel => self.write_affine_parallel(),
            Element::AffineApply(attr) => self.write_affine_apply(attr),
            Element::AffineAccess(attr) => self.write_affine_access(attr),
            Element::AccessedTypes(maps) => self.write_accessed_types(maps),
            Element::OptStride => self.write_stride(),
            Element::PrefetchKind => self.write_prefetch_kind(),
            Element::Delinearize => self.write_delinearize(),
            Element::Linearize => self.write_linearize(),
            Element::OptNontemporal => {
                if self.tool != Tool::Mlir19
                    && let Some(value) = self.op_attr("nontemporal")
                {
                    self.word("nontemporal(");
                    self.text.attr(value);
                    self.text.push(")");
                }
                Ok(())
            }
            Element::OptInt(name) => {
                if self.tool != Tool::Mlir19 && self.op_attr(name).is_some() {
                    let text = format!("{name} = {}", self.int(name)?);
                    self.word(&text);
                }
                Ok(())
            }
            Element::Int32(name) => {
                let value = self.int(name)?;
                self.word(&value.to_string());
                Ok(())
            }
            Element::Permutation(name) => self.write_permutation(name),
            Element::Subview => self.write_static_lists(["[", " [", " ["]),
            Element::ReinterpretCast => {
                self.word("to");
                self.write_static_lists([" offset: [", ", sizes: [", ", strides: ["])
            }
            Element::Reassociation => {
                let attr = self.op_attr("reassociation").ok_or(Unfit)?;
                fits(matches!(self.ir.interner.attr_data(attr), AttrData::Array(_)))?;
                self.attr_word(attr, Types::All);
                Ok(())
            }
            Element::OutputShape => {
                self.word("output_shape ");
                let sizes = self.ints("static_output_shape")?;
                self.write_mixed("[", &sizes, "]")
            }
            Element::Global => self.write_global(),
            Element::RmwKind => self.write_rmw_kind(),
            Element::RmwTypes => self.write_rmw_types(),
        }
    }
}
