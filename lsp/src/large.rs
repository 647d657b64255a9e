//! Large answers: computed in slices between edits, and made text of where that holds up nobody.

use std::time::Instant;

use crate::actor::{Job, View};
use crate::features::token;
use crate::ingress::leave_raw;

/// Leaves a large answer as text, made where it holds up nobody.
pub(crate) async fn leave<T: serde::Serialize + Send + 'static>(answer: T) {
    let json = tokio::task::spawn_blocking(move || serde_json::to_string(&answer)).await;
    if let Ok(Ok(json)) = json {
        leave_raw(json);
    }
}

/// A job made of a function that goes on until done.
pub(crate) struct Steps<F>(pub F);

impl<T, F> Job for Steps<F>
where
    T: Send + 'static,
    F: FnMut(&mut View<'_>, Instant) -> Option<T> + Send + 'static,
{
    type Output = T;

    fn step(&mut self, view: &mut View<'_>, until: Instant) -> Option<T> {
        (self.0)(view, until)
    }
}

/// All tokens of a document, computed in steps.
pub(crate) fn all_tokens() -> impl FnMut(&mut View<'_>, Instant) -> Option<Vec<u32>> + Send + 'static
{
    let mut tokens = None;
    move |view, until| {
        let source = view.document.source();
        let encoding = view.session.abilities().encoding;
        let tokens = tokens.get_or_insert_with(|| {
            token::Tokens::new(source, 0..source.text().len_bytes(), encoding)
        });
        tokens.step(source, until)
    }
}

/// Semantic tokens as text of numbers.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_id: Option<String>,
    pub data: Vec<u32>,
}

/// The edits from earlier semantic tokens.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenEdits {
    pub result_id: String,
    pub edits: Vec<TokenEdit>,
}

/// One of them: where, how much goes, what comes.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenEdit {
    pub start: usize,
    pub delete_count: usize,
    pub data: Vec<u32>,
}
