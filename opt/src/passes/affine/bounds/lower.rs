//! `lower-affine`: lowers loops, conditions and maps of `affine` to `scf`, `arith` and `memref`.
//!
//! *Law.* Maps are computed as `affine` defines them: quotients are rounded down or up, remainders
//! are not negative. A division by a constant that is not positive, and ops without a counterpart,
//! are errors.

mod expand;

use noisy_syntax::affine::Body;
use noisy_syntax::rewrite::{NewOp, Point};
use noisy_syntax::{AttrData, Ir, Op, OpKind, Sign, Type, TypeData, Value, dialect};
use rustc_hash::FxHashMap;

use self::expand::Expand;
use crate::passes::affine::bounds::normalize::{ints_of, sizes_of_groups};
use crate::passes::affine::for_loop::For;
use crate::passes::{Context, Failure, Options, PassInfo};
use crate::patterns::affine::maps::{Applied, applied, exprs};
use crate::patterns::memref::segments;
use crate::rewrite::{operands, preorder};

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "lower-affine",
    class: "LowerAffinePass",
    anchor: None,
    summary: "Lower Affine operations to a combination of Arith and SCF operations",
    options: &[],
    run,
}];

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let mut all = Vec::new();
    for &(_, region) in &cx.ir.op(op).regions {
        all.extend(preorder(cx.ir, region));
    }
    let mut lower = Lower { ir: cx.ir, reductions: FxHashMap::default() };
    for it in all {
        if let Err(why) = lower.op(it) {
            let name = lower.ir.op_name(it).to_owned();
            let text = format!("failed to legalize operation '{name}': {why}");
            cx.sink.tell_op(crate::diagnostics::Severity::Error, cx.ir, it, &text);
            return Err(Failure(None));
        }
    }
    Ok(())
}

/// The result of lowering an op, with the reason of a failure.
type Done = Result<(), &'static str>;

const MALFORMED: &str = "its maps and operands do not match";

struct Lower<'a> {
    ir: &'a mut Ir,
    /// The kinds of the reductions of each created `scf.parallel`.
    reductions: FxHashMap<Op, Vec<usize>>,
}

impl Lower<'_> {
    fn op(&mut self, op: Op) -> Done {
        match self.ir.op(op).kind {
            OpKind::AffineFor => self.for_loop(op),
            OpKind::AffineIf => self.choice(op),
            OpKind::AffineParallel => self.parallel(op),
            OpKind::AffineYield => self.end(op),
            OpKind::AffineApply => self.value(op, None),
            OpKind::AffineMin => self.value(op, Some("arith.minsi")),
            OpKind::AffineMax => self.value(op, Some("arith.maxsi")),
            OpKind::AffineLoad => self.access(op, "memref.load", 1, &[]),
            OpKind::AffineStore => self.access(op, "memref.store", 2, &[]),
            OpKind::AffineVectorLoad => self.access(op, "vector.load", 1, &[]),
            OpKind::AffineVectorStore => self.access(op, "vector.store", 2, &[]),
            OpKind::AffinePrefetch => {
                let kept = ["isDataCache", "isWrite", "localityHint"];
                self.access(op, "memref.prefetch", 1, &kept)
            }
            OpKind::AffineDmaStart | OpKind::AffineDmaWait => Err("copies are not lowered"),
            _ => Ok(()),
        }
    }

    fn expand(&mut self, it: &Applied, at: Op) -> Result<Vec<Value>, &'static str> {
        Expand { ir: self.ir, at: Point::Before(at) }.all(it)
    }

    /// Combines several values with `name` (`arith.minsi` or `arith.maxsi`).
    fn one_of(&mut self, all: &[Value], name: &str, at: Op) -> Result<Value, &'static str> {
        let (&first, others) = all.split_first().ok_or(MALFORMED)?;
        let mut expand = Expand { ir: self.ir, at: Point::Before(at) };
        Ok(others.iter().fold(first, |best, &it| expand.binary(name, best, it)))
    }

    fn number(&mut self, value: i64, at: Op) -> Value {
        Expand { ir: self.ir, at: Point::Before(at) }.number(value)
    }

    fn for_loop(&mut self, op: Op) -> Done {
        let it = For::of(self.ir, op)
            .ok_or("its step is not positive, or its maps and operands do not match")?;
        let low = self.expand(&it.low, op)?;
        let low = self.one_of(&low, "arith.maxsi", op)?;
        let high = self.expand(&it.high, op)?;
        let high = self.one_of(&high, "arith.minsi", op)?;
        let step = self.number(it.step, op);
        let types = self.types(op);
        let new = NewOp::new("scf.for").operands(&[low, high, step]).operands(&it.inits);
        self.replace(op, new.results(&types));
        Ok(())
    }

    fn types(&self, op: Op) -> Vec<Type> {
        self.ir.op(op).results.iter().map(|&it| self.ir.value(it).ty).collect()
    }

    /// Replaces an op by a new op, and moves its regions.
    fn replace(&mut self, op: Op, new: NewOp) -> Op {
        let new = self.ir.insert(new, Point::Before(op));
        if !self.ir.op(op).regions.is_empty() {
            self.ir.move_regions(op, new);
        }
        let values = self.ir.op(new).results.to_vec();
        self.ir.replace(op, &values).expect("its results are those of the new op");
        new
    }

    fn choice(&mut self, op: Op) -> Done {
        let set = applied(self.ir, op, "condition", 0).ok_or(MALFORMED)?;
        let Body::Set(all) = &set.map.body else { return Err(MALFORMED) };
        let zero = self.number(0, op);
        let mut holds: Option<Value> = None;
        for (expr, is_equality) in all.clone() {
            let map = noisy_syntax::affine::Affine { body: Body::Map(vec![expr]), ..set.map };
            let it = Applied { map, operands: set.operands.clone() };
            let value = self.expand(&it, op)?[0];
            let mut expand = Expand { ir: self.ir, at: Point::Before(op) };
            // The predicate is `eq` or `sge`.
            let one = expand.compare(if is_equality { 0 } else { 5 }, value, zero);
            holds = Some(match holds {
                Some(before) => expand.binary("arith.andi", before, one),
                None => one,
            });
        }
        let Some(holds) = holds else { return Err(MALFORMED) };
        let types = self.types(op);
        self.replace(op, NewOp::new("scf.if").operands(&[holds]).results(&types));
        Ok(())
    }

    fn parallel(&mut self, op: Op) -> Done {
        let low = applied(self.ir, op, "lowerBoundsMap", 0).ok_or(MALFORMED)?;
        let high = applied(self.ir, op, "upperBoundsMap", low.operands.len()).ok_or(MALFORMED)?;
        let steps = ints_of(self.ir, op, "steps").ok_or(MALFORMED)?;
        let n = steps.len();
        let mut bounds = Vec::new();
        for (it, groups, name) in
            [(low, "lowerBoundsGroups", "arith.maxsi"), (high, "upperBoundsGroups", "arith.minsi")]
        {
            let groups = sizes_of_groups(self.ir, op, groups, n).ok_or(MALFORMED)?;
            let all = exprs(&it.map.body);
            let mut rest = &all[..];
            for size in groups {
                let (own, more) = rest.split_at_checked(size).ok_or(MALFORMED)?;
                rest = more;
                let map = noisy_syntax::affine::Affine { body: Body::Map(own.to_vec()), ..it.map };
                let it = Applied { map, operands: it.operands.clone() };
                let all = self.expand(&it, op)?;
                bounds.push(self.one_of(&all, name, op)?);
            }
        }
        for step in steps {
            bounds.push(self.number(step, op));
        }
        let types = self.types(op);
        let kinds = ints_of(self.ir, op, "reductions").ok_or(MALFORMED)?;
        let kinds: Vec<usize> =
            kinds.into_iter().filter_map(|it| usize::try_from(it).ok()).collect();
        if kinds.len() != types.len() {
            return Err(MALFORMED);
        }
        for (&kind, &ty) in kinds.iter().zip(&types) {
            let start = self.neutral(kind, ty).ok_or("a reduction without a neutral element")?;
            let new = NewOp::new("arith.constant").attr("value", start).results(&[ty]);
            let start = self.ir.insert(new, Point::Before(op));
            bounds.push(self.ir.op(start).results[0]);
        }
        let sizes = segments(self.ir, &[n, n, n, kinds.len()]);
        let new = NewOp::new("scf.parallel").operands(&bounds).results(&types);
        let new = self.replace(op, new.attr("operandSegmentSizes", sizes));
        self.reductions.insert(new, kinds);
        Ok(())
    }

    /// Returns the neutral element of a reduction.
    fn neutral(&mut self, kind: usize, ty: Type) -> Option<noisy_syntax::Attr> {
        let name = dialect::RMW.get(kind).copied()?;
        let data = match (self.ir.interner.type_data(ty).clone(), name) {
            (TypeData::Float(_), "addf" | "mulf" | "maximumf" | "minimumf") => {
                let value = match name {
                    "addf" => 0.0,
                    "mulf" => 1.0,
                    "maximumf" => f64::NEG_INFINITY,
                    _ => f64::INFINITY,
                };
                AttrData::Float { bits: f64::to_bits(value), ty }
            }
            (TypeData::Int { sign: Sign::Signless, .. }, "addi" | "ori") => {
                AttrData::Int { value: 0, ty }
            }
            (TypeData::Int { sign: Sign::Signless, width }, "muli") if width > 1 => {
                AttrData::Int { value: 1, ty }
            }
            (TypeData::Int { sign: Sign::Signless, width }, "andi") if width > 1 => {
                AttrData::Int { value: -1, ty }
            }
            _ => return None,
        };
        Some(self.ir.interner.attr(data))
    }

    fn end(&mut self, op: Op) -> Done {
        let parent = self.ir.parent_op(op).ok_or(MALFORMED)?;
        let values = operands(self.ir, op);
        let Some(kinds) = self.reductions.get(&parent).cloned() else {
            let new = NewOp::new("scf.yield").operands(&values);
            self.ir.insert(new, Point::Before(op));
            self.ir.erase(op).expect("an end has no results");
            return Ok(());
        };
        let new = NewOp::new("scf.reduce").operands(&values).regions(values.len());
        let reduce = self.ir.insert(new, Point::Before(op));
        for (at, (&value, kind)) in values.iter().zip(kinds).enumerate() {
            let ty = self.ir.value(value).ty;
            let region = self.ir.op(reduce).regions[at].1;
            let block = self.ir.add_block(region, &[ty, ty]);
            let both = self.ir.block(block).args.to_vec();
            let name = dialect::RMW.get(kind).copied().ok_or(MALFORMED)?;
            let new = NewOp::new(&format!("arith.{name}")).operands(&both).results(&[ty]);
            let sum = self.ir.insert(new, Point::End(block));
            let sum = self.ir.op(sum).results[0];
            let new = NewOp::new("scf.reduce.return").operands(&[sum]);
            self.ir.insert(new, Point::End(block));
        }
        self.ir.erase(op).expect("an end has no results");
        Ok(())
    }

    fn value(&mut self, op: Op, one_of: Option<&str>) -> Done {
        let it = applied(self.ir, op, "map", 0).ok_or(MALFORMED)?;
        let all = self.expand(&it, op)?;
        let value = match one_of {
            Some(name) => self.one_of(&all, name, op)?,
            None => *all.first().ok_or(MALFORMED)?,
        };
        self.ir.replace(op, &[value]).expect("its result was replaced");
        Ok(())
    }

    fn access(&mut self, op: Op, name: &str, first: usize, kept: &[&str]) -> Done {
        let it = applied(self.ir, op, "map", first).ok_or(MALFORMED)?;
        let indices = self.expand(&it, op)?;
        let own = operands(self.ir, op);
        let types = self.types(op);
        let mut new = NewOp::new(name).operands(&own[..first]).operands(&indices).results(&types);
        for name in kept {
            if let Some(attr) = self.ir.attr(op, name) {
                new = new.attr(name, attr);
            }
        }
        self.replace(op, new);
        Ok(())
    }
}
