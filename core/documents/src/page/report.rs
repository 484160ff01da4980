//! The report of a run: the page of `onloop web` in one file, with the facts that it would ask for.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::escaped;
use super::web::{SCRIPT, STYLE};

/// The report of the run `id` as an HTML document, which needs nothing else. `facts` is the JSON that
/// the page reads.
pub fn report_page(id: &str, title: &str, facts: &str) -> String {
    let hash = |content: &str| STANDARD.encode(Sha256::digest(content));
    let (script, style) = (hash(SCRIPT), hash(STYLE));
    let (id, title) = (escaped(id), escaped(title));
    // So no text ends the element that holds it.
    let facts = facts.replace('<', "\\u003c");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} – onloop report</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <div id=\"app\"></div>\n<noscript><p>This report needs its script. In a terminal, run \
         <code>onloop report {id}</code>.</p></noscript>\n\
         <script type=\"application/json\" id=\"facts\">{facts}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_breaks_out_of_its_place() {
        let hostile = "</script><script>alert(1)</script></title><!--";
        let page = report_page(hostile, hostile, &serde_json::json!([hostile]).to_string());
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script").count(), 2);
        assert_eq!(page.matches("</title").count(), 1);
        let from = page.find("id=\"facts\">").expect("it has facts") + 11;
        let facts = &page[from..from + page[from..].find("</script>").expect("they end")];
        assert_eq!(serde_json::from_str::<[String; 1]>(facts).expect("it is JSON"), [hostile]);
    }

    #[test]
    fn script_and_style_end_where_their_elements_do() {
        let lower = SCRIPT.to_lowercase();
        assert!(!lower.contains("</script") && !lower.contains("<script"));
        assert!(!STYLE.to_lowercase().contains("</style") && !SCRIPT.contains('\r'));
    }
}
