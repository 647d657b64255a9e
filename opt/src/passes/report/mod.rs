//! Passes that print analyses or test the driver.

pub(crate) mod infrastructure;
pub(crate) mod printers;
