//! Passes that print information or test the driver.

pub(crate) mod infrastructure;
pub(crate) mod printers;
