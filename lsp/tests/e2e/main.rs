//! The real server over standard input and output: one file for each feature, and the hazards of its transport.

mod action;
mod client;
mod completion;
mod diagnostic;
mod hint;
mod hover;
mod lifecycle;
mod navigation;
mod order;
mod outline;
mod settings;
mod token;
