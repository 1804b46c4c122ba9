//! The engine over the real store, each test in a home of its own.

// The setup of every test here: a home, a store that can fail on demand, a clock and an engine.
mod bed;
// Several backends: which one is written to, what is merged, and what is not trusted.
mod backends;
// Each act is whole or absent, wherever the store fails.
mod fault;
// Nobody learns of a memory that they may not see, through any verb.
mod isolation;
// Hidden memories do not change an answer.
mod unseen;
// Random acts agree with a plain map.
mod model;
// Each verb, rule by rule.
mod verbs;
// Two years in accelerated time, and wrong clocks.
mod life;
// The plots of the lifecycle match the rules.
mod plots;
