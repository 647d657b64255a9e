//! Ends the server when the process of the client has ended.

use std::time::Duration;

use crate::{host, log};

/// Ends this process when the process of the client ends. The end of standard input is not enough,
/// because other processes may keep the pipe of a dead client open.
pub(crate) fn exit_with_parent(id: u32) {
    let process = std::path::PathBuf::from(format!("/proc/{id}"));
    // Without this directory the client cannot be observed, for example because it runs in another
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
