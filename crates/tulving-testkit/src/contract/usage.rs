//! Records of the cost of the language model.

use tulving_core::model::change::Write;
use tulving_core::model::llm::LlmUsage;

use super::{StoreFactory, good, world};

fn spent(day: &str, model: &str, pass: &str, tokens_in: u64) -> LlmUsage {
    LlmUsage {
        day: day.to_owned(),
        provider: "openai".to_owned(),
        model: model.to_owned(),
        pass: pass.to_owned(),
        calls: 1,
        failures: u64::from(tokens_in == 0),
        tokens_in,
        tokens_out: 2 * tokens_in,
        dropped: tokens_in,
    }
}

/// Usage adds up by day, service, model and purpose, the newest day first. It leaves nothing in the
/// log.
pub fn what_is_spent_adds_up(fresh: StoreFactory<'_>) {
    let world = world(fresh);
    let head = good(world.store.head());
    for usage in [
        spent("2026-05-27", "small", "shadow", 5),
        spent("2026-05-28", "small", "shadow", 7),
        spent("2026-05-28", "small", "shadow", 0),
        spent("2026-05-28", "large", "shadow", 1),
        spent("2026-05-28", "small", "consolidate", 1 << 32),
    ] {
        world.apply(vec![Write::Spend(usage)]);
    }
    let twice = LlmUsage { calls: 2, failures: 1, ..spent("2026-05-28", "small", "shadow", 7) };
    let today = [
        spent("2026-05-28", "large", "shadow", 1),
        spent("2026-05-28", "small", "consolidate", 1 << 32),
        twice,
    ];
    assert_eq!(good(world.store.usage("2026-05-28")), today);
    let both = good(world.store.usage("2026-05-27"));
    assert_eq!(both[..3], today);
    assert_eq!(both[3..], [spent("2026-05-27", "small", "shadow", 5)]);
    assert_eq!(good(world.store.usage("2026-05-29")), []);
    assert_eq!(good(world.store.head()), head, "it is no change of a memory");
}
