//! The HTTP client for services, set up the same way for all of them.

use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

use crate::address::ServiceUrl;

/// Returns the client settings for a service at this address. An answer is read whatever its status is. The key and the
/// text are sent only to the configured address: redirects are not followed, and a service on this machine is called
/// without a proxy, even if the environment sets one.
pub(crate) fn config(address: &ServiceUrl) -> ConfigBuilder<AgentScope> {
    let config =
        Agent::config_builder().http_status_as_error(false).max_redirects(0).max_redirects_will_error(false);
    if address.is_here() { config.proxy(None) } else { config }
}
