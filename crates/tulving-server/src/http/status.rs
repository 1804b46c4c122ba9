//! The one place where a class of error becomes an HTTP status.

use tulving_core::model::error::Class;

/// The status of a failed request.
pub const fn status(class: Class) -> u16 {
    match class {
        Class::Caller => 400,
        Class::Denied => 403,
        Class::Absent => 404,
        Class::Conflict => 409,
        Class::Corrupt | Class::Bug => 500,
        Class::Upstream => 502,
        // A missing resource of the host may come back without a change to the request. Only if others are busy is it worth
        // waiting for.
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
