//! How much a memory matters at a moment: what it was said to matter, faded by idleness, strengthened by use.

use crate::memory::Memory;
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, Stability};

const MICROS_PER_DAY: f64 = 86_400_000_000.0;
/// What ten accesses add at the most; more add ever less.
const GAIN: f64 = 0.05;

/// Days of idleness after which half of the importance is left.
pub fn half_life_days(stability: Stability) -> f64 {
    match stability {
        Stability::Stable => 365.0,
        Stability::Evolving => 120.0,
        Stability::Volatile => 30.0,
    }
}

/// The importance of a memory at `now`, 0 to 1. Identity and what is pinned do not fade.
pub fn importance_at(memory: &Memory, now: Timestamp) -> f64 {
    let class = &memory.edition.class;
    let base = class.importance.get();
    let usage = &memory.usage;
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts and times are far below 2^53 in any store that is used"
    )]
    let (idle, used) = (
        now.as_micros().saturating_sub(usage.accessed_at.as_micros()).max(0) as f64 / MICROS_PER_DAY,
        usage.access_count as f64,
    );
    let lasting = class.memory_type == MemoryType::Identity || memory.standing.pinned;
    let kept = if lasting { 1.0 } else { 0.5_f64.powf(idle / half_life_days(class.stability)) };
    (base * kept + GAIN * used.ln_1p()).clamp(0.0, 1.0)
}
