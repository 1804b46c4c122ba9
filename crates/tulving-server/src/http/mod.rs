//! What HTTP makes of the engine's answers.

pub mod status;
