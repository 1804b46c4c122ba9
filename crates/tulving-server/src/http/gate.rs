//! What every request passes first: it must be meant for this server, and it must end in time.
//!
//! A web page can make a browser call an address of this machine, also under a name that its owner points here (DNS
//! rebinding). Such a call shows itself in Host and Origin, which a page cannot choose.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::app::App;
use super::cors;
use super::problem::Problem;
use super::rules::Rules;
use super::transfer;

/// The gate of one listener.
#[derive(Clone)]
pub(super) struct Gate {
    pub(super) app: App,
    /// Where it listens.
    pub(super) address: IpAddr,
}

/// Lets a request through, or says why not.
pub(super) async fn pass(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let (rules, time) = (&gate.app.rules, gate.app.limits().time);
    let guest = cors::allowed(rules, request.headers());
    let mut response = match check(rules, gate.address, request.uri(), request.headers()) {
        Err(problem) => problem.into_response(),
        Ok(()) if guest.is_some() && cors::is_question(request.method(), request.headers()) => cors::answer(),
        // It may be of any length, and is bounded between its lines.
        Ok(()) if request.uri().path() == transfer::LOAD => next.run(request).await,
        Ok(()) => match tokio::time::timeout(time, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Problem::too_slow(time).into_response(),
        },
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if !rules.cors_origins.is_empty() {
        cors::vary(headers);
    }
    if let Some(origin) = guest {
        cors::open(headers, origin);
    }
    response
}

fn check(rules: &Rules, address: IpAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let is_here = |host: &str| is_here(address, host) || is_named(rules, host);
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        let said = "the request must name its host once";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_host", said).about("host"));
    };
    let host = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    // An address in the first line counts instead of the header; then both must be right.
    let right = host.is_some_and(|host| is_here(host.host()))
        && uri.authority().is_none_or(|authority| is_here(authority.host()));
    if !right {
        let said = "the request is meant for another host";
        return Err(Problem::new(StatusCode::FORBIDDEN, "wrong_host", said).about("host").hinting(
            "call the server by the address that it listens on, or name the host in server.allowed_hosts",
        ));
    }
    if cors::allowed(rules, headers).is_some() {
        return Ok(());
    }
    for origin in headers.get_all(ORIGIN) {
        if !origin.to_str().is_ok_and(|origin| is_from(origin, is_here)) {
            let said = "a page of another site may not call this server";
            return Err(Problem::new(StatusCode::FORBIDDEN, "wrong_origin", said).about("origin"));
        }
    }
    Ok(())
}

/// Whether a host is this machine by a name that nobody else can point here: a loopback name, or a plain address.
fn is_here(address: IpAddr, host: &str) -> bool {
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let Ok(ip) = bare.parse::<IpAddr>() else { return false };
    // Who listens on every address is called by any of them.
    ip.to_canonical().is_loopback() || ip == address || address.is_unspecified()
}

/// Whether a host is a name that the configuration vouches for.
fn is_named(rules: &Rules, host: &str) -> bool {
    rules.allowed_hosts.iter().any(|name| name.eq_ignore_ascii_case(host))
}

fn is_from(origin: &str, is_here: impl Fn(&str) -> bool) -> bool {
    let Ok(origin) = origin.parse::<Uri>() else { return false };
    matches!(origin.scheme_str(), Some("http" | "https"))
        && origin.authority().is_some_and(|authority| is_here(authority.host()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn refused(headers: &[(&'static str, &'static str)]) -> Option<&'static str> {
        refused_by(&Rules::default(), headers)
    }

    fn refused_by(rules: &Rules, headers: &[(&'static str, &'static str)]) -> Option<&'static str> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        check(rules, HERE, &Uri::from_static("/mcp"), &map).err().map(|problem| problem.code())
    }

    #[test]
    fn only_names_of_this_machine_are_let_through() {
        for host in ["localhost", "LOCALHOST:7777", "127.0.0.1", "127.0.0.1:1", "[::1]:7777", "127.8.9.1"] {
            assert_eq!(refused(&[("host", host)]), None, "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "10.0.0.1", "127.0.0.1.evil.example", "a b", ""]
        {
            assert_eq!(refused(&[("host", host)]), Some("wrong_host"), "{host}");
        }
        assert_eq!(refused(&[]), Some("invalid_host"));
        assert_eq!(refused(&[("host", "localhost"), ("host", "evil.example")]), Some("invalid_host"));
    }

    #[test]
    fn an_address_in_the_first_line_counts_too() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        let check = |uri| check(&Rules::default(), HERE, &Uri::from_static(uri), &headers);
        assert!(check("http://localhost/mcp").is_ok());
        assert!(check("http://evil.example/mcp").is_err());
    }

    #[test]
    fn a_page_of_another_site_is_turned_away() {
        let with = |origin| refused(&[("host", "localhost"), ("origin", origin)]);
        assert_eq!(with("http://localhost:3000"), None);
        assert_eq!(with("https://127.0.0.1"), None);
        for origin in
            ["https://evil.example", "null", "file://", "http://localhost.evil.example", "chrome://x", ""]
        {
            assert_eq!(with(origin), Some("wrong_origin"), "{origin}");
        }
    }

    #[test]
    fn who_listens_everywhere_is_called_by_any_address_but_not_by_a_name() {
        let everywhere = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        assert!(is_here(everywhere, "192.168.1.5"));
        assert!(!is_here(everywhere, "evil.example"));
        assert!(!is_here(HERE, "192.168.1.5"));
    }

    #[test]
    fn names_and_sites_of_the_configuration_are_let_through_and_none_like_them() {
        let rules = Rules {
            allowed_hosts: vec!["memory.lan".to_owned()],
            cors_origins: vec!["https://app.example".to_owned()],
            ..Rules::default()
        };
        let by = |host, origin| refused_by(&rules, &[("host", host), ("origin", origin)]);
        assert_eq!(by("memory.lan:443", "https://app.example"), None);
        assert_eq!(by("Memory.LAN", "https://memory.lan"), None);
        for host in ["memory.lan.evil.example", "xmemory.lan", "lan", "app.example"] {
            assert_eq!(by(host, "https://app.example"), Some("wrong_host"), "{host}");
        }
        for origin in [
            "http://app.example",
            "https://app.example:8443",
            "https://app.example.evil.example",
            "null",
            "*",
        ] {
            assert_eq!(by("memory.lan", origin), Some("wrong_origin"), "{origin}");
        }
    }
}
