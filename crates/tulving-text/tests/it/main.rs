//! Accuracy of the rules on text that was labelled by hand.

// Secrets and commands.
mod detected;
// Kinds, stabilities, competing values, and the facts in what a user says.
mod labelled;
