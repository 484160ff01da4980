use serde_json::json;

use super::*;

/// A text, the path of a container in it, and the text with an entry in that container.
const APPENDED: &[(&str, &[usize], &str)] = &[
    ("{}", &[], "{\n  \"k\": 1\n}"),
    ("{\n}\n", &[], "{\n  \"k\": 1\n\n}\n"),
    ("\u{feff}{ // none\r\n}", &[], "\u{feff}{\r\n  \"k\": 1\r\n // none\r\n}"),
    ("{\n\t\"a\": 2\n}\n", &[], "{\n\t\"a\": 2,\n\t\"k\": 1\n}\n"),
    ("{ \"a\": 2 }", &[], "{ \"a\": 2,\n  \"k\": 1 }"),
    ("{\n    \"a\": 2, // two\n}", &[], "{\n    \"a\": 2, // two\n    \"k\": 1,\n}"),
    ("{\n  \"a\": 2 /* x */ // two\n}", &[], "{\n  \"a\": 2, /* x */ // two\n  \"k\": 1\n}"),
    ("{\n  \"a\": {}\n}", &[0], "{\n  \"a\": {\"k\": 1}\n}"),
    ("{\"a\": {\"b\":2}}", &[0], "{\"a\": {\"b\":2,\n  \"k\": 1}}"),
];

#[test]
fn what_is_appended_is_removed_to_the_byte() {
    for (text, path, expected) in APPENDED {
        let appended = append(text, path, Some("k"), &json!(1));
        assert_eq!(appended, *expected);
        let root = parse(&appended).unwrap();
        let place = root.at(path).member("k").unwrap().0;
        assert_eq!(remove(&appended, &[path, &[place][..]].concat()), *text);
    }
}

#[test]
fn containers_that_were_made_for_an_entry_go_with_it() {
    let table: [(&str, &[usize], &str); 4] = [
        ("{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}", &[1, 0], "{\n  \"a\": 1\n}"),
        ("{\n  \"a\": 1,\n  \"b\": [2]\n}", &[1, 0], "{\n  \"a\": 1,\n  \"b\": []\n}"),
        ("[1, /* one */ 2, 3]", &[0], "[ /* one */ 2, 3]"),
        ("[1 /* one */, 2]", &[0], "[ /* one */ 2]"),
    ];
    for (text, path, expected) in table {
        assert_eq!(remove(text, path), expected);
    }
}

#[test]
fn errors_name_the_line_and_the_problem() {
    let deep = "[".repeat(200);
    let table = [
        ("", "line 1: found the end, expected a value"),
        ("{\n \"a\": 1\n \"b\": 2}", "line 3: found `\"`, expected `,` or `}`"),
        ("{a: 1}", "line 1: found `a`, expected a key in double quotes"),
        ("{\"a\" 1}", "line 1: found `1`, expected `:`"),
        ("{\"a\": 1, \"\\u0061\": 2}", "line 1: `a` is given twice"),
        ("{} x", "line 1: found `x`, expected the end of the document"),
        ("{,}", "line 1: found `,`, expected a key in double quotes"),
        ("[1,,2]", "line 1: found `,`, expected a value"),
        ("[\"a", "line 1: unterminated string"),
        ("[\"\\q\"]", "line 1: not a valid JSON string"),
        ("/* x", "line 1: unterminated comment"),
        ("[nul]", "line 1: found `n`, expected a value"),
        (&deep, "line 1: nested too deeply"),
    ];
    for (text, expected) in table {
        let ParseError { line, problem } = parse(text).unwrap_err();
        assert_eq!(format!("line {line}: {problem}"), expected, "{text}");
    }
}

#[test]
fn values_are_what_json_says_they_are() {
    let text =
        "\u{feff}// c\n{\"a\": [1, -2.5e3, true, null, \"\\u0041\\\"\", [], {},], /**/ }\n//";
    let expected = json!({ "a": [1, -2.5e3, true, null, "A\"", [], {}] });
    assert_eq!(parse(text).unwrap().to_value(), expected);
}
