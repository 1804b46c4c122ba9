use serde_json::json;
use tulving_dialects::Dialect::Maven;

use crate::bed::Bed;

#[test]
fn the_tools_say_that_they_are_not_available() {
    let bed = Bed::new();
    for (tool, arguments) in [
        ("remember", json!({ "content": "User prefers Postgres on Hetzner, not RDS." })),
        ("memory_search", json!({ "query": "postgres", "limit": 5 })),
        ("memory_get", json!({ "date": "today" })),
    ] {
        let refusal = bed.call(Maven, tool, arguments).expect_err("refused");
        assert_eq!(refusal.code, "not_available");
        assert_eq!(
            refusal.message,
            format!("`{tool}` is not available: this build of Tulving keeps no journals")
        );
    }
    assert_eq!(bed.refused(Maven, "remember", json!({})), "`content` is missing");
    assert_eq!(bed.count(), 0);
}
