//! The client that asks services, set up alike for all of them.

use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

use crate::address::Address;

/// How a service at this address is asked. What it answers is looked at whatever its status. Key and text go to the address that
/// was set up: no redirection is followed, and what is on this machine is not asked for by way of another, whatever proxy the
/// environment names.
pub(crate) fn config(address: &Address) -> ConfigBuilder<AgentScope> {
    let config =
        Agent::config_builder().http_status_as_error(false).max_redirects(0).max_redirects_will_error(false);
    if address.is_here() { config.proxy(None) } else { config }
}
