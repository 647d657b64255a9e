//! Computes and compares the polynomials of values.

use std::collections::BTreeMap;
use std::rc::Rc;

use noisy_syntax::{Ir, Op, OpKind, Value};

use super::integers::{self, IntegerDefinition, encoded_constant};
use super::loops::{CarriedRelation, ConstantLoop, ProgramValue, ValueRelation};
use super::pairs::{PairedPrograms, is_noisy};
use super::polynomial::{MODULUS, Polynomial, PolynomialLimits, WorkBudget};

/// The largest nesting depth of loops that are evaluated.
const MAX_DEPTH: usize = 60;

/// Polynomials of values.
type Values = BTreeMap<Value, Rc<Polynomial>>;

/// The state of a proof that the pairs of two programs are equal.
pub(super) struct EqualityProof<'a> {
    pairs: PairedPrograms<'a>,
    polynomials: BTreeMap<ProgramValue, Rc<Polynomial>>,
    /// The meanings of unknowns that represent values which are proven equal.
    meanings: BTreeMap<u32, Rc<Polynomial>>,
    /// The values that each unknown represents, of the first and of the second program.
    origins: Vec<(Option<Value>, Option<Value>)>,
    /// The unknowns of integers: constants by type, and sums with a constant.
    constants: BTreeMap<(String, i128), u32>,
    sums: BTreeMap<(u32, i128), u32>,
    /// For an unknown that is a sum of an unknown and a constant, these two.
    summands: BTreeMap<u32, (u32, i128)>,
    n_kept: usize,
    most_kept: usize,
    work: WorkBudget,
}

impl<'a> EqualityProof<'a> {
    pub(super) fn new(pairs: PairedPrograms<'a>, limits: PolynomialLimits) -> Result<Self, String> {
        let mut out = Self {
            pairs,
            polynomials: BTreeMap::new(),
            meanings: BTreeMap::new(),
            origins: Vec::new(),
            constants: BTreeMap::new(),
            sums: BTreeMap::new(),
            summands: BTreeMap::new(),
            n_kept: 0,
            most_kept: limits.kept,
            work: WorkBudget::new(limits),
        };
        for (old, new) in std::mem::take(&mut out.pairs.unknowns) {
            let ProgramValue::Old(_, value) = old else {
                return Err("a value is of no program".into());
            };
            let polynomial = match encoded_constant(out.pairs.old.ir(), value) {
                // The operands of both encodings are proven equal, so both encode this number.
                Some(number) => Rc::new(Polynomial::constant(number)),
                None => out.new_unknown(Some(value), Some(new))?.1,
            };
            out.polynomials.insert(old, polynomial.clone());
            out.polynomials.insert(ProgramValue::New(new), polynomial);
        }
        for new in std::mem::take(&mut out.pairs.new_unknowns) {
            let polynomial = out.new_unknown(None, Some(new))?.1;
            out.polynomials.insert(ProgramValue::New(new), polynomial);
        }
        for (&op, &trips) in &out.pairs.loops {
            let ir = out.pairs.old.ir();
            if ConstantLoop::of(ir, op).is_none_or(|it| it.n_trips != trips) {
                let at = ir.range(op).start;
                return Err(format!("the op at byte {at} is not a loop of {trips} iterations"));
            }
        }
        let evaluated = out.pairs.loops.keys().copied();
        let left = out.pairs.remaining_iterations.iter().filter(|it| it.n_left > 0).map(|it| it.op);
        for op in evaluated.chain(left) {
            // A loop without used results is not evaluated, but may still have effects.
            let ir = out.pairs.old.ir();
            if !out.is_arithmetic(ir, op, 0) {
                let at = ir.range(op).start;
                return Err(format!("the loop at byte {at} has ops other than arithmetic"));
            }
        }
        Ok(out)
    }

    /// Returns true if the body of a loop consists of arithmetic and of such loops.
    fn is_arithmetic(&self, ir: &Ir, op: Op, depth: usize) -> bool {
        let Some(it) = ConstantLoop::of(ir, op).filter(|_| depth < MAX_DEPTH) else {
            return false;
        };
        let mut body = it.body.iter();
        body.all(|&it| {
            self.pairs.arithmetic.contains(ir, it) || self.is_arithmetic(ir, it, depth + 1)
        })
    }

    fn new_unknown(
        &mut self,
        old: Option<Value>,
        new: Option<Value>,
    ) -> Result<(u32, Rc<Polynomial>), String> {
        let n = self.origins.len();
        let unknown = u32::try_from(n).map_err(|_| "there are too many unknowns".to_owned())?;
        self.origins.push((old, new));
        Ok((unknown, Rc::new(Polynomial::unknown(unknown))))
    }

    /// Returns the sum of an integer and a constant.
    fn offset(&mut self, of: &Polynomial, by: i128) -> Result<Rc<Polynomial>, String> {
        let of = of.as_unknown().ok_or("an integer is unknown")?;
        let (base, first) = self.summands.get(&of).copied().unwrap_or((of, 0));
        let by = first.checked_add(by).ok_or("an integer is too large")?;
        if by == 0 {
            return Ok(Rc::new(Polynomial::unknown(base)));
        }
        if let Some(&it) = self.sums.get(&(base, by)) {
            return Ok(Rc::new(Polynomial::unknown(it)));
        }
        let (unknown, polynomial) = self.new_unknown(None, None)?;
        self.sums.insert((base, by), unknown);
        self.summands.insert(unknown, (base, by));
        Ok(polynomial)
    }

    fn constant(&mut self, ty: String, number: i128) -> Result<Rc<Polynomial>, String> {
        if let Some(&it) = self.constants.get(&(ty.clone(), number)) {
            return Ok(Rc::new(Polynomial::unknown(it)));
        }
        let (unknown, polynomial) = self.new_unknown(None, None)?;
        self.constants.insert((ty, number), unknown);
        Ok(polynomial)
    }

    /// Proves that the results of two ops are equal, and represents them by one unknown.
    pub(super) fn prove_step(&mut self, old: usize, new: usize) -> Result<(), String> {
        let (Some(&a), Some(&b)) = (self.pairs.old_ops.get(&old), self.pairs.new_ops.get(&new))
        else {
            return Err(format!("there is no arithmetic at byte {old} before or at {new} after"));
        };
        let (old, new) = (ProgramValue::Old(0, a), ProgramValue::New(b));
        self.prove_equal(old, new)?;
        let meaning = self.polynomial(new)?;
        let (unknown, polynomial) = self.new_unknown(Some(a), Some(b))?;
        self.meanings.insert(unknown, meaning);
        self.polynomials.insert(old, polynomial.clone());
        self.polynomials.insert(new, polynomial);
        Ok(())
    }

    /// Proves that the pairs are equal.
    pub(super) fn prove_pairs(&mut self) -> Result<(), String> {
        for (old, new) in std::mem::take(&mut self.pairs.uses) {
            self.prove_equal(old, new)?;
        }
        for (old, carried) in std::mem::take(&mut self.pairs.carried_values) {
            let value = self.carried_polynomial(carried)?;
            let rest = self.polynomial(old)?.minus(&value, &mut self.work)?;
            if self.expand(rest, &|_| true)?.len() > 0 {
                let name = self.text(ProgramValue::New(carried.value));
                return Err(format!("{name} is not what the iterations before yield"));
            }
        }
        Ok(())
    }

    /// Proves that two values are equal.
    fn prove_equal(&mut self, old: ProgramValue, new: ProgramValue) -> Result<(), String> {
        let (a, b) = (self.polynomial(old)?, self.polynomial(new)?);
        let rest = a.minus(&b, &mut self.work)?;
        if self.expand(rest, &|_| true)?.len() == 0 {
            return Ok(());
        }
        Err(format!(
            "{} is not equal to {} of the rewritten program",
            self.text(old),
            self.text(new)
        ))
    }

    /// Replaces the unknowns for which `is_meant` holds by their meanings, the latest first.
    fn expand(
        &mut self,
        mut rest: Polynomial,
        is_meant: &dyn Fn(u32) -> bool,
    ) -> Result<Polynomial, String> {
        loop {
            self.work.spend(rest.len())?;
            let unknowns = rest.terms().flat_map(|it| it.0).map(|it| it.0);
            let latest =
                unknowns.filter(|&it| self.meanings.contains_key(&it) && is_meant(it)).max();
            let meaning = latest.and_then(|it| Some((it, self.meanings.get(&it)?)));
            let Some((unknown, meaning)) = meaning else { return Ok(rest) };
            rest = rest.replace(unknown, meaning, &mut self.work)?;
        }
    }

    fn ir(&self, key: ProgramValue) -> &'a Ir {
        match key {
            ProgramValue::Old(..) => self.pairs.old.ir(),
            ProgramValue::New(_) => self.pairs.new.ir(),
        }
    }

    fn text(&self, key: ProgramValue) -> String {
        let (ProgramValue::Old(_, value) | ProgramValue::New(value)) = key;
        self.ir(key).value_text(value)
    }

    /// Returns the key of a value that is used in the context of another value.
    fn key_in_context_of(&self, key: ProgramValue, value: Value) -> ProgramValue {
        match key {
            ProgramValue::Old(context, _) => {
                self.pairs.contexts.key(self.pairs.old.ir(), context, value)
            }
            ProgramValue::New(_) => ProgramValue::New(value),
        }
    }

    /// Returns the values that the definition of a value needs.
    fn needed_values(&self, key: ProgramValue) -> Result<Vec<ProgramValue>, String> {
        let of_carried = |it: CarriedRelation| -> Vec<ProgramValue> {
            let start =
                it.initial_values.iter().flat_map(|&(old, new)| [old, ProgramValue::New(new)]);
            start.chain([ProgramValue::New(it.value)]).collect()
        };
        match self.pairs.meanings.get(&key) {
            Some(&ValueRelation::Carried(it)) => return Ok(of_carried(it)),
            Some(&ValueRelation::PreviousYield(it)) => return Ok(vec![it]),
            Some(&ValueRelation::InductionVariable(it, _)) => {
                return Ok(vec![ProgramValue::New(it)]);
            }
            Some(&ValueRelation::LoopResult(last)) => {
                let Some(it) = self.pairs.remaining_iterations.get(last) else {
                    return Err("no loop".into());
                };
                let carried = it.carried.iter().flat_map(|&it| of_carried(it));
                let outside = outside_operands(self.pairs.old.ir(), it.op).into_iter();
                return Ok(carried
                    .chain(outside.map(|it| self.key_in_context_of(key, it)))
                    .collect());
            }
            Some(&ValueRelation::BranchResult(branch, at, new)) => {
                let cases = &self.pairs.branches[branch].cases[at];
                let both = cases.iter().flat_map(|&(old, new)| [old, ProgramValue::New(new)]);
                return Ok(both.chain([ProgramValue::New(new)]).collect());
            }
            None => {}
        }
        let ir = self.ir(key);
        let unknown = || format!("{} is unknown", self.text(key));
        let (ProgramValue::Old(_, value) | ProgramValue::New(value)) = key;
        let op = ir.defining_op(value).ok_or_else(unknown)?;
        if !self.is_evaluated_loop(key, op) && !self.pairs.arithmetic.contains(ir, op) {
            return Err(unknown());
        }
        Ok(outside_operands(ir, op).into_iter().map(|it| self.key_in_context_of(key, it)).collect())
    }

    fn is_evaluated_loop(&self, key: ProgramValue, op: Op) -> bool {
        matches!(key, ProgramValue::Old(..)) && self.pairs.loops.contains_key(&op)
    }

    /// Returns the polynomial of a value, after computing those of the values that it needs.
    fn polynomial(&mut self, key: ProgramValue) -> Result<Rc<Polynomial>, String> {
        let mut stack = vec![key];
        while let Some(&at) = stack.last() {
            if self.polynomials.contains_key(&at) {
                stack.pop();
                continue;
            }
            let mut needs = self.needed_values(at)?;
            needs.retain(|it| !self.polynomials.contains_key(it));
            self.work.spend(1 + needs.len())?;
            if !needs.is_empty() {
                // A cyclic definition ends when the work is used up.
                stack.extend(needs);
                continue;
            }
            let ir = self.ir(at);
            let (ProgramValue::Old(_, value) | ProgramValue::New(value)) = at;
            let results = match (self.pairs.meanings.get(&at).copied(), ir.defining_op(value)) {
                (Some(ValueRelation::LoopResult(last)), _) => self.evaluate_remaining(at, last)?,
                (Some(it), _) => vec![(at, self.related_polynomial(it)?)],
                (None, Some(op)) if self.is_evaluated_loop(at, op) => {
                    let values = self.evaluate_iterations(at, op, &Values::new(), 0, None)?;
                    let keys = ir.op(op).results.iter().map(|&it| self.key_in_context_of(at, it));
                    keys.collect::<Vec<ProgramValue>>().into_iter().zip(values).collect()
                }
                (None, Some(op)) => vec![(at, self.evaluate_op(at, op, &Values::new())?)],
                (None, None) => return Err(format!("{} is unknown", self.text(at))),
            };
            self.n_kept += results.iter().map(|it| 1 + it.1.len()).sum::<usize>();
            if self.n_kept > self.most_kept {
                return Err("the polynomials have too many monomials".to_owned());
            }
            self.polynomials.extend(results);
            stack.pop();
        }
        self.polynomials.get(&key).cloned().ok_or_else(|| format!("{} is unknown", self.text(key)))
    }

    /// Computes the polynomial of a value from its relation to values of the second program.
    fn related_polynomial(&mut self, meaning: ValueRelation) -> Result<Rc<Polynomial>, String> {
        match meaning {
            ValueRelation::Carried(it) => self.carried_polynomial(it),
            ValueRelation::PreviousYield(it) => self.polynomial(it),
            ValueRelation::InductionVariable(it, by) => {
                let index = self.polynomial(ProgramValue::New(it))?;
                self.offset(&index, by)
            }
            ValueRelation::BranchResult(branch, at, new) => self.branch_polynomial(branch, at, new),
            ValueRelation::LoopResult(..) => Err("a loop has several results".to_owned()),
        }
    }

    /// Computes the results of a loop whose last iterations are evaluated.
    fn evaluate_remaining(
        &mut self,
        key: ProgramValue,
        last: usize,
    ) -> Result<Vec<(ProgramValue, Rc<Polynomial>)>, String> {
        let Some(it) = self.pairs.remaining_iterations.get(last) else {
            return Err("no loop".into());
        };
        let (op, n) = (it.op, it.n_left);
        let mut carried = Vec::new();
        for it in it.carried.clone() {
            carried.push(self.carried_polynomial(it)?);
        }
        let values = self.evaluate_iterations(key, op, &Values::new(), 0, Some((n, carried)))?;
        let ir = self.pairs.old.ir();
        let keys = ir.op(op).results.iter().map(|&it| self.key_in_context_of(key, it));
        Ok(keys.collect::<Vec<ProgramValue>>().into_iter().zip(values).collect())
    }

    /// Computes a carried value: the value of the second program plus the difference of the initial
    /// values.
    fn carried_polynomial(&mut self, of: CarriedRelation) -> Result<Rc<Polynomial>, String> {
        let value = self.polynomial(ProgramValue::New(of.value))?;
        let Some((old, new)) = of.initial_values else { return Ok(value) };
        let (old, new) = (self.polynomial(old)?, self.polynomial(ProgramValue::New(new))?);
        let rest = old.minus(&new, &mut self.work)?;
        let rest = self.expanded_if_zero(rest)?;
        Ok(Rc::new(value.plus(1, &rest, &mut self.work)?))
    }

    /// Returns zero if the polynomial is zero after its unknowns are expanded, else the polynomial
    /// itself.
    fn expanded_if_zero(&mut self, it: Polynomial) -> Result<Polynomial, String> {
        let is_zero = self.expand(it.clone(), &|_| true)?.len() == 0;
        Ok(if is_zero { Polynomial::constant(0) } else { it })
    }

    /// Computes the result of a branch: the result of the second program times a factor plus a
    /// rest, which are the same in all cases.
    fn branch_polynomial(
        &mut self,
        branch: usize,
        at: usize,
        new: Value,
    ) -> Result<Rc<Polynomial>, String> {
        let Some(it) = self.pairs.branches.get(branch) else { return Err("no branch".into()) };
        let (old_op, new_op, keys) = (it.old, it.new, it.cases[at].clone());
        let (old_ir, new_ir) = (self.pairs.old.ir(), self.pairs.new.ir());
        let is_inner = |ir: &Ir, value: Option<Value>, op: Op| {
            let holder = value.and_then(|it| ir.region(ir.def_region(it)).parent);
            holder.is_some_and(|it| ir.is_within(it, op))
        };
        let mut values = Vec::new();
        for (old, new) in keys {
            values.push((self.polynomial(old)?, self.polynomial(ProgramValue::New(new))?));
        }
        let result = self.polynomial(ProgramValue::New(new))?;
        // No unknowns are added from here on.
        let origins = std::mem::take(&mut self.origins);
        let is_local = |unknown: u32| {
            let (old, new) = origins.get(unknown as usize).copied().unwrap_or_default();
            is_inner(old_ir, old, old_op) || is_inner(new_ir, new, new_op)
        };
        let mut cases = Vec::new();
        for (old, new) in values {
            let old = self.expand(Polynomial::clone(&old), &is_local)?;
            let new = self.expand(Polynomial::clone(&new), &is_local)?;
            cases.push((old, new));
        }
        let is_noisy = is_noisy(new_ir, new);
        let mut factors = vec![Polynomial::constant(1)];
        if is_noisy {
            factors.push(Polynomial::constant(MODULUS - 1));
            factors.extend(cases.iter().filter_map(|it| it.0.quotient_by_monomial(&it.1)));
        }
        let is_fixed =
            |it: &Polynomial| it.terms().flat_map(|it| it.0).all(|&(it, _)| !is_local(it));
        'factors: for factor in factors.into_iter().filter(is_fixed) {
            let mut rest: Option<Polynomial> = None;
            for (old, new) in &cases {
                let product = factor.times(new, &mut self.work)?;
                let mut difference = old.minus(&product, &mut self.work)?;
                if !is_fixed(&difference) {
                    // Unknowns that are local to the case may cancel.
                    difference = self.expand(difference, &|_| true)?;
                }
                let is_same = match &rest {
                    None => is_fixed(&difference) && (is_noisy || difference.len() == 0),
                    Some(it) => {
                        let left = it.minus(&difference, &mut self.work)?;
                        self.expand(left, &|_| true)?.len() == 0
                    }
                };
                if !is_same {
                    continue 'factors;
                }
                rest.get_or_insert(difference);
            }
            let rest = rest.unwrap_or_default();
            let product = factor.times(&result, &mut self.work)?;
            self.origins = origins;
            return Ok(Rc::new(product.plus(1, &rest, &mut self.work)?));
        }
        Err(format!("{} is not the result of the branch before", new_ir.value_text(new)))
    }

    /// Computes the polynomial of an arithmetic op, whose operands may be local to a loop.
    fn evaluate_op(
        &mut self,
        key: ProgramValue,
        op: Op,
        local: &Values,
    ) -> Result<Rc<Polynomial>, String> {
        let ir = self.ir(key);
        let operand = |at: usize| {
            let value = ir.op(op).operands.get(at).and_then(|it| it.value);
            let outer = |it: Value| self.polynomials.get(&self.key_in_context_of(key, it));
            let found = value.and_then(|it| local.get(&it).or_else(|| outer(it)));
            found.cloned().ok_or("an operand is unknown")
        };
        match integers::integer_definition(ir, op) {
            Some(IntegerDefinition::Constant(it)) => {
                let ty = ir.op(op).results.first().map(|&it| ir.value(it).ty);
                let ty = ty.map_or_else(String::new, |it| ir.interner.type_text(it));
                return self.constant(ty, it);
            }
            Some(IntegerDefinition::Plus(by)) => {
                let of = operand(0)?;
                return self.offset(&of, by);
            }
            None => {}
        }
        Ok(match ir.op(op).kind {
            OpKind::NoisyReduceNoise => operand(0)?,
            OpKind::NoisyAdd => {
                let (a, b) = (operand(0)?, operand(1)?);
                Rc::new(a.plus(1, &b, &mut self.work)?)
            }
            OpKind::NoisySub => {
                let (a, b) = (operand(0)?, operand(1)?);
                Rc::new(a.minus(&b, &mut self.work)?)
            }
            OpKind::NoisyMul => {
                let (a, b) = (operand(0)?, operand(1)?);
                Rc::new(a.times(&b, &mut self.work)?)
            }
            _ => return Err("an op is not arithmetic".to_owned()),
        })
    }

    /// Computes the results of a loop, one iteration after the other. With `last`, only that number
    /// of iterations, from these initial values. The polynomials of values from outside of the loop
    /// must be known already, or be in `local`.
    fn evaluate_iterations(
        &mut self,
        key: ProgramValue,
        op: Op,
        local: &Values,
        depth: usize,
        last: Option<(u64, Vec<Rc<Polynomial>>)>,
    ) -> Result<Vec<Rc<Polynomial>>, String> {
        let ir = self.ir(key);
        let wrong = || format!("the loop at byte {} cannot be evaluated", ir.range(op).start);
        let it = ConstantLoop::of(ir, op).filter(|_| depth < MAX_DEPTH).ok_or_else(wrong)?;
        let of = |value: &Value, local: &Values, proof: &Self| {
            let outer = || proof.polynomials.get(&proof.key_in_context_of(key, *value));
            local.get(value).or_else(outer).cloned().ok_or_else(wrong)
        };
        let (n, mut carried) = match last {
            Some(it) => it,
            None => {
                let inits = it.inits.iter().map(|it| of(it, local, self));
                (it.n_trips, inits.collect::<Result<_, _>>()?)
            }
        };
        for _ in 0..n {
            self.work.spend(1 + local.len())?;
            let mut local = local.clone();
            local.extend(it.args.iter().copied().zip(carried.drain(..)));
            for &op in &it.body {
                self.work.spend(1)?;
                let results = if self.pairs.arithmetic.contains(ir, op) {
                    vec![self.evaluate_op(key, op, &local)?]
                } else {
                    self.evaluate_iterations(key, op, &local, depth + 1, None)?
                };
                local.extend(ir.op(op).results.iter().copied().zip(results));
            }
            for value in &it.yielded {
                carried.push(of(value, &local, self)?);
            }
        }
        Ok(carried)
    }
}

/// Returns the values that an op uses and that are defined outside of it. The bounds of loops are
/// not among them.
fn outside_operands(ir: &Ir, op: Op) -> Vec<Value> {
    let mut out = Vec::new();
    let mut stack = vec![op];
    while let Some(it) = stack.pop() {
        if ir.op(it).regions.is_empty() {
            out.extend(ir.op(it).operands.iter().filter_map(|it| it.value));
        } else if let Some(it) = ConstantLoop::of(ir, it) {
            out.extend(it.inits.into_iter().chain(it.yielded));
            stack.extend(it.body);
        }
    }
    let is_outside = |value: &Value| {
        let holder = ir.region(ir.def_region(*value)).parent;
        holder.is_none_or(|it| !ir.is_within(it, op))
    };
    out.retain(is_outside);
    out
}
