//! `noisy-check verify-certificate`: checks a certificate against a program.
//!
//! The optimizer's instance of each system is extracted from the program again, by the same steps
//! as in `--fix` (safe fixes, analysis, [`extract`]). The instance in the file must be equal to it.
//! [`noisy_certificate`] verifies the claims about the instance and shares no code with the
//! optimizer. If the program was rewritten first, a second certificate shows that both programs
//! compute the same.

use std::io::{self, Write};
use std::path::Path;

use noisy_analyses::Document;
use noisy_analyses::repair::placement::extract::{
    ExtractionRequest, LiveCalls, MAX_COPIES, extract,
};
use noisy_certificate::equality::{Equality, PolynomialLimits};
use noisy_certificate::{Certificate, FORMAT, Function, Instance, System, VERSION, verify};
use noisy_dataflow::sparse::DEFAULT_MAX_CONTEXTS;
use noisy_output::shown_line;
use noisy_settings::Settings;
use rustc_hash::FxHashSet;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::file::check;
use crate::file::equality;
use crate::file::fix;
use crate::input::args::VerifyCertificateArgs;
use crate::input::setup;
use crate::input::walk::Input;
use crate::{EXIT_CLEAN, EXIT_FAILURE, EXIT_FINDINGS, print_error};

/// Verifies a certificate; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &VerifyCertificateArgs, out: &mut dyn Write) -> io::Result<i32> {
    let claims = match VerificationInput::read(args) {
        Ok(it) => it,
        Err(why) => {
            print_error(&format!("noisy-check: {why}"));
            return Ok(EXIT_FAILURE);
        }
    };
    let mut lines: Vec<Value> = Vec::new();
    let why = claims.verify_all(args.unsafe_fixes, &mut lines).err();
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    if let Some((function, why)) = &why {
        let mut line = json!({ "verified": false });
        if let Some(function) = function {
            line["function"] = json!(function);
        }
        line["why"] = json!(why);
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(if why.is_some() { EXIT_FINDINGS } else { EXIT_CLEAN })
}

/// The certificates, the programs, and the settings of a verification.
struct VerificationInput {
    certificate: Certificate,
    equality: Option<Equality>,
    /// The program before the fix.
    program: String,
    /// The program after the fix, if it is verified too.
    fixed: Option<String>,
    settings: Settings,
}

impl VerificationInput {
    fn read(args: &VerifyCertificateArgs) -> Result<Self, String> {
        let resolver = setup::resolver(&args.settings)?;
        let (_, certificate) = read(&args.certificate)?;
        let certificate = parse_certificate(&args.certificate, &certificate)?;
        let equality = match &args.equality {
            Some(path) => Some(parse_certificate(path, &read(path)?.1)?),
            None => None,
        };
        let (name, program) = read(&args.program)?;
        let fixed = args.fixed.as_deref().map(read).transpose()?.map(|it| it.1);
        let config = resolver.config(Path::new(&name)).map_err(|it| it.to_string())?;
        let settings = config
            .for_path(Path::new(&name))
            .map_err(|it| it.iter().map(ToString::to_string).collect::<String>())?;
        let settings = Settings::clone(&settings);
        Ok(Self { certificate, equality, program, fixed, settings })
    }

    /// Verifies all claims, and adds one line for each verified claim.
    fn verify_all(&self, unsafe_fixes: bool, lines: &mut Vec<Value>) -> Result<(), Refusal> {
        let wrong = |why: String| (None, why);
        let mut program = &self.program;
        let mut rewritten = None;
        if let Some(it) = &self.equality {
            let digest = equality::digest(&it.rewritten);
            if it.before != equality::digest(program) || it.after != digest {
                let why = "the certificate of equality was made for a different program";
                return Err(wrong(why.to_owned()));
            }
            let equal =
                noisy_certificate::equality::verify(program, it, PolynomialLimits::default())
                    .map_err(|why| wrong(format!("the programs are not shown equal: {why}")))?;
            lines.push(json!({
                "verified": true,
                "equal": true,
                "steps": equal.n_steps,
                "loops": equal.n_loops,
                "operands": equal.n_operands,
            }));
            program = &it.rewritten;
            rewritten = Some(digest);
        }
        match (&self.certificate.rewritten, &rewritten) {
            (a, b) if a == b => {}
            (Some(_), None) => {
                let why = "the program was rewritten before placement: name the certificate of \
                           equality with --equality";
                return Err(wrong(why.to_owned()));
            }
            _ => {
                let why = "the certificate was made for a program that was not rewritten like this";
                return Err(wrong(why.to_owned()));
            }
        }
        let mut document = Document::with_model(program, self.settings.model.noise().clone());
        fix::apply_fixes(&mut document, &self.settings, unsafe_fixes).map_err(wrong)?;
        verify_placements(&self.certificate, &document, &self.settings, lines)?;
        if let Some(fixed) = &self.fixed {
            let before = document.source().text().to_string();
            let n = noisy_certificate::equality::verify_reductions_only(&before, fixed)
                .map_err(|why| wrong(format!("the fixed program differs: {why}")))?;
            lines.push(json!({ "verified": true, "fixed": true, "operands": n }));
        }
        Ok(())
    }
}

/// The name and the text of a file.
fn read(path: &Path) -> Result<(String, String), String> {
    let input = if path == Path::new("-") { Input::Stdin } else { Input::File(path.into()) };
    let name = check::input_name(&input, "<stdin>");
    let text = check::catch_panics(|| check::read(&input));
    text.map(|text| (name.clone(), text))
        .map_err(|it| format!("{}: {}", shown_line(&name), it.message))
}

fn parse_certificate<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|why| {
        let name = shown_line(&path.to_string_lossy()).into_owned();
        format!("{name}: this file is not a certificate: {why}")
    })
}

/// A refused claim: its function, if it concerns a function, and the reason.
type Refusal = (Option<String>, String);

/// Verifies the placements, and adds one line for each verified function.
fn verify_placements(
    certificate: &Certificate,
    document: &Document,
    settings: &Settings,
    lines: &mut Vec<Value>,
) -> Result<(), Refusal> {
    let wrong = |why: String| Err((None, why));
    if (&*certificate.format, certificate.version) != (FORMAT, VERSION) {
        return wrong(format!("it is not a {FORMAT} of version {VERSION}"));
    }
    let placement = &settings.placement;
    let objective = json!(placement.objective);
    if objective != certificate.objective || placement.replace != certificate.replace {
        let why = "its objective, or its permission to replace ops, differs from the settings";
        return wrong(why.to_owned());
    }
    let functions = document.ir().functions();
    let mut named = FxHashSet::default();
    let mut op_of = |it: &Function| {
        let op = functions.get(it.index).copied();
        op.filter(|&op| document.function_name(op) == it.name && named.insert(op)).ok_or_else(
            || {
                let why = "the program has no such function at this index, or the function is listed twice";
                (Some(it.name.clone()), why.to_owned())
            },
        )
    };
    let mut closed = FxHashSet::default();
    for left in &certificate.left {
        closed.insert(op_of(&left.function)?);
    }
    let mut open = Vec::new();
    for system in &certificate.systems {
        let ops = system.functions.iter().map(&mut op_of).collect::<Result<Vec<_>, _>>()?;
        open.push(ops);
    }
    let over = document.excesses();
    let unsaid = functions.iter().find(|it| over.contains_key(it) && !named.contains(it));
    if let Some(&function) = unsaid {
        let why = "this function exceeds the budget, but the certificate does not cover it";
        return Err((Some(document.function_name(function)), why.to_owned()));
    }
    let calls = LiveCalls::new(document);
    for (system, open) in certificate.systems.iter().zip(&open) {
        let names: Vec<&str> = system.functions.iter().map(|it| &*it.name).collect();
        let first = names.first().map(|it| (*it).to_owned());
        let wrong = |why: String| (first.clone(), why);
        let (functions, closed) = (&**open, &closed);
        if functions.is_empty() {
            return Err(wrong("it has a placement problem without functions".to_owned()));
        }
        let ask = |copies| {
            let (objective, replace) = (placement.objective, placement.replace);
            let request = ExtractionRequest {
                functions,
                excluded: closed,
                objective,
                replace,
                max_copies: copies,
            };
            let question = extract(document, &calls, &request).map_err(|it| it.to_string())?;
            compare(system, &question.instance, question.unit).map(|()| question)
        };
        let question = ask(MAX_COPIES)
            .or_else(|why| ask(DEFAULT_MAX_CONTEXTS).map_err(|_| why))
            .map_err(wrong)?;
        if !question.is_exact && system.bound > 0 {
            let why =
                "it claims a lower bound for a problem that may be stricter than the analysis";
            return Err(wrong(why.to_owned()));
        }
        let verified = verify(system).map_err(|it| wrong(it.to_string()))?;
        for name in &names {
            let mut line = json!({ "verified": true, "function": name });
            if names.len() > 1 {
                line["together"] = json!(names);
            }
            if system.unit != 1 {
                line["unit"] = json!(system.unit);
            }
            line["cost"] = json!(verified.cost);
            line["bound"] = json!(verified.bound);
            lines.push(line);
        }
    }
    Ok(())
}

/// Checks that the instance of a system is that of the program.
fn compare(system: &System, instance: &noisy_placement::Instance, unit: u64) -> Result<(), String> {
    let is = serde_json::to_string(instance).map_err(|it| it.to_string())?;
    let is: Instance = serde_json::from_str(&is).map_err(|it| it.to_string())?;
    if (system.unit, system.instance.nodes.len()) != (unit, is.nodes.len()) {
        return Err("the certificate was made for a different program or other settings".to_owned());
    }
    let node = system.instance.nodes.iter().zip(&is.nodes).position(|(a, b)| a != b);
    if let Some(node) = node {
        return Err(format!(
            "the certificate was made for a different program or other settings: node {node} differs"
        ));
    }
    if system.instance.sites != is.sites {
        return Err(
            "the certificate was made for a different program or other settings: a site differs"
                .to_owned(),
        );
    }
    Ok(())
}
