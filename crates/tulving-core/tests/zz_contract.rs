#![allow(missing_docs, reason = "temporary")]
#[path = "../../tulving-store/tests/it/contract.rs"]
mod contract;
