//! Ends the server when the client's process is gone.

use std::time::Duration;

use crate::{host, log};

/// Ends the process when the client's does; a client that dies may leave its end of the pipe to
/// others.
pub(crate) fn watch(id: u32) {
    let process = std::path::PathBuf::from(format!("/proc/{id}"));
    // Without this directory nothing is known, for example because the client is in another
    // container.
    if !process.exists() {
        return;
    }
    tokio::spawn(async move {
        loop {
            host::sleep(Duration::from_secs(5)).await;
            if !process.exists() {
                log::line(format_args!("the client's process {id} has ended"));
                std::process::exit(1);
            }
        }
    });
}
