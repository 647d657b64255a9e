//! Prints locations like `mlir-opt --mlir-print-debuginfo`: `loc(#loc3)` after an op,
//! `loc("f":1:2)` after an argument. The locations of arguments are never names, and neither are
//! those of ops in local scope.

use super::locations::LocationNames;
use super::printer::Printer;
use crate::{AttrData, LocationPart, Op, Value};

impl Printer<'_> {
    /// Assigns names to the locations of ops and of their contents, if locations are printed by
    /// name.
    pub(super) fn name_locations(&mut self, ops: &[Op]) {
        if self.locations.is_some() && self.text.aliases.is_some() && self.ir.has_locations() {
            self.locations = Some(LocationNames::new(self.ir, ops));
        }
    }

    /// Prints ` loc(#loc1)`.
    pub(super) fn op_location(&mut self, op: Op) {
        let Some(location) = self.ir.location(op) else { return };
        let Some(names) = &self.locations else { return };
        let name = names.name(location);
        self.text.push(" ");
        match name {
            Some(name) => self.text.push(&format!("loc(#{name})")),
            None => self.text.attr(location),
        }
    }

    /// Prints ` loc("f":1:2)`.
    pub(crate) fn argument_location(&mut self, value: Value) {
        let location = self.ir.argument_location(value).filter(|_| self.locations.is_some());
        if let Some(location) = location {
            self.text.push(" ");
            self.text.attr(location);
        }
    }

    /// Returns the definitions of the names of locations, above and below the program.
    pub(super) fn location_definitions(&mut self) -> (String, String) {
        let (mut above, mut below) = (String::new(), String::new());
        let Some(names) = self.locations.take() else { return (above, below) };
        let program = std::mem::take(&mut self.text.out);
        for (location, is_above) in names.all() {
            let name = names.name(location).unwrap_or_default();
            self.text.push(&format!("#{name} = loc("));
            if let AttrData::Location(parts) = self.ir.interner.attr_data(location) {
                for part in parts {
                    match part {
                        LocationPart::Text(it) => self.text.push(self.ir.interner.str(*it)),
                        LocationPart::Attr(it) => self.text.attr(*it),
                        LocationPart::Location(it) => {
                            let name = names.name(*it).unwrap_or_default();
                            self.text.push(&format!("#{name}"));
                        }
                    }
                }
            }
            self.text.push(")\n");
            let line = std::mem::take(&mut self.text.out);
            *(if is_above { &mut above } else { &mut below }) += &line;
        }
        if names.all().next().is_some() {
            below.push('\n');
        }
        self.text.out = program;
        (above, below)
    }
}
