//! Updates locations when ops are created and moved, for programs with locations.
//!
//! *Law.* In a program with locations, each op and each argument has one. The location of a new op
//! is the one set by [`Ir::set_location_of_new_ops`], or else that of its neighbour.

use super::InsertionPoint;
use crate::string::{quoted, text_of_bytes};
use crate::{Attr, AttrData, Block, Ir, LocationPart, Op, Value};

impl Ir {
    /// Sets the location of an op, if the program has locations.
    pub fn set_location(&mut self, op: Op, location: Attr) {
        if let Some(it) = &mut self.locations {
            it.ops.insert(op, location);
        }
    }

    /// Copies the location of `from` to `to`.
    pub fn copy_location(&mut self, from: Op, to: Op) {
        if let Some(location) = self.location(from) {
            self.set_location(to, location);
        }
    }

    /// Sets the location of new ops to that of `like`; without `like`, to that of their neighbours.
    pub fn set_location_of_new_ops(&mut self, like: Option<Op>) {
        if let Some(it) = &mut self.locations {
            it.new = like.and_then(|op| it.ops.get(&op).copied());
        }
    }

    /// Returns the location of a position in a file; `0:0` means the whole file.
    pub fn file_location(&mut self, file: &str, line: usize, column: usize) -> Attr {
        let file = quoted(&text_of_bytes(file.to_owned().into_bytes()));
        self.location_attr(&format!("{file}:{line}:{column}"))
    }

    /// Returns `loc(unknown)`.
    pub fn unknown_location(&mut self) -> Attr {
        self.location_attr("unknown")
    }

    fn location_attr(&mut self, text: &str) -> Attr {
        let text = self.interner.intern_name(text);
        self.interner.intern_attr(AttrData::Location([LocationPart::Text(text)].into()))
    }

    /// Sets the locations of an op and of all ops and arguments in it to `loc(unknown)`.
    pub fn strip_locations(&mut self, op: Op) {
        let unknown = self.unknown_location();
        let mut found = vec![op];
        for &(_, region) in &self.op(op).regions {
            self.walk(region, &mut |it| found.push(it));
        }
        let regions = found.iter().flat_map(|&it| self.op(it).regions.iter());
        let blocks: Vec<Block> = regions.flat_map(|it| self.blocks(it.1)).collect();
        let arguments: Vec<Value> =
            blocks.iter().flat_map(|&it| self.block(it).args.iter().copied()).collect();
        if let Some(it) = &mut self.locations {
            it.ops.extend(found.into_iter().map(|op| (op, unknown)));
            it.arguments.extend(arguments.into_iter().map(|value| (value, unknown)));
        }
    }

    /// Sets the location of a new op that was inserted at `at`.
    pub(super) fn set_default_location(&mut self, op: Op, at: InsertionPoint) {
        if self.locations.is_none() {
            return;
        }
        let neighbour = match at {
            InsertionPoint::Before(it) | InsertionPoint::After(it) => Some(it),
            InsertionPoint::Start(block) | InsertionPoint::End(block) => {
                self.region(self.block(block).region).parent
            }
        };
        let new = self.locations.as_ref().and_then(|it| it.new);
        let known = new.or_else(|| self.location(neighbour?));
        let location = known.unwrap_or_else(|| self.unknown_location());
        self.set_location(op, location);
    }

    /// Sets the location of a new block argument to that of the enclosing op.
    pub(super) fn set_argument_location(&mut self, value: Value, block: Block) {
        if self.locations.is_none() {
            return;
        }
        let around = self.region(self.block(block).region).parent;
        let known = around.and_then(|it| self.location(it));
        let location = known.unwrap_or_else(|| self.unknown_location());
        if let Some(it) = &mut self.locations {
            it.arguments.insert(value, location);
        }
    }
}
