//! The shared parts of all tests: fakes for the ports, builders, the contract that every store keeps, and a store
//! that fails on command.
//!
//! It knows the ports and no store, so that each store can use it. Never shipped.

pub mod build;
pub mod clock;
pub mod contract;
pub mod embedder;
pub mod extractor;
pub mod fault;
pub mod files;
pub mod index;
pub mod life;
pub mod llm;
pub mod markdown;
pub mod objects;
pub mod pdf;
pub mod plot;
pub mod seed;
pub mod zip;
