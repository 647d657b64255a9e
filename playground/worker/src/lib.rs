//! The language server as a module of WebAssembly: messages in and out. `playground/src/server.ts`
//! is the other half. Clock, files, randomness and standard error are those of WASI, which the page
//! provides.
//!
//! A message is written to memory from `noisy_alloc` and passed with its length; the callee takes
//! the memory. The module holds one server, or searches for the server of another worker.
#![cfg(target_family = "wasm")]
#![allow(unsafe_code, reason = "the interface of WebAssembly has pointers only")]

mod posix;

use std::cell::RefCell;

use noisy_lsp::web::{Event, Server, search};

#[link(wasm_import_module = "noisy")]
unsafe extern "C" {
    /// Takes the JSON text of an [`Event`].
    fn tell(kind: u32, number: u32, text: *const u8, length: usize);
}

thread_local! {
    static SERVER: RefCell<Option<Server>> = const { RefCell::new(None) };
}

fn say(kind: u32, number: u32, text: &[u8]) {
    // SAFETY: the text lives until the call returns.
    unsafe { tell(kind, number, text.as_ptr(), text.len()) }
}

/// Memory for a message.
#[unsafe(no_mangle)]
pub extern "C" fn noisy_alloc(length: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; length].into_boxed_slice()).cast()
}

/// # Safety
///
/// The memory is from `noisy_alloc`, with the same length.
unsafe fn taken(text: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: see above.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(text, length)) }.into_vec()
}

/// Takes a message of the client.
///
/// # Safety
///
/// See [`taken`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn noisy_receive(text: *mut u8, length: usize) {
    // SAFETY: the caller promises it.
    let message = unsafe { taken(text, length) };
    SERVER.with_borrow_mut(|it| it.get_or_insert_default().receive(&message));
}

/// Takes the answer of a search, or, if `is_progress`, a report about it.
///
/// # Safety
///
/// See [`taken`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn noisy_searched(
    number: u32,
    is_progress: u32,
    text: *mut u8,
    length: usize,
) {
    // SAFETY: the caller promises it.
    let answer = unsafe { taken(text, length) };
    SERVER.with_borrow_mut(|it| {
        it.get_or_insert_default().searched(number, is_progress != 0, &answer);
    });
}

/// Works for a moment, and sends the resulting events. Returns the milliseconds after which there
/// is more to do without a message; a negative number if there is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn noisy_turn() -> f64 {
    SERVER.with_borrow_mut(|it| {
        let server = it.get_or_insert_default();
        let next = server.turn();
        for event in server.events() {
            match event {
                Event::Message(text) => say(0, 0, &text),
                Event::Search(number, text) => say(1, number, &text),
                Event::End(number) => say(2, number, b""),
                Event::Exit(code) => say(3, u32::from(code), b""),
            }
        }
        next.map_or(-1.0, |it| it.as_secs_f64() * 1e3)
    })
}

/// Is asked by HiGHS during a run, with the simplex iterations so far; returns 1 to end the run.
#[unsafe(no_mangle)]
pub extern "C" fn noisy_is_over(iterations: f64) -> u32 {
    u32::from(noisy_solver::is_over(iterations))
}

/// Runs a search for the server of another worker, and sends the answer.
///
/// # Safety
///
/// See [`taken`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn noisy_search(number: u32, text: *mut u8, length: usize) {
    // SAFETY: the caller promises it.
    let wanted = unsafe { taken(text, length) };
    let answer = search(&wanted, move |progress| say(5, number, progress.as_bytes()));
    say(4, number, &answer);
}
