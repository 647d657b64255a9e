//! `lower-affine`: lowers loops, conditions and maps of `affine` to `scf`, `arith` and `memref`.
//!
//! *Law.* Maps are computed as `affine` defines them: quotients are rounded down or up, remainders
//! are not negative. A division by a constant that is not positive, and ops without a counterpart,
//! are errors.

mod expand;

use noisy_syntax::affine::AffineBody;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{AttrData, Ir, Op, OpKind, Sign, Type, TypeData, Value, dialect};
use rustc_hash::FxHashMap;

use self::expand::ExprExpansion;
use crate::passes::affine::bounds::normalize::{group_sizes, int_array};
use crate::passes::affine::for_loop::AffineFor;
use crate::passes::{PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns::affine::maps::{AppliedMap, applied_map, exprs};
use crate::patterns::memref::segments_attr;
use crate::rewrite::{operands, preorder};

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "lower-affine",
    class: "LowerAffinePass",
    anchor: None,
    summary: "Lower Affine operations to a combination of Arith and SCF operations",
    options: &[],
    run,
}];

fn run(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    let mut all = Vec::new();
    for &(_, region) in &cx.ir.op(op).regions {
        all.extend(preorder(cx.ir, region));
    }
    let mut lower = AffineLowering { ir: cx.ir, reductions: FxHashMap::default() };
    for it in all {
        if let Err(why) = lower.lower_op(it) {
            let name = lower.ir.op_name(it).to_owned();
            let text = format!("failed to legalize operation '{name}': {why}");
            cx.sink.report_at_op(crate::diagnostics::DiagnosticSeverity::Error, cx.ir, it, &text);
            return Err(PassFailure(None));
        }
    }
    Ok(())
}

/// The result of lowering an op, with the reason of a failure.
type LoweringResult = Result<(), &'static str>;

const MALFORMED: &str = "its maps and operands do not match";

struct AffineLowering<'a> {
    ir: &'a mut Ir,
    /// The kinds of the reductions of each created `scf.parallel`.
    reductions: FxHashMap<Op, Vec<usize>>,
}

impl AffineLowering<'_> {
    fn lower_op(&mut self, op: Op) -> LoweringResult {
        match self.ir.op(op).kind {
            OpKind::AffineFor => self.lower_for(op),
            OpKind::AffineIf => self.lower_if(op),
            OpKind::AffineParallel => self.lower_parallel(op),
            OpKind::AffineYield => self.lower_yield(op),
            OpKind::AffineApply => self.lower_value(op, None),
            OpKind::AffineMin => self.lower_value(op, Some("arith.minsi")),
            OpKind::AffineMax => self.lower_value(op, Some("arith.maxsi")),
            OpKind::AffineLoad => self.lower_access(op, "memref.load", 1, &[]),
            OpKind::AffineStore => self.lower_access(op, "memref.store", 2, &[]),
            OpKind::AffineVectorLoad => self.lower_access(op, "vector.load", 1, &[]),
            OpKind::AffineVectorStore => self.lower_access(op, "vector.store", 2, &[]),
            OpKind::AffinePrefetch => {
                let kept = ["isDataCache", "isWrite", "localityHint"];
                self.lower_access(op, "memref.prefetch", 1, &kept)
            }
            OpKind::AffineDmaStart | OpKind::AffineDmaWait => Err("copies are not lowered"),
            _ => Ok(()),
        }
    }

    fn expand(&mut self, it: &AppliedMap, at: Op) -> Result<Vec<Value>, &'static str> {
        ExprExpansion { ir: self.ir, at: InsertionPoint::Before(at) }.expand_map(it)
    }

    /// Combines several values with `name` (`arith.minsi` or `arith.maxsi`).
    fn least_or_greatest(
        &mut self,
        all: &[Value],
        name: &str,
        at: Op,
    ) -> Result<Value, &'static str> {
        let (&first, others) = all.split_first().ok_or(MALFORMED)?;
        let mut expand = ExprExpansion { ir: self.ir, at: InsertionPoint::Before(at) };
        Ok(others.iter().fold(first, |best, &it| expand.binary(name, best, it)))
    }

    fn number(&mut self, value: i64, at: Op) -> Value {
        ExprExpansion { ir: self.ir, at: InsertionPoint::Before(at) }.number(value)
    }

    fn lower_for(&mut self, op: Op) -> LoweringResult {
        let it = AffineFor::of(self.ir, op)
            .ok_or("its step is not positive, or its maps and operands do not match")?;
        let low = self.expand(&it.lower, op)?;
        let low = self.least_or_greatest(&low, "arith.maxsi", op)?;
        let high = self.expand(&it.upper, op)?;
        let high = self.least_or_greatest(&high, "arith.minsi", op)?;
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
        let new = self.ir.insert(new, InsertionPoint::Before(op));
        if !self.ir.op(op).regions.is_empty() {
            self.ir.move_regions(op, new);
        }
        let values = self.ir.op(new).results.to_vec();
        self.ir.replace(op, &values).expect("its results are those of the new op");
        new
    }

    fn lower_if(&mut self, op: Op) -> LoweringResult {
        let set = applied_map(self.ir, op, "condition", 0).ok_or(MALFORMED)?;
        let AffineBody::Set(all) = &set.map.body else { return Err(MALFORMED) };
        let zero = self.number(0, op);
        let mut holds: Option<Value> = None;
        for (expr, is_equality) in all.clone() {
            let map = noisy_syntax::affine::Affine { body: AffineBody::Map(vec![expr]), ..set.map };
            let it = AppliedMap { map, operands: set.operands.clone() };
            let value = self.expand(&it, op)?[0];
            let mut expand = ExprExpansion { ir: self.ir, at: InsertionPoint::Before(op) };
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

    fn lower_parallel(&mut self, op: Op) -> LoweringResult {
        let low = applied_map(self.ir, op, "lowerBoundsMap", 0).ok_or(MALFORMED)?;
        let high =
            applied_map(self.ir, op, "upperBoundsMap", low.operands.len()).ok_or(MALFORMED)?;
        let steps = int_array(self.ir, op, "steps").ok_or(MALFORMED)?;
        let n = steps.len();
        let mut bounds = Vec::new();
        for (it, groups, name) in
            [(low, "lowerBoundsGroups", "arith.maxsi"), (high, "upperBoundsGroups", "arith.minsi")]
        {
            let groups = group_sizes(self.ir, op, groups, n).ok_or(MALFORMED)?;
            let all = exprs(&it.map.body);
            let mut rest = &all[..];
            for size in groups {
                let (own, more) = rest.split_at_checked(size).ok_or(MALFORMED)?;
                rest = more;
                let map =
                    noisy_syntax::affine::Affine { body: AffineBody::Map(own.to_vec()), ..it.map };
                let it = AppliedMap { map, operands: it.operands.clone() };
                let all = self.expand(&it, op)?;
                bounds.push(self.least_or_greatest(&all, name, op)?);
            }
        }
        for step in steps {
            bounds.push(self.number(step, op));
        }
        let types = self.types(op);
        let kinds = int_array(self.ir, op, "reductions").ok_or(MALFORMED)?;
        let kinds: Vec<usize> =
            kinds.into_iter().filter_map(|it| usize::try_from(it).ok()).collect();
        if kinds.len() != types.len() {
            return Err(MALFORMED);
        }
        for (&kind, &ty) in kinds.iter().zip(&types) {
            let start = self.neutral(kind, ty).ok_or("a reduction without a neutral element")?;
            let new = NewOp::new("arith.constant").attr("value", start).results(&[ty]);
            let start = self.ir.insert(new, InsertionPoint::Before(op));
            bounds.push(self.ir.op(start).results[0]);
        }
        let sizes = segments_attr(self.ir, &[n, n, n, kinds.len()]);
        let new = NewOp::new("scf.parallel").operands(&bounds).results(&types);
        let new = self.replace(op, new.attr("operandSegmentSizes", sizes));
        self.reductions.insert(new, kinds);
        Ok(())
    }

    /// Returns the neutral element of a reduction.
    fn neutral(&mut self, kind: usize, ty: Type) -> Option<noisy_syntax::Attr> {
        let name = dialect::RMW_KINDS.get(kind).copied()?;
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
        Some(self.ir.interner.intern_attr(data))
    }

    fn lower_yield(&mut self, op: Op) -> LoweringResult {
        let parent = self.ir.parent_op(op).ok_or(MALFORMED)?;
        let values = operands(self.ir, op);
        let Some(kinds) = self.reductions.get(&parent).cloned() else {
            let new = NewOp::new("scf.yield").operands(&values);
            self.ir.insert(new, InsertionPoint::Before(op));
            self.ir.erase(op).expect("an end has no results");
            return Ok(());
        };
        let new = NewOp::new("scf.reduce").operands(&values).regions(values.len());
        let reduce = self.ir.insert(new, InsertionPoint::Before(op));
        for (at, (&value, kind)) in values.iter().zip(kinds).enumerate() {
            let ty = self.ir.value(value).ty;
            let region = self.ir.op(reduce).regions[at].1;
            let block = self.ir.add_block(region, &[ty, ty]);
            let both = self.ir.block(block).args.to_vec();
            let name = dialect::RMW_KINDS.get(kind).copied().ok_or(MALFORMED)?;
            let new = NewOp::new(&format!("arith.{name}")).operands(&both).results(&[ty]);
            let sum = self.ir.insert(new, InsertionPoint::End(block));
            let sum = self.ir.op(sum).results[0];
            let new = NewOp::new("scf.reduce.return").operands(&[sum]);
            self.ir.insert(new, InsertionPoint::End(block));
        }
        self.ir.erase(op).expect("an end has no results");
        Ok(())
    }

    fn lower_value(&mut self, op: Op, one_of: Option<&str>) -> LoweringResult {
        let it = applied_map(self.ir, op, "map", 0).ok_or(MALFORMED)?;
        let all = self.expand(&it, op)?;
        let value = match one_of {
            Some(name) => self.least_or_greatest(&all, name, op)?,
            None => *all.first().ok_or(MALFORMED)?,
        };
        self.ir.replace(op, &[value]).expect("its result was replaced");
        Ok(())
    }

    fn lower_access(&mut self, op: Op, name: &str, first: usize, kept: &[&str]) -> LoweringResult {
        let it = applied_map(self.ir, op, "map", first).ok_or(MALFORMED)?;
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
