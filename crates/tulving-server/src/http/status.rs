//! Maps each error class to its HTTP status. No other module makes this decision.

use tulving_core::model::error::Class;

/// Returns the HTTP status for a class of errors.
pub const fn status(class: Class) -> u16 {
    match class {
        Class::Caller => 400,
        Class::Denied => 403,
        Class::Absent => 404,
        Class::Conflict => 409,
        Class::Corrupt | Class::Bug => 500,
        Class::Upstream => 502,
        // Both failures can disappear without a change to the request. Only a busy server is expected to recover soon, so
        // only `Busy` states a time to wait.
        Class::Busy | Class::Host => 503,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_own_faults_are_400s_and_ours_are_500s() {
        for class in [Class::Caller, Class::Denied, Class::Absent, Class::Conflict] {
            assert!((400..500).contains(&status(class)), "{class:?}");
        }
        for class in [Class::Corrupt, Class::Bug, Class::Upstream, Class::Busy, Class::Host] {
            assert!((500..600).contains(&status(class)), "{class:?}");
        }
    }
}
