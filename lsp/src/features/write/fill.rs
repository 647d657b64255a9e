//! Templates of ops with values in scope as their operands, and types that follow from them.

use noisy_syntax::OpKind;
use noisy_syntax::dialect::TypeClass;

/// The values in scope with their types, the nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FillScope(pub Vec<(String, String)>);

impl FillScope {
    /// Returns the scope without a value, the result of the op that is being written.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.0.retain(|it| it.0 != name);
        self
    }

    fn type_of(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|it| it.0 == name).map(|it| &*it.1)
    }
}

/// An operand that was chosen, or that is already written.
#[derive(Clone, Debug)]
struct Operand {
    name: String,
    ty: String,
    /// True if other operands of the op may have another type.
    is_fixed: bool,
}

/// Returns a template in which values in scope are the operands.
pub(super) fn fill_template(kind: OpKind, template: &str, scope: &FillScope) -> String {
    let mut chosen: Vec<Option<Operand>> = Vec::new();
    let mut examples: Vec<String> = Vec::new();
    replace_placeholders(template, &mut |place, role| match role {
        PlaceholderRole::Operand => {
            let class = kind.spec().operand_class(chosen.len());
            let operand = choose(class, scope, &chosen);
            let name = operand.as_ref().map_or(place, |it| &it.name).to_owned();
            chosen.push(operand);
            name
        }
        PlaceholderRole::Type => {
            // The result of a cast has another type than its operand.
            let is_number = matches!(type_family(place), "other" | "float");
            let is_like = |it: &String| it != place && type_family(it) == type_family(place);
            let is_cast = is_number && examples.iter().any(is_like);
            examples.push(place.to_owned());
            let ty = type_for_example(place, &chosen).filter(|_| !is_cast);
            ty.unwrap_or(place).to_owned()
        }
        PlaceholderRole::Other => place.to_owned(),
    })
}

/// Returns the end of an op whose operands are written at the end of a line, such as
/// ` : !noisy.i32`. `None` if an operand is missing, or if something follows them.
pub(super) fn missing_types(line: &str, scope: &FillScope) -> Option<String> {
    let (_, body) =
        line.split_once('=').filter(|it| it.0.trim().starts_with('%')).unwrap_or(("", line));
    let body = body.trim();
    let (name, operands) = body.split_once(' ')?;
    let kind = OpKind::of(name);
    if kind == OpKind::Unknown || operands.contains([':', '{', '[', '(', '<', '"']) {
        return None;
    }
    let mut written = Vec::new();
    for (n, it) in operands.split(',').enumerate() {
        let it = it.trim();
        let ty = scope.type_of(it)?.to_owned();
        let class = kind.spec().operand_class(n);
        if !is_in_class(class, &ty) {
            return None;
        }
        written.push(Some(Operand { name: it.to_owned(), ty, is_fixed: has_single_type(class) }));
    }
    let template = kind.spec().template();
    let (mut n_operands, mut end) = (0, 0);
    let mut before = 0;
    let mut tail = template.as_str();
    while let Some((text, place, after)) = split_at_placeholder(tail) {
        before += text.len() + place.len() + 2 * '«'.len_utf8();
        if role(place, after, n_operands) == PlaceholderRole::Operand {
            (n_operands, end) = (n_operands + 1, before);
        }
        tail = after;
    }
    if n_operands != written.len() || n_operands == 0 {
        return None;
    }
    let end = template[end..].to_owned();
    if !end.starts_with(" :") || end.contains('\n') {
        return None;
    }
    let mut is_whole = true;
    let out = replace_placeholders(&end, &mut |place, _| match type_for_example(place, &written) {
        Some(ty) => ty.to_owned(),
        None => {
            is_whole = false;
            place.to_owned()
        }
    });
    let plain = out.replace(['«', '»'], "");
    // A type that does not follow from the operands, such as the result type of a cast, stays an
    // example.
    (is_whole || plain.contains(" -> ") || plain.contains(" to ")).then_some(plain)
}

/// The role of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaceholderRole {
    Operand,
    Type,
    Other,
}

fn role(place: &str, after: &str, n_operands: usize) -> PlaceholderRole {
    // A name before ` = ` or `:` is a definition, not an operand.
    let is_defined = after.starts_with(" = ") || after.starts_with(':');
    if place.starts_with('%') && !place.contains(' ') {
        if is_defined { PlaceholderRole::Other } else { PlaceholderRole::Operand }
    } else if n_operands > 0 {
        PlaceholderRole::Type
    } else {
        PlaceholderRole::Other
    }
}

/// The text before the first placeholder of a template, the placeholder, and the text after it.
pub(super) fn split_at_placeholder(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('«')?;
    let (place, after) = rest.split_once('»')?;
    Some((before, place, after))
}

/// Replaces the texts of the placeholders of a template.
fn replace_placeholders(
    template: &str,
    with: &mut dyn FnMut(&str, PlaceholderRole) -> String,
) -> String {
    let (mut out, mut rest, mut n_operands) = (String::new(), template, 0);
    while let Some((before, place, after)) = split_at_placeholder(rest) {
        let role = role(place, after, n_operands);
        n_operands += usize::from(role == PlaceholderRole::Operand);
        out.push_str(&format!("{before}«{}»", with(place, role)));
        rest = after;
    }
    out + rest
}

/// Chooses the nearest value of a class that is not used yet, or the nearest.
fn choose(class: TypeClass, scope: &FillScope, chosen: &[Option<Operand>]) -> Option<Operand> {
    let others = || chosen.iter().flatten().filter(|it| !it.is_fixed);
    let is_fixed = has_single_type(class);
    // Operands of one family usually have the same type.
    let is_like = |it: &&Operand, ty: &str| type_family(&it.ty) == type_family(ty);
    let is_same =
        |ty: &str| is_fixed || others().filter(|it| is_like(it, ty)).all(|it| it.ty == ty);
    let mut fitting = scope.0.iter().filter(|it| is_in_class(class, &it.1) && is_same(&it.1));
    let first = fitting.clone().next()?;
    let is_new = |it: &&(String, String)| chosen.iter().flatten().all(|other| other.name != it.0);
    let (name, ty) = fitting.find(is_new).unwrap_or(first);
    Some(Operand { name: name.clone(), ty: ty.clone(), is_fixed })
}

/// The type of an operand that replaces an example type in a template.
fn type_for_example<'a>(example: &str, chosen: &'a [Option<Operand>]) -> Option<&'a str> {
    let free = chosen.iter().flatten().filter(|it| !it.is_fixed);
    free.map(|it| &*it.ty).find(|ty| type_family(ty) == type_family(example))
}

/// The family of a type. A type replaces example types of its own family only.
fn type_family(ty: &str) -> &'static str {
    match ty.find(|c: char| !c.is_ascii_lowercase()).map_or(ty, |at| &ty[..at]) {
        "memref" => "memref",
        "vector" => "vector",
        "f" | "bf" => "float",
        _ => "other",
    }
}

/// True if the class has a single type. Such a type is never an example.
fn has_single_type(class: TypeClass) -> bool {
    matches!(class, TypeClass::Noisy | TypeClass::I1 | TypeClass::Index)
}

/// True if a type is in a class.
fn is_in_class(class: TypeClass, ty: &str) -> bool {
    let width = |prefix: &str| ty.strip_prefix(prefix).and_then(|it| it.parse::<u32>().ok());
    match class {
        TypeClass::Noisy => ty == "!noisy.i32",
        TypeClass::Plain => width("i").is_some_and(|it| it <= 5),
        TypeClass::I1 | TypeClass::BoolLike => ty == "i1",
        TypeClass::Index => ty == "index",
        TypeClass::SignlessOrIndex | TypeClass::IndexCast => width("i").is_some() || ty == "index",
        TypeClass::IntLike | TypeClass::FixedIntLike | TypeClass::Integer => width("i").is_some(),
        TypeClass::FloatLike => width("f").is_some() || ty == "bf16",
        TypeClass::MemRef | TypeClass::RankedMemRef => ty.starts_with("memref<"),
        TypeClass::Vector => ty.starts_with("vector<"),
        TypeClass::Function => ty.starts_with('('),
        TypeClass::Any | TypeClass::Bits => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> FillScope {
        let of = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
        let all = [
            ("%m", "!noisy.i32"),
            ("%n", "!noisy.i32"),
            ("%c", "i1"),
            ("%x", "i5"),
            ("%w", "i64"),
            ("%b", "memref<8xf32>"),
            ("%i", "index"),
            ("%f", "f32"),
        ];
        FillScope(all.iter().map(of).collect())
    }

    fn plain(kind: OpKind) -> String {
        fill_template(kind, &kind.spec().template(), &scope()).replace(['«', '»'], "")
    }

    #[test]
    fn operands_are_the_nearest_values_of_their_type() {
        assert_eq!(plain(OpKind::NoisyMul), "%r = noisy.mul %m, %n : !noisy.i32");
        assert_eq!(plain(OpKind::NoisyEncode), "%r = noisy.encode %c : i1 -> !noisy.i32");
        assert_eq!(plain(OpKind::NoisyDecode), "%r = noisy.decode %m : !noisy.i32 -> i5");
        assert_eq!(plain(OpKind::ArithExtsi), "%r = arith.extsi %c : i1 to i64");
        assert_eq!(plain(OpKind::MemrefStore), "memref.store %m, %b[%i] : memref<8xf32>");
        // The same value is used twice instead of a value of another type.
        assert_eq!(plain(OpKind::ArithAddf), "%r = arith.addf %f, %f : f32");
        let none = fill_template(
            OpKind::NoisyMul,
            &OpKind::NoisyMul.spec().template(),
            &FillScope::default(),
        );
        assert_eq!(none, OpKind::NoisyMul.spec().template());
    }

    #[test]
    fn types_follow_written_operands() {
        let of = |line: &str| missing_types(line, &scope());
        assert_eq!(of("  %r = noisy.mul %m, %m").as_deref(), Some(" : !noisy.i32"));
        assert_eq!(of("%r = noisy.encode %x").as_deref(), Some(" : i5 -> !noisy.i32"));
        assert_eq!(of("%r = arith.addi %w, %w").as_deref(), Some(" : i64"));
        for line in [
            "%r = noisy.mul %m",
            "%r = noisy.mul %m, %x",
            "%r = noisy.mul %m, %m : !noisy.i32",
            "%r = noisy.mul %unknown, %m",
            "%r = foo.bar %m, %m",
            "return",
            "",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
