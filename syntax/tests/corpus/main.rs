//! The reader and the printers against programs of the real tools and what those tools print of
//! them.
//!
//! The programs are measuring data, kept outside of the repository at `../shared/corpus`. Where
//! they are not, these tests say so and pass.

mod custom;
mod generic;
mod normal;
mod open;
mod oracle;
