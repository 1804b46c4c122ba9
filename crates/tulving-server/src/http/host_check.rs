//! The first check of every request: the request must be intended for this server, and must complete in time.
//!
//! A web page can make a browser call an address of this machine, even under a domain name that the page's owner resolves to
//! this machine (DNS rebinding). The headers `Host` and `Origin` reveal such a call, because a page cannot choose them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, HOST, ORIGIN, STRICT_TRANSPORT_SECURITY};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use percent_encoding::percent_decode_str;
use tulving_core::model::preview;

use super::app::HttpApp;
use super::cors;
use super::problem::Problem;
use super::rules::ServerRules;
use super::transfer;

/// The `Strict-Transport-Security` header: browsers use only encrypted connections to this host for one year.
const STRICT: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The host check of one listener.
#[derive(Clone)]
pub(super) struct HostCheck {
    pub(super) app: HttpApp,
    /// The address that it listens on.
    pub(super) address: IpAddr,
}

/// Lets a request through, or returns the reason not to.
pub(super) async fn pass(State(host_check): State<HostCheck>, request: Request, next: Next) -> Response {
    let (rules, time) = (&host_check.app.rules, host_check.app.limits().time);
    let guest = cors::allowed(rules, request.headers());
    let strict = is_strict(rules, request.headers());
    let mut response = match check(rules, host_check.address, request.uri(), request.headers()) {
        Err(problem) => problem.into_response(),
        Ok(()) if guest.is_some() && cors::is_question(request.method(), request.headers()) => cors::answer(),
        // The body of a load may have any length. The time limit applies to each received part, not to the whole request.
        Ok(()) if request.uri().path() == transfer::LOAD => next.run(request).await,
        Ok(()) => match tokio::time::timeout(time, next.run(request)).await {
            Ok(response) => response,
            Err(_) => Problem::too_slow(time).into_response(),
        },
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if strict {
        headers.insert(STRICT_TRANSPORT_SECURITY, STRICT);
    }
    if !rules.cors_origins.is_empty() {
        cors::vary(headers);
    }
    if let Some(origin) = guest {
        cors::open(headers, origin);
    }
    response
}

fn check(rules: &ServerRules, address: IpAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        let said = "the request must name its host once";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_host", said).about("host"));
    };
    let here =
        |authority: &Authority<'_>| is_here(address, &authority.host) || is_named(rules, &authority.host);
    let host = host.to_str().ok().and_then(Authority::parse).filter(here);
    // In HTTP, an authority in the request line replaces the `Host` header. If both are present, both must be correct.
    let first_line = uri.authority().map(|authority| Authority::parse(authority.as_str()).filter(here));
    let (Some(host), None | Some(Some(_))) = (host, first_line) else {
        let said = "the request is meant for another host";
        return Err(Problem::new(StatusCode::FORBIDDEN, "wrong_host", said)
            .about("host")
            .hinting("use the address that the server listens on, or add the host to server.allowed_hosts"));
    };
    if cors::allowed(rules, headers).is_none() {
        for origin in headers.get_all(ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| is_own(rules, &host, origin)) {
                let said = "pages of other sites may not call this server";
                return Err(Problem::new(StatusCode::FORBIDDEN, "wrong_origin", said)
                    .about("origin")
                    .hinting("to allow the site, add it to server.cors_origins"));
            }
        }
    }
    readable(uri.query().unwrap_or_default())
}

/// Refuses a query with bytes that are not text, which would otherwise be replaced silently.
fn readable(query: &str) -> Result<(), Problem> {
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_text = |part: &str| percent_decode_str(part).decode_utf8().is_ok();
        if !is_text(name) || !is_text(value) {
            let name = percent_decode_str(name).decode_utf8_lossy();
            let said = format!("`{}` in the query is not UTF-8", preview::short(&name));
            return Err(Problem::new(StatusCode::BAD_REQUEST, "invalid_query", said)
                .about(&name)
                .hinting("encode the text as UTF-8, then each byte as %XX"));
        }
    }
    Ok(())
}

/// A host in the form that `Host` and `Origin` use: only `host [":" port]`. `http::uri::Authority` also accepts a user name
/// before the host, and text after the brackets of an IPv6 address.
#[derive(Debug, PartialEq, Eq)]
struct Authority<'a> {
    host: Host<'a>,
    port: Option<u16>,
}

#[derive(Debug, PartialEq, Eq)]
enum Host<'a> {
    Name(&'a str),
    Ip(IpAddr),
}

impl<'a> Authority<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (ip, rest) = rest.split_once(']')?;
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) };
                (Host::Ip(ip.parse::<Ipv6Addr>().ok()?.into()), port)
            }
            None => {
                let (name, port) =
                    text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
                let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
                if name.is_empty() || !name.bytes().all(is_name) {
                    return None;
                }
                let host = name.parse::<Ipv4Addr>().map_or(Host::Name(name), |ip| Host::Ip(ip.into()));
                (host, port)
            }
        };
        let port = match port {
            None => None,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(port.parse().ok()?),
            Some(_) => return None,
        };
        Some(Self { host, port })
    }

    /// Returns the port, or the default port of the scheme.
    fn port_for(&self, scheme: &str) -> u16 {
        self.port.unwrap_or(if scheme == "https" { 443 } else { 80 })
    }
}

impl Host<'_> {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(one), Self::Name(other)) => one.eq_ignore_ascii_case(other),
            _ => self == other,
        }
    }

    fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name.eq_ignore_ascii_case("localhost"))
    }
}

/// Returns true if a host is this machine under a name that nobody else can redirect: a loopback name, or an IP address.
fn is_here(address: IpAddr, host: &Host<'_>) -> bool {
    match host {
        Host::Name(_) => host.is_localhost(),
        // A server that listens on every address may be called by any of them.
        Host::Ip(ip) => ip.to_canonical().is_loopback() || *ip == address || address.is_unspecified(),
    }
}

/// Returns true if the configuration contains the name of a host.
fn is_named(rules: &ServerRules, host: &Host<'_>) -> bool {
    let Host::Name(host) = host else { return false };
    rules.allowed_hosts.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Returns true if an origin is the origin of this server: the server's scheme, and the host and port of the request.
fn is_own(rules: &ServerRules, host: &Authority<'_>, origin: &str) -> bool {
    let Some((scheme, rest)) = origin.split_once("://") else { return false };
    // For a name in the configuration, a proxy in front of the server may encrypt the connection.
    let speaks = match scheme {
        "https" => rules.tls.is_some() || is_named(rules, &host.host),
        "http" => rules.tls.is_none(),
        _ => false,
    };
    speaks
        && Authority::parse(rest).is_some_and(|origin| {
            origin.host.is(&host.host) && origin.port_for(scheme) == host.port_for(scheme)
        })
}

/// Returns true if browsers must use only encrypted connections to this host in the future. False for `localhost`, because
/// the rule would apply to all servers on this machine, on every port.
fn is_strict(rules: &ServerRules, headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).and_then(Authority::parse);
    rules.tls.is_some() && host.is_some_and(|host| !host.host.is_localhost())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn refused(headers: &[(&'static str, &'static str)]) -> Option<&'static str> {
        refused_by(&ServerRules::default(), headers)
    }

    fn refused_by(rules: &ServerRules, headers: &[(&'static str, &'static str)]) -> Option<&'static str> {
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
        let check = |uri| check(&ServerRules::default(), HERE, &Uri::from_static(uri), &headers);
        assert!(check("http://localhost/mcp").is_ok());
        assert!(check("http://evil.example/mcp").is_err());
    }

    #[test]
    fn a_host_has_no_user_before_it_and_nothing_after_its_brackets() {
        for host in [
            "[::1].evil.example",
            "[::1].evil.example:7777",
            "[::1]evil",
            "[::1]:",
            "[::1]:x",
            "[::1",
            "[127.0.0.1]",
            "evil.example@127.0.0.1",
            "evil.example:80@127.0.0.1",
            "@localhost",
            "localhost:",
            "localhost:99999",
            "localhost:+1",
            "localhost:1:2",
            "localhost/",
            "::1",
        ] {
            assert_eq!(refused(&[("host", host)]), Some("wrong_host"), "{host}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        let uri = Uri::from_static("http://evil.example@127.0.0.1/mcp");
        assert!(check(&ServerRules::default(), HERE, &uri, &headers).is_err(), "neither in the first line");
    }

    #[test]
    fn a_page_of_another_site_is_turned_away() {
        let with = |origin| refused(&[("host", "localhost:7777"), ("origin", origin)]);
        assert_eq!(with("http://localhost:7777"), None);
        assert_eq!(with("http://LOCALHOST:7777"), None);
        for origin in [
            "https://evil.example",
            "null",
            "file://",
            "http://localhost.evil.example",
            "chrome://x",
            "",
            "http://localhost:3000",
            "http://localhost",
            "https://localhost:7777",
            "http://127.0.0.1:7777",
            "http://localhost:7777/",
            "http://evil.example@localhost:7777",
        ] {
            assert_eq!(with(origin), Some("wrong_origin"), "{origin}");
        }
        assert_eq!(refused(&[("host", "127.0.0.1"), ("origin", "http://127.0.0.1:80")]), None);
    }

    #[test]
    fn who_listens_everywhere_is_called_by_any_address_but_not_by_a_name() {
        let everywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let here = |address, host| is_here(address, &Authority::parse(host).expect("a host").host);
        assert!(here(everywhere, "192.168.1.5"));
        assert!(!here(everywhere, "evil.example"));
        assert!(!here(HERE, "192.168.1.5"));
    }

    #[test]
    fn who_listens_everywhere_takes_no_page_of_another_address_or_port() {
        let everywhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let with = |origin: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("192.168.1.5:7777"));
            headers.insert(ORIGIN, HeaderValue::from_static(origin));
            check(&ServerRules::default(), everywhere, &Uri::from_static("/mcp"), &headers)
        };
        assert!(with("http://192.168.1.5:7777").is_ok());
        for origin in
            ["http://10.9.8.7", "http://10.9.8.7:7777", "http://192.168.1.5", "http://192.168.1.5:8080"]
        {
            assert_eq!(with(origin).expect_err("another site").code(), "wrong_origin", "{origin}");
        }
    }

    #[test]
    fn a_query_that_is_no_text_is_refused_by_the_name_of_the_parameter() {
        for query in ["", "a=b&c", "q=caf%C3%A9", "q=100%", "q=%zz&r=+"] {
            assert!(readable(query).is_ok(), "{query}");
        }
        for query in ["q=%ff", "a=b&q=caf%E9", "q=%C3"] {
            let problem = readable(query).expect_err("no text");
            assert_eq!(problem.code(), "invalid_query", "{query}");
            assert!(problem.document(None).contains("\"field\":\"q\""), "{query}");
        }
        assert!(readable("%ff=a").is_err(), "nor a name");
    }

    #[test]
    fn names_and_sites_of_the_configuration_are_let_through_and_none_like_them() {
        let rules = ServerRules {
            allowed_hosts: vec!["memory.lan".to_owned()],
            cors_origins: vec!["https://app.example".to_owned()],
            ..ServerRules::default()
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
