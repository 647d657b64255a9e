//! Rules that can only be violated in the generic form: the numbers of operands, results, regions
//! and successors, the required attributes, and their values.

use super::Verifier;
use crate::op_traits::{AttrClass, CountRange, Presence};
use crate::{Attr, AttrData, Code, Form, Op, OpKind, Sign, Type, TypeData};

impl Verifier<'_> {
    /// Checks the counts and the required attributes of an op in generic form.
    pub(super) fn check_counts(&mut self, op: Op) {
        let data = self.ir.op(op);
        if data.form != Form::Generic || data.kind == OpKind::Unknown {
            return;
        }
        let spec = data.kind.spec();
        let n_successors = self.ir.extra(op).successors.len();
        for (what, n, count) in [
            ("operands", data.operands.len(), spec.operands),
            ("results", data.results.len(), spec.results),
            ("regions", data.regions.len(), spec.regions),
            ("successors", n_successors, spec.successors),
        ] {
            if !count.contains(n) {
                let wanted = match count {
                    CountRange { least, most: usize::MAX } => format!("{least} or more"),
                    CountRange { least, most } if least < most => format!("{least} to {most}"),
                    CountRange { least, .. } => least.to_string(),
                };
                let message = format!("expected {wanted} {what}, but found {n}");
                self.report(op, Code::WrongCount, message);
                return;
            }
        }
        // Absent sizes mean 0.
        let has_no_groups = |name| name == "operandSegmentSizes" && data.operands.is_empty();
        for attr in spec.attrs.iter().filter(|it| it.presence == Presence::Required) {
            if has_no_groups(attr.name) {
                continue;
            }
            if self.ir.attr(op, attr.name).is_none() {
                let message = format!("requires attribute '{}'", attr.name);
                self.report(op, Code::MissingAttribute, message);
                return;
            }
        }
    }

    /// Checks that the attributes of an op have the right classes.
    pub(super) fn check_attributes(&mut self, op: Op) {
        let spec = self.ir.op(op).kind.spec();
        if spec.attrs.is_empty() {
            return;
        }
        for &(name, attr) in &self.ir.extra(op).attrs {
            let name = self.ir.interner.str(name);
            let Some(known) = spec.attr(name) else { continue };
            if !self.has_attr_class(attr, known.class) {
                let message = format!(
                    "attribute '{name}' must be {}, but is '{}'",
                    known.class.description(),
                    self.ir.interner.short_attr_text(attr)
                );
                self.report(op, Code::AttributeValue, message);
                return;
            }
        }
        self.check_segment_sizes(op);
    }

    /// Checks the segment sizes in `operandSegmentSizes`.
    fn check_segment_sizes(&mut self, op: Op) {
        let groups = self.ir.op(op).kind.spec().segments;
        let Some(attr) = self.ir.attr(op, "operandSegmentSizes") else { return };
        let AttrData::DenseArray { values, .. } = self.ir.interner.attr_data(attr) else { return };
        if groups.is_empty() {
            return;
        }
        let n_operands = self.ir.op(op).operands.len();
        let sizes: Vec<i128> =
            values.iter().filter_map(|it| self.ir.interner.int_value(*it)).collect();
        if sizes.len() != groups.len() {
            let message = format!(
                "'operandSegmentSizes' must have {} elements, but has {}",
                groups.len(),
                values.len()
            );
            self.report(op, Code::AttributeValue, message);
        } else if sizes.iter().any(|it| *it < 0) || sizes.iter().sum::<i128>() != n_operands as i128
        {
            let message = format!(
                "'operandSegmentSizes' must add up to the number of operands, which is {n_operands}"
            );
            self.report(op, Code::AttributeValue, message);
        } else if let Some(n) = (0..groups.len()).find(|&n| !groups[n].contains(sizes[n] as usize))
        {
            let message = format!("has {} operands in group #{n}", sizes[n]);
            self.report(op, Code::WrongCount, message);
        }
    }

    /// Returns true if an attribute has a class. An unknown attribute has every class.
    fn has_attr_class(&self, attr: Attr, class: AttrClass) -> bool {
        let interner = &self.ir.interner;
        let data = interner.attr_data(attr);
        let is_int = |attr: Attr, wanted: Type| matches!(interner.attr_data(attr), AttrData::Int { ty, .. } if *ty == wanted);
        let is_int32 =
            |ty: Type| *interner.type_data(ty) == TypeData::Int { width: 32, sign: Sign::Signless };
        match class {
            _ if *data == AttrData::Unknown => true,
            AttrClass::Any => true,
            AttrClass::Typed => match data {
                AttrData::Unit
                | AttrData::Array(_)
                | AttrData::Dict(_)
                | AttrData::Symbol(_)
                | AttrData::Type(_)
                | AttrData::DenseArray { .. }
                | AttrData::Affine(_) => false,
                AttrData::Text(text, None) => !interner.str(*text).starts_with("strided<"),
                AttrData::Bool(_)
                | AttrData::Int { .. }
                | AttrData::Float { .. }
                | AttrData::String(..)
                | AttrData::Elements(..)
                | AttrData::Location(_)
                | AttrData::Text(..)
                | AttrData::Unknown => true,
            },
            AttrClass::Unit => *data == AttrData::Unit,
            AttrClass::Bool => matches!(data, AttrData::Bool(_)) || is_int(attr, Type::I1),
            AttrClass::I32 => matches!(data, AttrData::Int { ty, .. } if is_int32(*ty)),
            AttrClass::I64 => is_int(attr, Type::I64),
            AttrClass::Index => is_int(attr, Type::INDEX),
            AttrClass::Str => matches!(data, AttrData::String(..)),
            AttrClass::FlatSymbol => matches!(data, AttrData::Symbol(path) if path.len() == 1),
            AttrClass::Type => matches!(data, AttrData::Type(_)),
            AttrClass::FunctionType => match data {
                AttrData::Type(ty) => {
                    matches!(interner.type_data(*ty), TypeData::Function { .. } | TypeData::Unknown)
                }
                _ => false,
            },
            AttrClass::DenseI32 => {
                matches!(data, AttrData::DenseArray { element, .. } if is_int32(*element))
            }
            AttrClass::DenseI64 => {
                matches!(data, AttrData::DenseArray { element, .. } if *element == Type::I64)
            }
            AttrClass::Array => matches!(data, AttrData::Array(_)),
            AttrClass::I64Array => match data {
                AttrData::Array(list) => list.iter().all(|it| is_int(*it, Type::I64)),
                _ => false,
            },
            AttrClass::I64Arrays => match data {
                AttrData::Array(list) => {
                    list.iter().all(|it| self.has_attr_class(*it, AttrClass::I64Array))
                }
                _ => false,
            },
            AttrClass::Dictionaries => match data {
                AttrData::Array(list) => {
                    list.iter().all(|it| matches!(interner.attr_data(*it), AttrData::Dict(_)))
                }
                _ => false,
            },
            AttrClass::Map => matches!(data, AttrData::Affine(map) if !map.is_set()),
            AttrClass::Set => matches!(data, AttrData::Affine(map) if map.is_set()),
            AttrClass::IntElements => match data {
                AttrData::Elements(_, ty) => {
                    let element = interner.type_data(interner.element_type(*ty));
                    matches!(element, TypeData::Int { .. } | TypeData::Index)
                }
                _ => false,
            },
            AttrClass::I32Elements => {
                matches!(data, AttrData::Elements(_, ty) if is_int32(interner.element_type(*ty)))
            }
            AttrClass::Dialect(prefix) => match data {
                AttrData::Text(text, _) => interner.str(*text).starts_with(prefix),
                _ => false,
            },
        }
    }
}

impl AttrClass {
    /// Description of the class in messages.
    fn description(self) -> &'static str {
        match self {
            AttrClass::Any => "an attribute",
            AttrClass::Typed => "a number, a string or elements",
            AttrClass::Unit => "`unit`",
            AttrClass::Bool => "`true` or `false`",
            AttrClass::I32 => "an integer of type `i32`",
            AttrClass::I64 => "an integer of type `i64`",
            AttrClass::Index => "an integer of type `index`",
            AttrClass::Str => "a string",
            AttrClass::FlatSymbol => "the name of a symbol, such as `@name`",
            AttrClass::Type => "a type",
            AttrClass::FunctionType => "a function type",
            AttrClass::DenseI32 => "a list such as `array<i32: 1>`",
            AttrClass::DenseI64 => "a list such as `array<i64: 1>`",
            AttrClass::Array => "a list",
            AttrClass::I64Array => "a list of integers of type `i64`",
            AttrClass::I64Arrays => "a list of lists of integers of type `i64`",
            AttrClass::Dictionaries => "a list of dictionaries",
            AttrClass::Map => "an affine map",
            AttrClass::Set => "an integer set",
            AttrClass::IntElements => "elements that are integers",
            AttrClass::I32Elements => "elements of type `i32`",
            AttrClass::Dialect(prefix) => prefix,
        }
    }
}
