//! The base protocol: messages after `Content-Length` headers. No input ends or confuses the
//! server.
//!
//! `tower_lsp` has its own transport. That transport ends at the first message that is not JSON,
//! accepts only one spelling of header names, and reads, runs and writes in one task, so that each
//! of these can delay the others. In this server a plain thread reads standard input, which defines
//! the order of all messages; [`crate::server::ingress`] dispatches messages and
//! [`crate::wire::outbox`] writes them.

use std::io::{self, BufRead, Read};

use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

use crate::wire::spelling::Spellings;

/// Maximum length of a header line, in bytes.
const MAX_HEADER: u64 = 16 * 1024;

/// A received message.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request or a notification.
    Call(Request),
    /// The answer to a request of the server.
    Answer(Response),
    /// An invalid message, and the response to it, if any.
    Broken(Option<Response>),
}

/// Reads the next message; `None` at the end of the input, even in the middle of a message.
pub(crate) fn read(
    input: &mut impl BufRead,
    spellings: &Spellings,
) -> io::Result<Option<Incoming>> {
    let mut length = None;
    let mut seen = false;
    loop {
        let mut line = Vec::new();
        if input.take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            match length {
                Some(length) => return read_body(input, length, spellings),
                None if seen => return Ok(Some(Incoming::Broken(Some(parse_error())))),
                None => continue,
            }
        }
        seen = true;
        // The header may follow the rest of a body that was longer than announced.
        let lower = text.to_ascii_lowercase();
        if let Some(at) = find(&lower, b"content-length:") {
            let value = String::from_utf8_lossy(&text[at + 15..]);
            length = value.trim().parse::<u64>().ok();
        }
    }
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|it| it == word)
}

fn read_body(
    input: &mut impl BufRead,
    length: u64,
    spellings: &Spellings,
) -> io::Result<Option<Incoming>> {
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Ok(None);
    }
    if body.is_empty() {
        return Ok(Some(Incoming::Broken(None)));
    }
    Ok(Some(parse(&body, spellings)))
}

fn parse_error() -> Response {
    Response::from_error(Id::Null, Error::parse_error())
}

/// Parses a body and turns the document names in it into URIs.
pub(crate) fn parse(body: &[u8], spellings: &Spellings) -> Incoming {
    let value = serde_json::from_slice(body).or_else(|error| {
        replace_lone_surrogates(body).map_or(Err(error), |it| serde_json::from_slice(&it))
    });
    let Ok(value) = value else { return Incoming::Broken(Some(parse_error())) };
    let Value::Object(mut object) = value else { return invalid(Id::Null) };
    let id = object.remove("id");
    let is_answer = !object.contains_key("method")
        && (object.contains_key("result") || object.contains_key("error"));
    if is_answer {
        let parts = (parse_id(id), object.remove("result"), object.remove("error"));
        return match parts {
            (Some(id), _, Some(error)) if error.is_object() => {
                let error =
                    serde_json::from_value(error).unwrap_or_else(|_| Error::internal_error());
                Incoming::Answer(Response::from_error(id, error))
            }
            (Some(id), result, _) => {
                Incoming::Answer(Response::from_ok(id, result.unwrap_or_default()))
            }
            _ => Incoming::Broken(None),
        };
    }
    let (with_id, id) = match id {
        None => (false, Id::Null),
        Some(id) => match parse_id(Some(id)) {
            Some(id) => (true, id),
            None => return invalid(Id::Null),
        },
    };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id);
    }
    let Some(Value::String(method)) = object.remove("method") else { return invalid(id) };
    let mut request = Request::build(method);
    if with_id {
        request = request.id(id);
    }
    if let Some(mut params) = object.remove("params") {
        spellings.encode_names(&mut params);
        request = request.params(params);
    }
    Incoming::Call(request.finish())
}

fn invalid(id: Id) -> Incoming {
    Incoming::Broken(Some(Response::from_error(id, Error::invalid_request())))
}

fn parse_id(id: Option<Value>) -> Option<Id> {
    match id? {
        Value::Number(number) => number.as_i64().map(Id::Number),
        Value::String(text) => Some(Id::String(text)),
        _ => None,
    }
}

/// Replaces every `\uD800`..`\uDFFF` escape that is not part of a surrogate pair by `\uFFFD`.
/// Editors send such escapes if they split a pair. `None` if there are none.
fn replace_lone_surrogates(body: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| -> Option<u16> {
        let escape = body.get(at..at + 6)?;
        if &escape[..2] != b"\\u" {
            return None;
        }
        u16::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
    };
    let mut out = Vec::with_capacity(body.len());
    let mut changed = false;
    let mut at = 0;
    while at < body.len() {
        if body[at] != b'\\' {
            out.push(body[at]);
            at += 1;
            continue;
        }
        let n = match (unit(at), unit(at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                out.extend_from_slice(b"\\ufffd");
                changed = true;
                at += 6;
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        out.extend_from_slice(&body[at..(at + n).min(body.len())]);
        at += n;
    }
    changed.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(input: &[u8]) -> Vec<String> {
        let mut input = io::BufReader::new(input);
        let mut out = Vec::new();
        while let Ok(Some(it)) = read(&mut input, &Spellings::default()) {
            out.push(match it {
                Incoming::Call(call) => format!("call {}", call.method()),
                Incoming::Answer(answer) => format!("answer {}", answer.id()),
                Incoming::Broken(Some(reply)) => {
                    format!("error {}", reply.error().map_or(0, |it| it.code.code()))
                }
                Incoming::Broken(None) => "nothing".to_owned(),
            });
        }
        out
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#;

    #[test]
    fn accepts_headers_in_any_spelling_and_order() {
        let n = PING.len();
        for head in [
            format!("content-length: {n}\r\n\r\n"),
            format!("Content-Type: x/y; charset=utf-16\r\nContent-Length:{n}\r\n\r\n"),
            format!("Content-Length: {n}\nX-Other: 1\nY: 2\n\n"),
        ] {
            assert_eq!(read_all(format!("{head}{PING}").as_bytes()), ["call $/ping"], "{head}");
        }
    }

    #[test]
    fn continues_after_invalid_messages() {
        for (broken, answer) in [
            (framed("{"), "error -32700"),
            (framed("[]"), "error -32600"),
            (framed("{}"), "error -32600"),
            (framed(r#"{"jsonrpc":"2.0","id":1,"method":42}"#), "error -32600"),
            (framed(r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#), "error -32600"),
            (framed(&"[".repeat(100_000)), "error -32700"),
            (framed(""), "nothing"),
            ("Content-Length: abc\r\n\r\n".to_owned(), "error -32700"),
            ("rubbish\r\n\r\n".to_owned(), "error -32700"),
            (framed(r#"{"jsonrpc":"2.0","id":null,"result":1}"#), "nothing"),
            (framed(r#"{"jsonrpc":"2.0","id":5,"result":null}"#), "answer 5"),
        ] {
            let input = broken + &framed(PING);
            assert_eq!(read_all(input.as_bytes()), [answer, "call $/ping"], "{input:.80}");
        }
        let input =
            [&b"Content-Length: 4\r\n\r\n\xff\xfe\x80x"[..], framed(PING).as_bytes()].concat();
        assert_eq!(read_all(&input), ["error -32700", "call $/ping"]);
    }

    #[test]
    fn a_truncated_message_ends_the_input() {
        assert!(read_all(b"Content-Length: 100\r\n\r\n{").is_empty());
        assert!(read_all(b"Content-Le").is_empty());
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        let text = |json: &str| match parse(json.as_bytes(), &Spellings::default()) {
            Incoming::Call(call) => call.params().cloned(),
            _ => None,
        };
        let json =
            r#"{"jsonrpc":"2.0","method":"x","params":["\ud83d a \\ud83d \ud83d\ude00 \ude00"]}"#;
        assert_eq!(text(json), Some(serde_json::json!(["\u{fffd} a \\ud83d \u{1F600} \u{fffd}"])));
    }
}
