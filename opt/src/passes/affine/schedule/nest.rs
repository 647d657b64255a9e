//! The statements of a nest, with their domains and dependences.
//!
//! A *statement* is a run of ops between loops that writes memory. It runs once for each point of
//! its *domain*, the integer points of a conjunction over the variables of the loops around it (up
//! to the root of the nest) and parameters. Only nests of statements, loops with step 1 and guards
//! are supported. An innermost loop with few iterations is part of a statement, because compilers
//! unroll it anyway.

use noisy_loops::{FunctionBody, InstancePairs, Legality, LinearForm, LinearTerm};
use noisy_syntax::{Block, Def, Ir, Op, OpKind, Traits, Value};
use rustc_hash::FxHashSet;

use crate::passes::affine::for_loop::AffineFor;
use crate::rewrite::{nested_ops, operands};
use noisy_analyses::facts::effects;

/// A row over the variables of a statement, then the parameters of the nest, then the constant.
pub(super) type StatementRow = Vec<i128>;

/// A statement.
#[derive(Clone, Debug)]
pub(super) struct ScheduledStatement {
    /// The ops, in order.
    pub(super) ops: Vec<Op>,
    /// The variables of the enclosing loops in the nest, outermost first.
    pub(super) ivs: Vec<Value>,
    /// The domain: rows that are nonnegative.
    pub(super) domain: Vec<StatementRow>,
    /// The accesses, as indices into [`FunctionBody::accesses`].
    pub(super) accesses: Vec<usize>,
}

/// A nest that can be scheduled.
#[derive(Clone, Debug)]
pub(super) struct StatementNest {
    pub(super) root: Op,
    pub(super) statements: Vec<ScheduledStatement>,
    /// The parameters: values that are the same in the whole nest.
    pub(super) params: Vec<Value>,
    /// Number of loops that enclose the root.
    pub(super) n_outer: usize,
}

/// A dependence between statements.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatementDependence<'a> {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) pairs: &'a InstancePairs,
}

/// The walk that splits a nest into statements.
struct NestWalk<'a> {
    ir: &'a Ir,
    body: &'a FunctionBody,
    root: AffineFor,
    /// Maximum number of iterations of a small loop.
    most_small: i64,
    /// The runs of ops with stores.
    runs: Vec<Vec<Op>>,
}

/// Maximum number of loops around a statement.
const MAX_DEPTH: usize = 8;

/// Maximum number of statements of a nest.
const MAX_STATEMENTS: usize = 40;

/// Returns the nest of a loop, if it is supported. Innermost loops with up to `most_small`
/// iterations are parts of statements.
pub(super) fn read_nest(
    ir: &Ir,
    body: &FunctionBody,
    legality: &Legality<'_>,
    root: Op,
    most_small: i64,
) -> Option<StatementNest> {
    let mut walk =
        NestWalk { ir, body, root: AffineFor::of(ir, root)?, most_small, runs: Vec::new() };
    walk.loop_(&walk.root.clone())?;
    let n_outer = body.loops[legality.loop_of(root)? as usize].depth as usize - 1;
    if walk.runs.is_empty() || walk.runs.len() > MAX_STATEMENTS {
        return None;
    }
    let mut params = Vec::new();
    let mut made = Vec::new();
    for run in &walk.runs {
        made.push(walk.statement(run, legality, n_outer, &mut params)?);
    }
    // All parameters are known now, so that their columns can be assigned.
    let statements = made.into_iter().map(|(ops, ivs, rows, accesses)| {
        let domain = rows.iter().map(|(of_ivs, of_params, constant)| {
            let mut row = of_ivs.clone();
            row.extend(params.iter().map(|it| {
                of_params.iter().filter(|(value, _)| value == it).map(|it| it.1).sum::<i128>()
            }));
            row.push(*constant);
            row
        });
        ScheduledStatement { ops, ivs, domain: domain.collect(), accesses }
    });
    let statements = statements.collect();
    Some(StatementNest { root, statements, params, n_outer })
}

type RowOverValues = (Vec<i128>, Vec<(Value, i128)>, i128);
type StatementParts = (Vec<Op>, Vec<Value>, Vec<RowOverValues>, Vec<usize>);

impl NestWalk<'_> {
    fn loop_(&mut self, it: &AffineFor) -> Option<()> {
        (it.inits.is_empty() && it.step == 1).then_some(())?;
        self.block(it.body)
    }

    fn block(&mut self, block: Block) -> Option<()> {
        let ir = self.ir;
        let mut run = Vec::new();
        for op in ir.block_ops(block) {
            let data = ir.op(op);
            match data.kind {
                OpKind::AffineFor if self.is_small(op) => run.push(op),
                OpKind::AffineFor => {
                    self.end_run(&mut run);
                    self.loop_(&AffineFor::of(ir, op)?)?;
                }
                OpKind::AffineIf => {
                    self.end_run(&mut run);
                    let [(_, yes), (_, no)] = data.regions[..] else { return None };
                    let is_plain = data.results.is_empty() && ir.items(no).next().is_none();
                    let inside = ir.only_block(yes)?;
                    is_plain.then_some(())?;
                    self.block(inside)?;
                }
                OpKind::AffineLoad
                | OpKind::AffineStore
                | OpKind::MemrefLoad
                | OpKind::MemrefStore => run.push(op),
                kind if kind.has(Traits::TERMINATOR) => {}
                _ => {
                    let is_plain = data.regions.is_empty()
                        && ir.extra(op).successors.is_empty()
                        && effects::is_free_of_effects(ir, op);
                    is_plain.then_some(())?;
                    run.push(op);
                }
            }
        }
        self.end_run(&mut run);
        Some(())
    }

    /// Returns true if a loop has few iterations and contains only loads, stores, ops without
    /// effects, and at most one inner loop of the same kind.
    fn is_small(&self, op: Op) -> bool {
        let ir = self.ir;
        let mut n = 1;
        let mut at = Some(op);
        // The product of the trip counts of the nested loops.
        while let Some(op) = at {
            let Some(it) = AffineFor::of(ir, op) else { return false };
            match it.trip_count() {
                Some(trips) if trips <= self.most_small => n = trips.saturating_mul(n),
                _ => return false,
            }
            let ops = it.body_ops(ir);
            let is_plain = |it: &Op| {
                matches!(
                    ir.op(*it).kind,
                    OpKind::AffineFor
                        | OpKind::AffineLoad
                        | OpKind::AffineStore
                        | OpKind::MemrefLoad
                        | OpKind::MemrefStore
                ) || (ir.op(*it).regions.is_empty() && effects::is_free_of_effects(ir, *it))
            };
            let mut inner = ops.iter().filter(|it| ir.op(**it).kind == OpKind::AffineFor);
            at = inner.next().copied();
            if !ops.iter().all(is_plain) || inner.next().is_some() || !it.inits.is_empty() {
                return false;
            }
        }
        n <= self.most_small.saturating_mul(self.most_small)
    }

    fn end_run(&mut self, run: &mut Vec<Op>) {
        let run = std::mem::take(run);
        let is_store =
            |it: &Op| matches!(self.ir.op(*it).kind, OpKind::AffineStore | OpKind::MemrefStore);
        if run.iter().any(|it| is_store(it) || nested_ops(self.ir, *it).iter().any(is_store)) {
            self.runs.push(run);
        }
    }

    /// Returns the data of a statement: its ops, preceded by the pure ops of other runs that it
    /// uses, its variables, its domain, and its accesses.
    fn statement(
        &self,
        run: &[Op],
        legality: &Legality<'_>,
        n_outer: usize,
        params: &mut Vec<Value>,
    ) -> Option<StatementParts> {
        let body = self.body;
        let mut inside: FxHashSet<Op> = run.iter().copied().collect();
        inside.extend(run.iter().flat_map(|it| nested_ops(self.ir, *it)));
        let accesses: Vec<usize> =
            (0..body.accesses.len()).filter(|&it| inside.contains(&body.accesses[it].op)).collect();
        let first = *accesses.first()?;
        let around = |it: &u32| !inside.contains(&body.scopes[*it as usize].op);
        let scope = body.scopes_around(body.accesses[first].scope).find(around);
        let path = &legality.loops_around(first)[n_outer..];
        let is_around = |it: &&u32| !inside.contains(&body.loops[**it as usize].op);
        let path = &path[..path.iter().take_while(is_around).count()];
        let ivs: Vec<Value> =
            path.iter().map(|&it| body.loops[it as usize].iv).collect::<Option<_>>()?;
        (ivs.len() <= MAX_DEPTH).then_some(())?;
        let mut ops = Vec::new();
        let mut seen = FxHashSet::default();
        for &op in run {
            self.add_with_operands(op, run, &ivs, &mut ops, &mut seen, 0)?;
        }
        let [piece] = &body.conjunctions(scope)?[..] else { return None };
        // Omit the constraints of scopes around the nest.
        let is_root = |it: u32| body.scopes[it as usize].op == self.root.op;
        let root = body.scopes_around(scope).find(|it| is_root(*it))?;
        let around = body.conjunctions(body.scopes[root as usize].parent)?;
        let n_around = around.first().map_or(0, Vec::len);
        let mut rows = Vec::new();
        for it in &piece[n_around..] {
            let form = self.row(&it.form, path, params)?;
            if it.is_equality {
                let negated = form.1.iter().map(|it| (it.0, -it.1)).collect();
                rows.push((form.0.iter().map(|it| -it).collect(), negated, -form.2));
            }
            rows.push(form);
        }
        Some((ops, ivs, rows, accesses))
    }

    /// Adds an op after the ops that define its operands.
    fn add_with_operands(
        &self,
        op: Op,
        run: &[Op],
        ivs: &[Value],
        ops: &mut Vec<Op>,
        seen: &mut FxHashSet<Op>,
        depth: usize,
    ) -> Option<()> {
        if !seen.insert(op) {
            return Some(());
        }
        // Limit the depth of recursion.
        (depth < 100).then_some(())?;
        let inside = nested_ops(self.ir, op);
        let read = inside.iter().chain([&op]).flat_map(|&it| operands(self.ir, it));
        for value in read.collect::<Vec<_>>() {
            if ivs.contains(&value) || self.is_outside(value) {
                continue;
            }
            let defining_op = match self.ir.value(value).def {
                Def::Result(defining_op, _) => defining_op,
                Def::Argument(block, _) => self.ir.region(self.ir.block(block).region).parent?,
            };
            if defining_op == op || inside.contains(&defining_op) {
                continue;
            }
            if matches!(self.ir.value(value).def, Def::Argument(..)) {
                return None;
            }
            let is_pure = effects::is_free_of_effects(self.ir, defining_op)
                && self.ir.op(defining_op).regions.is_empty();
            if !run.contains(&defining_op) {
                is_pure.then_some(())?;
                self.add_with_operands(defining_op, run, ivs, ops, seen, depth + 1)?;
            }
        }
        ops.push(op);
        Some(())
    }

    fn is_outside(&self, value: Value) -> bool {
        effects::is_outside(self.ir, value, self.ir.block(self.root.body).region)
    }

    /// Returns a form over the variables of the nest and parameters.
    fn row(
        &self,
        form: &LinearForm,
        path: &[u32],
        params: &mut Vec<Value>,
    ) -> Option<RowOverValues> {
        let mut of_ivs = vec![0; path.len()];
        let mut of_params = Vec::new();
        for &(term, by) in &form.terms {
            let value = match term {
                LinearTerm::Iv(at) => match path.iter().position(|it| *it == at) {
                    Some(place) => {
                        of_ivs[place] = by;
                        continue;
                    }
                    None => self.body.loops[at as usize].iv?,
                },
                LinearTerm::Symbol(value) | LinearTerm::Local(value) => value,
                LinearTerm::Step(_) | LinearTerm::Quotient(_) => return None,
            };
            self.is_outside(value).then_some(())?;
            if !params.contains(&value) {
                params.push(value);
            }
            of_params.push((value, by));
        }
        Some((of_ivs, of_params, form.constant))
    }
}

impl StatementNest {
    /// Returns the dependences between statements that no loop around the nest carries, except
    /// those inside a single execution of a statement.
    pub(super) fn edges<'a>(&self, all: &'a [InstancePairs]) -> Vec<StatementDependence<'a>> {
        let of =
            |access: usize| self.statements.iter().position(|it| it.accesses.contains(&access));
        let mut out = Vec::new();
        for pairs in all {
            if pairs.level <= self.n_outer {
                continue;
            }
            let (Some(source), Some(target)) = (of(pairs.source), of(pairs.target)) else {
                continue;
            };
            if source != target || pairs.level <= self.n_outer + self.statements[source].ivs.len() {
                out.push(StatementDependence { source, target, pairs });
            }
        }
        out
    }

    /// Returns true if the memref and the operands for subscripts of an access are variables of its
    /// statement or defined outside the nest.
    pub(super) fn reads_variables(&self, ir: &Ir, statement: usize, access: Op) -> bool {
        let first = usize::from(ir.op(access).results.is_empty());
        let region = ir.op(self.root).regions[0].1;
        operands(ir, access)[first..].iter().all(|it| {
            self.statements[statement].ivs.contains(it) || effects::is_outside(ir, *it, region)
        })
    }

    /// Returns a row over the variables of a statement as a time of its accesses.
    pub(super) fn to_time(&self, row: &[i128]) -> Vec<i128> {
        let mut out = vec![0; self.n_outer];
        out.extend(row);
        out
    }
}
