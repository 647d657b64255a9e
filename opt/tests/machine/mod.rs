//! An interpreter of integer arithmetic, conditionals, loops, blocks, calls and stack slots.

use noisy_syntax::{AttrData, Block, Ir, Op, Region, TypeData, Value};
use std::collections::HashMap;

/// The reason why a program has no result.
#[derive(Debug, PartialEq)]
pub(crate) enum Stop {
    /// Its behavior is undefined.
    Undefined,
    /// It exceeded its number of steps.
    Long,
}

pub(crate) type Run<X> = Result<X, Stop>;

/// A number. `None` is poison, for example the result of a shift by too many bits. Branches on
/// poison and divisions by poison are undefined.
pub(crate) type Number = Option<u64>;

/// The state of a running function. Integers are stored in the low bits.
pub(crate) struct Machine<'a> {
    ir: &'a Ir,
    values: HashMap<Value, Number>,
    /// The buffers of one element. The value of a buffer is the index of its cell.
    cells: Vec<Number>,
    fuel: usize,
}

/// The values returned or yielded by a region.
enum End {
    Return(Vec<Number>),
    Yield(Vec<Number>),
}

impl<'a> Machine<'a> {
    /// Runs a function for at most `fuel` ops and returns its results.
    pub(crate) fn call(ir: &'a Ir, function: Op, args: &[Number], fuel: usize) -> Run<Vec<Number>> {
        let mut machine = Machine { ir, values: HashMap::new(), cells: Vec::new(), fuel };
        match machine.region(ir.op(function).regions[0].1, args)? {
            End::Return(values) | End::Yield(values) => Ok(values),
        }
    }

    fn width(&self, value: Value) -> u32 {
        match self.ir.interner.type_data(self.ir.value(value).ty) {
            TypeData::Int { width, .. } => *width,
            TypeData::Index | TypeData::MemRef { .. } => 64,
            other => panic!("no integer: {other:?}"),
        }
    }

    fn region(&mut self, region: Region, args: &[Number]) -> Run<End> {
        let mut block: Block = self.ir.blocks(region)[0];
        let mut args = args.to_vec();
        loop {
            for (&arg, &value) in self.ir.block(block).args.iter().zip(&args) {
                self.values.insert(arg, value);
            }
            let ops: Vec<Op> = self.ir.block_ops(block).collect();
            let (&last, ops) = ops.split_last().expect("a terminator");
            for &op in ops {
                self.op(op)?;
            }
            self.use_fuel()?;
            let inputs = self.inputs(last);
            let way = match self.ir.op_name(last) {
                "func.return" => return Ok(End::Return(inputs)),
                "scf.yield" => return Ok(End::Yield(inputs)),
                "cf.br" => 0,
                "cf.cond_br" => usize::from(inputs[0].ok_or(Stop::Undefined)? == 0),
                other => panic!("no terminator: {other}"),
            };
            block = self.ir.extra(last).successors[way].block.expect("resolved");
            args = self.ir.passed_operands(last, way).iter().map(|it| self.values[it]).collect();
        }
    }

    fn use_fuel(&mut self) -> Run<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Long)?;
        Ok(())
    }

    fn inputs(&self, op: Op) -> Vec<Number> {
        let operands = self.ir.op(op).operands.iter();
        operands.map(|it| self.values[&it.value.expect("resolved")]).collect()
    }

    fn yielded(&mut self, region: Region, args: &[Number]) -> Run<Vec<Number>> {
        match self.region(region, args)? {
            End::Yield(values) => Ok(values),
            End::Return(_) => panic!("a return within a region"),
        }
    }

    fn op(&mut self, op: Op) -> Run<()> {
        self.use_fuel()?;
        let x = self.inputs(op);
        let data = self.ir.op(op);
        let name = self.ir.op_name(op);
        let regions: Vec<Region> = data.regions.iter().map(|it| it.1).collect();
        let out: Vec<Number> = match name {
            "scf.if" => {
                let region = regions[usize::from(x[0].ok_or(Stop::Undefined)? == 0)];
                if self.ir.items(region).next().is_none() {
                    Vec::new()
                } else {
                    self.yielded(region, &[])?
                }
            }
            "scf.for" => {
                let bound = |at: usize| x[at].map(u64::cast_signed).ok_or(Stop::Undefined);
                let (mut at, end, step) = (bound(0)?, bound(1)?, bound(2)?);
                if step <= 0 {
                    return Err(Stop::Undefined);
                }
                let mut carried = x[3..].to_vec();
                while at < end {
                    let first = std::iter::once(Some(at.cast_unsigned()));
                    let args: Vec<Number> = first.chain(carried).collect();
                    carried = self.yielded(regions[0], &args)?;
                    at += step;
                }
                carried
            }
            "func.call" => {
                let AttrData::Symbol(path) =
                    self.ir.interner.attr_data(self.ir.attr(op, "callee").expect("a callee"))
                else {
                    panic!("no symbol");
                };
                let callee = self.ir.resolve_symbol(op, path[0]).expect("a function");
                if x.contains(&None) {
                    // Poison must not be passed to a call.
                    return Err(Stop::Undefined);
                }
                Machine::call(self.ir, callee, &x, self.fuel / 2)?
            }
            "memref.alloca" => {
                self.cells.push(None);
                vec![Some(self.cells.len() as u64 - 1)]
            }
            "memref.load" => vec![self.cells[x[0].expect("a buffer") as usize]],
            "memref.store" => {
                self.cells[x[1].expect("a buffer") as usize] = x[0];
                Vec::new()
            }
            _ => vec![self.arith(op, name, &x)?],
        };
        for (&result, value) in data.results.iter().zip(out) {
            let width = self.width(result);
            self.values.insert(result, value.map(|it| it & mask(width)));
        }
        Ok(())
    }

    fn arith(&self, op: Op, name: &str, inputs: &[Number]) -> Run<Number> {
        if let ("arith.select", &[Some(condition), a, b]) = (name, inputs) {
            return Ok(if condition != 0 { a } else { b });
        }
        let Some(x) = inputs.iter().copied().collect::<Option<Vec<u64>>>() else {
            // A poison divisor may be zero. The division of a poison dividend by -1 may overflow.
            let is_quotient = ["div", "rem"].iter().any(|it| name.contains(it));
            let is_defined = inputs.get(1).copied().flatten().is_some_and(|divisor| {
                let minus_one = mask(self.width(self.ir.op(op).results[0]));
                divisor != 0 && (divisor != minus_one || name.contains('u'))
            });
            return if is_quotient && !is_defined { Err(Stop::Undefined) } else { Ok(None) };
        };
        let data = self.ir.op(op);
        let width = match data.operands.first() {
            Some(it) => self.width(it.value.expect("resolved")),
            None => self.width(data.results[0]),
        };
        let signed = |it: u64| -> i64 { (it << (64 - width)).cast_signed() >> (64 - width) };
        let (a, b) = (x.first().copied().unwrap_or(0), x.get(1).copied().unwrap_or(0));
        let (sa, sb) = (signed(a), signed(b));
        let overflows = sb == -1 && sa == signed(1 << (width - 1));
        let is_bad_quotient = b == 0 || overflows;
        Ok(Some(match name.strip_prefix("arith.").expect("arithmetic") {
            "constant" => match self.ir.interner.attr_data(self.ir.attr(op, "value").expect("one"))
            {
                AttrData::Bool(it) => u64::from(*it),
                AttrData::Int { value, .. } => *value as u64,
                other => panic!("no number: {other:?}"),
            },
            "addi" => a.wrapping_add(b),
            "subi" => a.wrapping_sub(b),
            "muli" => a.wrapping_mul(b),
            "andi" => a & b,
            "ori" => a | b,
            "xori" => a ^ b,
            "minsi" => {
                if sa < sb {
                    a
                } else {
                    b
                }
            }
            "maxsi" => {
                if sa > sb {
                    a
                } else {
                    b
                }
            }
            "minui" => a.min(b),
            "maxui" => a.max(b),
            "divui" | "remui" | "ceildivui" if b == 0 => return Err(Stop::Undefined),
            "divui" => a / b,
            "remui" => a % b,
            "ceildivui" => a / b + u64::from(a % b != 0),
            "divsi" | "remsi" | "floordivsi" | "ceildivsi" if is_bad_quotient => {
                return Err(Stop::Undefined);
            }
            "divsi" => (sa / sb).cast_unsigned(),
            "remsi" => (sa % sb).cast_unsigned(),
            "floordivsi" => {
                (sa / sb - i64::from(sa % sb != 0 && (sa < 0) != (sb < 0))).cast_unsigned()
            }
            "ceildivsi" => {
                (sa / sb + i64::from(sa % sb != 0 && (sa < 0) == (sb < 0))).cast_unsigned()
            }
            "shli" | "shrui" | "shrsi" if b >= u64::from(width) => return Ok(None),
            "shli" => a << b,
            "shrui" => a >> b,
            "shrsi" => (sa >> b).cast_unsigned(),
            "extui" | "trunci" | "index_castui" => a,
            "extsi" | "index_cast" => sa.cast_unsigned(),
            "cmpi" => {
                let attr = self.ir.attr(op, "predicate").expect("a predicate");
                let AttrData::Int { value, .. } = self.ir.interner.attr_data(attr) else {
                    panic!("no number");
                };
                u64::from(match value {
                    0 => a == b,
                    1 => a != b,
                    2 => sa < sb,
                    3 => sa <= sb,
                    4 => sa > sb,
                    5 => sa >= sb,
                    6 => a < b,
                    7 => a <= b,
                    8 => a > b,
                    9 => a >= b,
                    _ => panic!("no predicate"),
                })
            }
            other => panic!("not known: {other}"),
        }))
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}
