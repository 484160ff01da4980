//! Calls as text: `GET /path | header: value | header: value | body`.

use super::*;

const PORT: u16 = 8787;
const ORIGIN: &str = "http://127.0.0.1:8787";

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(1_795_424_400_000 + minutes * 60_000)
}

fn guard() -> AuthGuard {
    AuthGuard::new(PORT, vec![7; 32], Outside::read("https://box.example:444/"))
}

fn call(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> WebCall {
    WebCall {
        call: 1,
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
        body: body.as_bytes().to_vec().into(),
    }
}

const HOST: (&str, &str) = ("host", "127.0.0.1:8787");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// A guard with one browser that is signed in, and its cookie as the browser sends it back.
fn signed_in() -> (AuthGuard, String) {
    let mut guard = guard();
    let key = guard.new_key(at(0));
    let set = guard.sign_in(at(0), &key, false).unwrap();
    let sent = set.split(';').next().unwrap().to_owned();
    (guard, sent)
}

/// A change that is all right, with these headers in place of the usual ones of the same name.
fn change(
    guard: &mut AuthGuard,
    cookie: &str,
    headers: &[(&str, &str)],
) -> Result<Admitted, Rejected> {
    let session = SignedIn(digest(cookie.strip_prefix("onloop=").unwrap_or("").as_bytes()));
    let token = guard.form_token(session, "/out");
    let usual = [HOST, FORM, ("origin", ORIGIN), ("cookie", cookie)];
    let kept = usual.iter().filter(|(name, _)| headers.iter().all(|(other, _)| other != name));
    let all: Vec<(&str, &str)> =
        kept.chain(headers).copied().filter(|(_, value)| !value.is_empty()).collect();
    let target = format!("{}/out", guard.root());
    guard.judge(at(1), &call("POST", &target, &all, &format!("form={token}")))
}

#[test]
fn a_key_is_exchanged_once_and_soon() {
    let mut guard = guard();
    assert!(!guard.has_key(at(0)));
    let first = guard.new_key(at(0));
    assert!(first.starts_with("olw_") && first.len() == 68, "{first}");
    let second = guard.new_key(at(0));
    assert_ne!(first, second);
    assert_eq!(guard.sign_in(at(1), &first, false), None, "a newer one takes its place");
    assert_eq!(guard.sign_in(at(1), "", false), None);
    let cookie = guard.sign_in(at(1), &second, false).unwrap();
    let root = guard.root();
    let (value, attributes) = cookie.split_once("; ").unwrap();
    assert!(value.starts_with("onloop=olw_"), "{cookie}");
    assert_eq!(attributes, format!("Path={root}/; HttpOnly; SameSite=Strict"));
    assert_eq!(guard.sign_in(at(1), &second, false), None, "it was used");
    let third = guard.new_key(at(1));
    assert!(guard.has_key(at(10)));
    assert_eq!(guard.sign_in(at(11), &third, false), None, "it is too old");
    let fourth = guard.new_key(at(11));
    assert!(guard.sign_in(at(12), &fourth, true).unwrap().ends_with("; Secure"));
}

#[test]
fn looking_at_the_link_uses_nothing_up() {
    let mut guard = guard();
    let key = guard.new_key(at(0));
    for _ in 0..3 {
        let looked = guard.judge(at(1), &call("GET", &format!("/in/{key}"), &[HOST], ""));
        assert_eq!(looked, Ok(Admitted::SignInPage { key: key.clone() }));
    }
    let late = guard.judge(at(11), &call("GET", &format!("/in/{key}"), &[HOST], ""));
    assert_eq!(late, Err(Rejected::SignedOut));
    let wrong = guard.judge(at(1), &call("GET", "/in/olw_0", &[HOST], ""));
    assert_eq!(wrong, Err(Rejected::SignedOut));
    let body = format!("key={key}");
    let headers = [HOST, FORM, ("origin", ORIGIN)];
    let posted = guard.judge(at(1), &call("POST", "/in", &headers, &body));
    assert_eq!(posted, Ok(Admitted::SignIn { key, is_https: false }));
}

#[test]
fn only_our_names_are_answered() {
    let (mut guard, cookie) = signed_in();
    let target = format!("{}/", guard.root());
    let table = [
        ("127.0.0.1:8787", true),
        ("localhost:8787", true),
        ("LOCALHOST:8787", true),
        ("box.example:444", true),
        ("box.example", false),
        ("127.0.0.1", false),
        ("127.0.0.1:80", false),
        ("evil.example:8787", false),
        ("localhost.evil.example:8787", false),
        ("127.0.0.1:8787.evil.example", false),
        ("", false),
    ];
    for (host, expected) in table {
        let judged =
            guard.judge(at(1), &call("GET", &target, &[("host", host), ("cookie", &cookie)], ""));
        assert_eq!(judged.is_ok(), expected, "{host}: {judged:?}");
        if !expected {
            assert_eq!(judged, Err(Rejected::Host), "{host}");
        }
    }
    let twice = [HOST, ("host", "evil.example"), ("cookie", &cookie)];
    assert_eq!(guard.judge(at(1), &call("GET", &target, &twice, "")), Err(Rejected::Host));
    assert_eq!(guard.judge(at(1), &call("GET", "/style.css", &[], "")), Err(Rejected::Host));
}

#[test]
fn nothing_is_seen_without_the_cookie_and_the_place() {
    let (mut guard, cookie) = signed_in();
    let root = guard.root();
    let table = [
        (format!("{root}/"), cookie.as_str(), true),
        (
            format!("{root}/run/x?from=2"),
            "a=b; onloop=olw_other; CO".trim_end_matches("; CO"),
            false,
        ),
        (format!("{root}/"), "", false),
        (format!("{root}/"), "onloop=", false),
        (format!("{root}/"), "other=x", false),
        ("/".to_owned(), &cookie, false),
        (root.clone(), &cookie, false),
        (format!("{root}x/"), &cookie, false),
        ("/run/x".to_owned(), &cookie, false),
    ];
    for (target, sent, expected) in table {
        let judged = guard.judge(at(1), &call("GET", &target, &[HOST, ("cookie", sent)], ""));
        assert_eq!(judged.is_ok(), expected, "{target}: {judged:?}");
        if !expected {
            assert_eq!(judged, Err(Rejected::SignedOut));
        }
    }
    // Another server of this machine may have set a cookie of the same name.
    let both = format!("onloop=theirs; {cookie}");
    let target = format!("{root}/run/x?from=2");
    let judged = guard.judge(at(1), &call("GET", &target, &[HOST, ("cookie", &both)], "")).unwrap();
    let Admitted::See { path, query, .. } = judged else { panic!("{judged:?}") };
    assert_eq!((path.as_str(), query.as_str()), ("/run/x", "from=2"));
    let other = AuthGuard::new(PORT, vec![8; 32], None);
    assert_ne!(other.root(), root);
    let theirs = [
        HOST,
        ("cookie", cookie.as_str()),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "no-cors"),
    ];
    let judged = guard.judge(at(1), &call("GET", &format!("{root}/"), &theirs, ""));
    assert_eq!(judged, Err(Rejected::Origin));
}

#[test]
fn only_a_form_of_ours_changes_something() {
    let (mut guard, cookie) = signed_in();
    assert!(matches!(change(&mut guard, &cookie, &[]), Ok(Admitted::Change { .. })));
    let same = [("sec-fetch-site", "same-origin")];
    assert!(matches!(change(&mut guard, &cookie, &same), Ok(Admitted::Change { .. })));
    let table: [(&[(&str, &str)], Rejected); 12] = [
        (&[("host", "evil.example:8787")], Rejected::Host),
        (&[("origin", "")], Rejected::Origin),
        (&[("origin", "null")], Rejected::Origin),
        (&[("origin", "http://evil.example")], Rejected::Origin),
        (&[("origin", "http://127.0.0.1:3000")], Rejected::Origin),
        (&[("origin", "https://127.0.0.1:8787")], Rejected::Origin),
        (&[("host", "localhost:8787")], Rejected::Origin),
        (&[("sec-fetch-site", "cross-site")], Rejected::Origin),
        (&[("sec-fetch-site", "same-site")], Rejected::Origin),
        (&[("sec-fetch-site", "none")], Rejected::Origin),
        (&[("content-type", "text/plain")], Rejected::Malformed),
        (&[("cookie", "onloop=olw_0")], Rejected::SignedOut),
    ];
    for (headers, expected) in table {
        assert_eq!(change(&mut guard, &cookie, headers), Err(expected), "{headers:?}");
    }
}

#[test]
fn a_form_is_good_for_one_browser_and_one_purpose() {
    let (mut guard, cookie) = signed_in();
    let key = guard.new_key(at(0));
    let second = guard.sign_in(at(0), &key, false).unwrap();
    let second = second.split(';').next().unwrap().to_owned();
    let session =
        |cookie: &str| SignedIn(digest(cookie.strip_prefix("onloop=").unwrap().as_bytes()));
    let target = format!("{}/run/a/gate", guard.root());
    let headers = [HOST, FORM, ("origin", ORIGIN), ("cookie", cookie.as_str())];
    let table = [
        (guard.form_token(session(&cookie), "/run/a/gate"), true),
        (guard.form_token(session(&second), "/run/a/gate"), false),
        (guard.form_token(session(&cookie), "/run/b/gate"), false),
        (String::new(), false),
    ];
    for (token, expected) in table {
        let judged = guard.judge(at(1), &call("POST", &target, &headers, &format!("form={token}")));
        assert_eq!(judged.is_ok(), expected, "{judged:?}");
        if !expected {
            assert_eq!(judged, Err(Rejected::Fields));
        }
    }
}

#[test]
fn who_has_signed_out_or_stays_away_is_out() {
    let (mut guard, cookie) = signed_in();
    let root = guard.root();
    let look = |guard: &mut AuthGuard, minutes: i64| {
        guard
            .judge(at(minutes), &call("GET", &format!("{root}/"), &[HOST, ("cookie", &cookie)], ""))
    };
    assert!(look(&mut guard, 11 * 60).is_ok());
    assert!(look(&mut guard, 22 * 60).is_ok(), "a call prolongs the session");
    assert_eq!(look(&mut guard, 35 * 60), Err(Rejected::SignedOut));
    let (mut guard, cookie) = signed_in();
    let Ok(Admitted::Change { session, .. }) = change(&mut guard, &cookie, &[]) else {
        panic!("it is a change");
    };
    assert!(guard.sign_out(session).starts_with("onloop=; Path=/"));
    assert_eq!(change(&mut guard, &cookie, &[]), Err(Rejected::SignedOut));
}

#[test]
fn the_seventeenth_browser_signs_out_the_first() {
    let (mut guard, first) = signed_in();
    for _ in 0..limits::WEB_SESSIONS {
        let key = guard.new_key(at(0));
        guard.sign_in(at(0), &key, false).unwrap();
    }
    assert_eq!(guard.open.len(), limits::WEB_SESSIONS);
    assert_eq!(change(&mut guard, &first, &[]), Err(Rejected::SignedOut));
}

#[test]
fn who_stays_away_makes_room_before_anybody_is_signed_out() {
    let (mut guard, first) = signed_in();
    for _ in 1..limits::WEB_SESSIONS {
        let key = guard.new_key(at(0));
        guard.sign_in(at(0), &key, false).unwrap();
    }
    // Only the first comes again, and the others are out when the next one signs in.
    let target = format!("{}/", guard.root());
    let look = call("GET", &target, &[HOST, ("cookie", &first)], "");
    let Ok(Admitted::See { session, .. }) = guard.judge(at(11 * 60), &look) else {
        panic!("it is signed in");
    };
    let key = guard.new_key(at(13 * 60));
    guard.sign_in(at(13 * 60), &key, false).unwrap();
    assert_eq!(guard.open.len(), 2);
    assert!(guard.is_signed_in(at(13 * 60), session));
    assert!(!guard.is_signed_in(at(23 * 60), session), "it has stayed away, too");
}

#[test]
fn nothing_but_get_and_post_is_understood() {
    let mut guard = guard();
    for method in ["HEAD", "PUT", "DELETE", "OPTIONS", "get", ""] {
        assert_eq!(guard.judge(at(0), &call(method, "/", &[HOST], "")), Err(Rejected::Method));
    }
    for target in ["", "*", "http://127.0.0.1:8787/"] {
        assert_eq!(guard.judge(at(0), &call("GET", target, &[HOST], "")), Err(Rejected::Malformed));
    }
}

#[test]
fn addresses_of_proxies_are_names_and_nothing_more() {
    let table = [
        ("https://box.example.ts.net", Some(("https", "box.example.ts.net"))),
        ("https://Box.Example:8443/", Some(("https", "box.example:8443"))),
        ("http://10.0.0.1:8080", Some(("http", "10.0.0.1:8080"))),
        ("box.example", None),
        ("https://", None),
        ("https://box.example/path", None),
        ("https://me@box.example", None),
        ("ftp://box.example", None),
    ];
    for (address, expected) in table {
        let expected = expected.map(|(scheme, host)| Outside { scheme, host: host.to_owned() });
        assert_eq!(Outside::read(address), expected, "{address}");
    }
}
