//! The engine over the real store, each test in a home of its own.

// A home, a store that can be told to fail, a clock and an engine: what every test here begins with.
mod bed;
// Several backends: who is written to, what is merged, and what is not believed.
mod backends;
// Each act is whole or absent, wherever the store fails.
mod fault;
// Nobody learns of a memory that is not for them, through any verb.
mod isolation;
// What is hidden changes nothing of an answer.
mod unseen;
// Random acts agree with a plain map.
mod model;
// What each verb does, rule by rule.
mod verbs;
// Two years in accelerated time, and clocks that are wrong.
mod life;
// The plots of the lifecycle, as the rules are.
mod plots;

// How often the rules of `classify` are right, on labelled documents.
mod labelled;
// How often secrets and commands are told from what looks like them.
mod detected;
