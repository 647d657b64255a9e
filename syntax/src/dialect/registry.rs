//! The registry: finds the row of an op by its kind, and its kind by its name.
//!
//! Rows of built-in ops are compiled in. [`register`] adds rows at run time, for the whole process.
//! Parser, printer, verifier, completion and hover use only the registry, so they support the op
//! from then on. Documents that were parsed before do not change.
//!
//! *Law.* The row of a kind never changes: rows are added, never changed or removed. So rows live
//! as long as the process.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::built_in::{ALL, N_BUILT_IN, NAMES, ROWS};
use super::row::OpSpec;
use crate::OpKind;

/// Kinds by the names of registered ops.
static BY_NAME: RwLock<FxHashMap<&'static str, OpKind>> =
    RwLock::new(FxHashMap::with_hasher(FxBuildHasher));

/// Number of registered rows. Readers load it first: if it is 0, they take no lock.
static N_REGISTERED: AtomicUsize = AtomicUsize::new(0);

/// Registered rows: segment `n` has `2^n` of them, so that no row moves and readers need no lock.
static SEGMENTS: [OnceLock<Box<[OnceLock<&'static OpSpec>]>>; 16] = [const { OnceLock::new() }; 16];

/// The reason for which a row cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// The name does not have the form `dialect.op`.
    Name(String),
    /// The op already has a row.
    Registered(OpKind),
    /// The row contradicts itself.
    Contradiction(String),
    /// All numbers of kinds are in use.
    Full,
}

impl std::fmt::Display for RegisterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => {
                write!(f, "`{name}` is not the name of an op, such as `dialect.op`")
            }
            Self::Registered(kind) => write!(f, "`{}` already has a row", kind.spec().name),
            Self::Contradiction(message) => f.write_str(message),
            Self::Full => f.write_str("too many ops are registered"),
        }
    }
}

impl std::error::Error for RegisterError {}

/// Adds a row to the registry and returns the kind of its op.
///
/// The terminator of an op is registered before the op.
///
/// # Errors
/// If the name does not have the form `dialect.op`, the op already has a row, the row contradicts
/// itself, or all numbers are in use.
pub fn register(row: OpSpec) -> Result<OpKind, RegisterError> {
    if !is_op_name(row.name) {
        return Err(RegisterError::Name(row.name.to_owned()));
    }
    if let Some(message) = row.contradiction() {
        return Err(RegisterError::Contradiction(message));
    }
    let mut by_name = BY_NAME.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(kind) = built_in(row.name) {
        return Err(RegisterError::Registered(kind));
    }
    let slot = match by_name.entry(row.name) {
        Entry::Occupied(it) => return Err(RegisterError::Registered(*it.get())),
        Entry::Vacant(it) => it,
    };
    let n = N_REGISTERED.load(Ordering::Relaxed);
    let number = u16::try_from(N_BUILT_IN + n).map_err(|_| RegisterError::Full)?;
    let (segment, at) = address(n);
    let rows = SEGMENTS.get(segment).ok_or(RegisterError::Full)?;
    let rows = rows.get_or_init(|| (0..1 << segment).map(|_| OnceLock::new()).collect());
    rows[at].get_or_init(|| Box::leak(Box::new(row)));
    let kind = OpKind::from_index(number);
    slot.insert(kind);
    N_REGISTERED.store(n + 1, Ordering::Release);
    Ok(kind)
}

/// Returns all ops with a row: the built-in ones, then the registered ones in the order of
/// registration.
pub fn ops() -> impl Iterator<Item = OpKind> {
    let n = N_REGISTERED.load(Ordering::Acquire);
    let registered = (0..n).map(|n| OpKind::from_index((N_BUILT_IN + n) as u16));
    ALL.iter().copied().chain(registered)
}

/// Returns the segment of the registered row `n`, and the index in the segment.
fn address(n: usize) -> (usize, usize) {
    let segment = (n + 1).ilog2();
    (segment as usize, n + 1 - (1 << segment))
}

fn built_in(name: &str) -> Option<OpKind> {
    static KINDS: OnceLock<FxHashMap<&'static str, OpKind>> = OnceLock::new();
    let kinds = KINDS.get_or_init(|| ALL.iter().map(|it| (it.spec().name, *it)).collect());
    kinds.get(name).copied()
}

/// Returns true for `dialect.op`. Both are identifiers; `op` may contain more dots.
fn is_op_name(name: &str) -> bool {
    let is_word = |it: &str| {
        let mut bytes = it.bytes();
        bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
            && bytes.all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$'))
    };
    name.contains('.') && name.split('.').all(is_word)
}

impl OpKind {
    /// Returns the row of the op. Ops without a row and items that are not ops have an empty row.
    #[inline]
    pub fn spec(self) -> &'static OpSpec {
        match ROWS.get(self.index()) {
            Some(row) => row,
            None => registered(self),
        }
    }

    /// Returns true if the dialect, `builtin` or `func`, has an op with this name (without prefix).
    /// The parser calls this for each word of a line, so the lookup of built-in ops does not
    /// allocate a full name.
    pub(crate) fn is_op_of(dialect: &str, name: &str) -> bool {
        static BUILTIN: OnceLock<Vec<&'static str>> = OnceLock::new();
        static FUNC: OnceLock<Vec<&'static str>> = OnceLock::new();
        let short = |prefix: &str| {
            ALL.iter().filter_map(|it| it.spec().name.strip_prefix(prefix)).collect()
        };
        let names = if dialect == "func" {
            FUNC.get_or_init(|| short("func."))
        } else {
            BUILTIN.get_or_init(|| short("builtin."))
        };
        names.contains(&name)
            || N_REGISTERED.load(Ordering::Relaxed) > 0
                && OpKind::of(&format!("{dialect}.{name}")) != OpKind::Unknown
    }

    /// Returns the kind of the op with this full name. [`crate::Interner::op_kind`] caches it by
    /// [`crate::Name`].
    pub fn of(name: &str) -> OpKind {
        if let Some(kind) = built_in(name) {
            return kind;
        }
        if N_REGISTERED.load(Ordering::Acquire) == 0 {
            return OpKind::Unknown;
        }
        let by_name = BY_NAME.read().unwrap_or_else(PoisonError::into_inner);
        by_name.get(name).copied().unwrap_or_default()
    }
}

#[cold]
fn registered(kind: OpKind) -> &'static OpSpec {
    let (segment, at) = address(kind.index() - N_BUILT_IN);
    let row = SEGMENTS.get(segment).and_then(OnceLock::get).and_then(|it| it[at].get());
    row.copied().unwrap_or(&ROWS[0])
}

impl std::fmt::Debug for OpKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(NAMES.get(self.index()).copied().unwrap_or(self.spec().name))
    }
}
