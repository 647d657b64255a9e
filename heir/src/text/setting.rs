//! Reads the scheme, its parameters and the library from the attributes of a module.

use noisy_syntax::{AttrData, Ir, Op, OpKind, Region};

use rustc_hash::FxHashMap;

use crate::text::params::{ParamsError, SchemeParams};

/// A scheme of homomorphic encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `scheme.bgv`
    Bgv,
    /// `scheme.bfv`
    Bfv,
    /// `scheme.ckks`
    Ckks,
}

/// The scheme, parameters and library of a module.
#[derive(Clone, Debug)]
pub struct ModuleSetting {
    /// The scheme, if it has levels.
    pub scheme: Option<Scheme>,
    /// True if the module is compiled for `OpenFHE`.
    pub(crate) is_openfhe: bool,
    /// True if the module is compiled for Lattigo.
    pub(crate) is_lattigo: bool,
    /// The level after a bootstrap: the number of levels that the bootstrap itself uses.
    pub bootstrap_level: u32,
    /// The parameters, if the module has any.
    pub params: Option<Result<SchemeParams, ParamsError>>,
    /// The module.
    pub(crate) module: Option<Op>,
    /// The unusable attributes.
    pub(crate) faults: Vec<SchemeFault>,
}

/// The kinds of facts that a change of a setting affects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SettingDifference {
    /// True if the effects of ops on levels that the library determines may have changed.
    pub(crate) has_other_library: bool,
    /// True if the moduli changed, and thus noise and scales.
    pub(crate) has_other_params: bool,
    /// True if the number of moduli changed, and thus the remaining levels.
    pub(crate) has_other_moduli_count: bool,
}

/// An unusable attribute about the scheme, its parameters or the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeFault {
    /// The attribute, or the key in it, as it is spelled in the text.
    pub key: String,
    /// The problem, and the value that is used instead.
    pub message: String,
}

impl ModuleSetting {
    /// Returns true if the program is compiled for `OpenFHE`.
    pub fn is_openfhe(&self) -> bool {
        self.is_openfhe
    }

    /// Reads the attributes of the first module that has some. Without such a module, nothing is
    /// set.
    pub fn of(ir: &Ir) -> Self {
        Self::of_region(ir, ir.root())
    }

    /// Reads the attributes of the first module of a region that has some.
    fn of_region(ir: &Ir, region: Region) -> Self {
        Self::from_attributes(
            ir,
            modules(ir, region).into_iter().find(|&it| !ir.extra(it).attrs.is_empty()),
        )
    }

    /// Compares two settings by the facts that depend on them.
    fn difference(&self, other: &ModuleSetting) -> SettingDifference {
        let most = |it: &ModuleSetting| Some(it.params.as_ref()?.as_ref().ok()?.max_level());
        let key = |it: &ModuleSetting| (it.is_openfhe, it.bootstrap_level);
        SettingDifference {
            has_other_library: key(self) != key(other),
            has_other_params: self.scheme != other.scheme || self.params != other.params,
            has_other_moduli_count: self.scheme.is_some() != other.scheme.is_some()
                || most(self) != most(other),
        }
    }

    /// Returns the setting of a nested module. Its library is its own; its scheme and parameters
    /// default to those of the outer module.
    fn nested(&self, ir: &Ir, module: Op) -> Self {
        let own = Self::from_attributes(ir, Some(module));
        ModuleSetting {
            scheme: own.scheme.or(self.scheme),
            params: own.params.or_else(|| self.params.clone()),
            ..own
        }
    }

    /// Reads the setting from the attributes of a module.
    fn from_attributes(ir: &Ir, module: Option<Op>) -> Self {
        let attr = |name: &str| ir.attr(module?, name).map(|it| ir.interner.attr_data(it));
        let has = |name: &str| attr(name).is_some();
        let mut faults = Vec::new();
        let mut told =
            |key: &str, message: String| faults.push(SchemeFault { key: key.to_owned(), message });
        let is_named = |name: &&str| match attr(name) {
            Some(AttrData::Unit) => true,
            Some(_) => {
                told(name, format!("`{name}` must not have a value; it is ignored"));
                false
            }
            None => false,
        };
        let named: Vec<&'static str> = SCHEMES.iter().map(|it| it.0).filter(is_named).collect();
        if let [first, second, ..] = named[..] {
            told(
                second,
                format!("the module has both `{first}` and `{second}`; the first is used"),
            );
        }
        let scheme = named.first().and_then(|name| SCHEMES.iter().find(|it| it.0 == *name)?.1);
        let library = TargetLibrary::from_attributes(ir, module, &mut told);
        let mut keys = ["bgv.schemeParam", "ckks.schemeParam"];
        if scheme == Some(Scheme::Ckks) {
            keys.reverse();
        }
        let key = keys.into_iter().find(|it| has(it));
        let params = key.and_then(attr).map(|it| match it {
            AttrData::Text(text, _) => SchemeParams::parse(ir.interner.str(*text)),
            _ => Err(ParamsError::Missing("logN")),
        });
        if let (Some(key), Some(scheme), Some(params)) = (key, scheme, &params) {
            let (needed, unknown) = match scheme {
                Scheme::Ckks => ("logDefaultScale", "scales are"),
                Scheme::Bgv | Scheme::Bfv => ("plaintextModulus", "noise is"),
            };
            match params {
                Err(why) => told(key, format!("{why}, so {unknown} unknown")),
                Ok(_) if key != keys[0] => {
                    let name = named.first().copied().unwrap_or_default();
                    told(key, format!("`{name}` needs `{}`, so {unknown} unknown", keys[0]));
                }
                Ok(it) if it.plaintext_modulus.is_none() && it.log_default_scale.is_none() => {
                    let missing = ParamsError::Missing(needed);
                    told(key, format!("{missing}, so {unknown} unknown"));
                }
                Ok(_) => {}
            }
        }
        ModuleSetting {
            scheme,
            is_openfhe: library.is_openfhe,
            is_lattigo: library.is_lattigo,
            bootstrap_level: library.bootstrap_level,
            params,
            module,
            faults,
        }
    }
}

/// The attributes that name schemes. CGGI has no levels.
const SCHEMES: [(&str, Option<Scheme>); 4] = [
    ("scheme.bgv", Some(Scheme::Bgv)),
    ("scheme.bfv", Some(Scheme::Bfv)),
    ("scheme.ckks", Some(Scheme::Ckks)),
    ("scheme.cggi", None),
];

/// The library that a module is compiled for.
struct TargetLibrary {
    is_openfhe: bool,
    is_lattigo: bool,
    /// The number of levels that a bootstrap uses; as in HEIR, 0 for an unknown library.
    bootstrap_level: u32,
}

impl TargetLibrary {
    /// Reads the library from the attributes of a module. The first name of a library is used;
    /// without a name, the other attributes of a library are ignored. Source: HEIR,
    /// `lib/Target/CompilationTarget/CompilationTarget.cpp`.
    fn from_attributes(ir: &Ir, module: Option<Op>, told: &mut dyn FnMut(&str, String)) -> Self {
        let attrs = module.map_or(&[] as &[_], |it| ir.extra(it).attrs.as_slice());
        let mut names: Vec<(&str, bool)> = Vec::new();
        let mut overrides = None;
        for &(name, attr) in attrs {
            let name = ir.interner.str(name);
            if name == OVERRIDES {
                overrides = Some(attr);
            } else if name.starts_with("backend.") {
                names.push((name, matches!(ir.interner.attr_data(attr), AttrData::Unit)));
            }
        }
        names.sort_unstable();
        for &(name, _) in names.iter().filter(|it| !it.1) {
            told(name, format!("`{name}` must not have a value; it is ignored"));
        }
        let mut names = names.iter().filter(|it| it.1).map(|it| it.0);
        let first = names.next();
        let known = first.and_then(|name| LIBRARIES.iter().find(|it| it.0 == name));
        const NONE_USED: &str = "so bootstraps are assumed to use no level";
        if let Some(first) = first.filter(|_| known.is_none()) {
            told(first, format!("HEIR has no library `{first}`, {NONE_USED}"));
        }
        for name in names {
            let first = first.unwrap_or_default();
            let message = format!("the module has both `{first}` and `{name}`; the first is used");
            told(name, message);
        }
        let nothing = Self { is_openfhe: false, is_lattigo: false, bootstrap_level: 0 };
        let Some(&(name, mut bootstrap_level)) = known else {
            if overrides.is_some() && first.is_none() {
                told(OVERRIDES, format!("the module names no library, {NONE_USED}"));
            }
            return nothing;
        };
        let is_openfhe = name == "backend.openfhe";
        let is_lattigo = name == "backend.lattigo";
        let overrides = match overrides.map(|it| ir.interner.attr_data(it)) {
            Some(AttrData::Dict(entries)) => &**entries,
            _ => &[],
        };
        let mut is_usable = true;
        for &(key, attr) in overrides {
            let key = ir.interner.str(key);
            let number = match ir.interner.attr_data(attr) {
                AttrData::Int { value, .. } => Some(*value),
                _ => None,
            };
            let message = if !OVERRIDE_KEYS.contains(&key) {
                format!("unknown key `{key}`, {NONE_USED}")
            } else if key == BOOTSTRAP_LEVELS {
                match number.and_then(|it| u32::try_from(it).ok()) {
                    Some(it) => {
                        bootstrap_level = it;
                        continue;
                    }
                    None => format!("`{key}` is not a number of levels, {NONE_USED}"),
                }
            } else if number.is_none() && !matches!(ir.interner.attr_data(attr), AttrData::Bool(_))
            {
                format!("`{key}` is not a number, {NONE_USED}")
            } else {
                continue;
            };
            is_usable = false;
            told(key, message);
        }
        if is_usable { Self { is_openfhe, is_lattigo, bootstrap_level } } else { nothing }
    }
}

/// The libraries of HEIR, with the number of levels that a bootstrap uses. Source: HEIR,
/// `lib/Target/{OpenFhePke,Lattigo}/TargetConfig.td`.
const LIBRARIES: [(&str, u32); 2] = [("backend.lattigo", 16), ("backend.openfhe", 22)];

/// The attribute that overrides properties of a library.
const OVERRIDES: &str = "backend.config_override";

/// Keys of this attribute: the number of levels that a bootstrap uses, and all keys.
const BOOTSTRAP_LEVELS: &str = "bootstrapLevelsConsumed";
const OVERRIDE_KEYS: [&str; 3] =
    [BOOTSTRAP_LEVELS, "has_kernel_chebyshev", "has_kernel_linear_transform"];

/// The settings of a document: one for each part between `// -----` lines, which is a program of
/// its own, and one for each nested module.
#[derive(Clone, Debug)]
pub(crate) struct DocumentSettings {
    /// The settings of the parts, then those of nested modules.
    all: Vec<ModuleSetting>,
    n_parts: usize,
    /// For each op, the indices of its part and of its setting; empty if there is only one setting.
    indices: FxHashMap<Op, (usize, usize)>,
}

impl DocumentSettings {
    /// Reads the settings of a document. *Cost.* Linear in the ops if there are several settings.
    pub(crate) fn new(ir: &Ir) -> Self {
        let mut all = Vec::new();
        let mut number = FxHashMap::default();
        let chunks = || ir.items(ir.root()).filter(|&it| ir.op(it).kind == OpKind::Chunk);
        let is_split = chunks().nth(1).is_some();
        let mut nested = Vec::new();
        for chunk in chunks() {
            let Some(&(_, region)) = ir.op(chunk).regions.first() else { continue };
            let part = all.len();
            if is_split {
                ir.walk(region, &mut |op| {
                    number.insert(op, (part, part));
                });
            }
            let is_nested = |it: &Op| {
                ir.parent_op(*it).is_some_and(|it| ir.op(it).kind == OpKind::BuiltinModule)
            };
            nested.extend(modules(ir, region).into_iter().filter(is_nested).map(|it| (it, part)));
            all.push(ModuleSetting::of_region(ir, region));
        }
        if all.is_empty() {
            all.push(ModuleSetting::of(ir));
        }
        let n_parts = all.len();
        // Outer modules precede the modules in them.
        for (module, part) in nested {
            let around = number.get(&module).map_or(part, |it| it.1);
            let setting = all[around].nested(ir, module);
            for &(_, region) in &ir.op(module).regions {
                ir.walk(region, &mut |op| {
                    number.insert(op, (part, all.len()));
                });
            }
            all.push(setting);
        }
        Self { all, n_parts, indices: number }
    }

    /// Returns true if all ops have the same setting.
    pub(crate) fn has_one_setting(&self) -> bool {
        self.all.len() == 1
    }

    /// Compares the only setting with that of another document; `None` if one of them has several.
    pub(crate) fn difference(&self, other: &DocumentSettings) -> Option<SettingDifference> {
        let is_one =
            self.has_one_setting() && other.has_one_setting() && self.n_parts == other.n_parts;
        is_one.then(|| self.all[0].difference(&other.all[0]))
    }

    /// Returns the number of parts, at least one.
    pub(crate) fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// Returns the first setting with a scheme or parameters, else that of the first part.
    pub(crate) fn first(&self) -> &ModuleSetting {
        let says = |it: &&ModuleSetting| it.scheme.is_some() || it.params.is_some();
        self.all.iter().find(says).unwrap_or(&self.all[0])
    }

    /// Returns all settings, in the order of their indices.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ModuleSetting> {
        self.all.iter()
    }

    /// Returns the unusable attributes, each with its module.
    pub(crate) fn faults(&self) -> impl Iterator<Item = (Op, &SchemeFault)> {
        let of = |it: &'_ ModuleSetting| it.module;
        self.all
            .iter()
            .flat_map(move |it| it.faults.iter().filter_map(move |fault| Some((of(it)?, fault))))
    }

    /// Returns the index of the part that contains an op.
    pub(crate) fn part_index(&self, op: Op) -> usize {
        self.indices.get(&op).map_or(0, |it| it.0)
    }

    /// Returns the index of the setting of an op: that of the innermost nested module around it,
    /// else that of its part.
    pub(crate) fn setting_index(&self, op: Op) -> usize {
        self.indices.get(&op).map_or(0, |it| it.1)
    }

    /// Returns the setting of an op.
    pub(crate) fn of(&self, op: Op) -> Option<&ModuleSetting> {
        self.all.get(self.setting_index(op))
    }
}

/// Returns true if an op proves that its program is a HEIR program: a module with an attribute of a
/// scheme, a backend or scheme parameters, an op of the dialects `secret` and `mgmt`, which no
/// other project has, or an op with a `mgmt.mgmt`. The dialects below these (`ckks`, `openfhe`,
/// ...) prove nothing: other projects have dialects of the same names.
pub fn is_heir_marker(ir: &Ir, op: Op) -> bool {
    match ir.op(op).kind {
        OpKind::Unknown => {
            let name = ir.op_name(op);
            name.starts_with("mgmt.")
                || name.starts_with("secret.")
                || ir.attr(op, "mgmt.mgmt").is_some()
        }
        OpKind::BuiltinModule => ir.extra(op).attrs.iter().any(|&(name, _)| {
            let name = ir.interner.str(name);
            matches!(name, "scheme.bgv" | "scheme.bfv" | "scheme.ckks" | "scheme.cggi")
                || matches!(name, "bgv.schemeParam" | "ckks.schemeParam")
                || matches!(name, "backend.openfhe" | "backend.lattigo")
        }),
        _ => false,
    }
}

/// Returns all modules of a region, outermost first.
fn modules(ir: &Ir, region: Region) -> Vec<Op> {
    let mut out = Vec::new();
    let mut regions = vec![region];
    while let Some(region) = regions.pop() {
        for op in ir.items(region) {
            let data = ir.op(op);
            if data.kind == OpKind::BuiltinModule {
                out.push(op);
            }
            if matches!(data.kind, OpKind::Chunk | OpKind::BuiltinModule) {
                regions.extend(data.regions.iter().map(|it| it.1));
            }
        }
    }
    out
}
