//! A page that replays a recording: it shows the program and the effect of each step, forward and
//! back.
//!
//! The page contains the steps as data, each with its changes, and shows only the visible lines.

use crate::recording::Recording;
use crate::{data_element, escape_xml, page};

const SCRIPT: &str = include_str!("replay.js");
const STYLE: &str = include_str!("replay.css");

impl Recording {
    /// Returns the page of a recording with this title. `what` is a word for its kind.
    pub fn html(&self, title: &str, what: &str) -> String {
        let title = escape_xml(title);
        let what = escape_xml(what);
        let data = data_element(&self.json());
        let body = format!(
            "<h1>{title}: {what}</h1>\n\
             <div class=\"bar\">\
             <button type=\"button\" data-key=\"Home\" title=\"First step ( Home )\" aria-label=\"First step\">|\u{25c0}</button>\
             <button type=\"button\" data-key=\"[\" title=\"Previous pass or analysis ( [ )\" aria-label=\"Previous pass or analysis\">\u{25c0}\u{25c0}</button>\
             <button type=\"button\" data-key=\"ArrowLeft\" title=\"Step back ( left arrow )\" aria-label=\"Step back\">\u{25c0}</button>\
             <button type=\"button\" data-key=\" \" title=\"Play, or stop ( Space )\" aria-label=\"Play\" aria-pressed=\"false\">\u{25b6}\u{2016}</button>\
             <button type=\"button\" data-key=\"ArrowRight\" title=\"Step forward ( right arrow )\" aria-label=\"Step forward\">\u{25b6}</button>\
             <button type=\"button\" data-key=\"]\" title=\"Next pass or analysis ( ] )\" aria-label=\"Next pass or analysis\">\u{25b6}\u{25b6}</button>\
             <button type=\"button\" data-key=\"End\" title=\"Last step ( End )\" aria-label=\"Last step\">\u{25b6}|</button>\
             <input type=\"range\" min=\"0\" value=\"0\" step=\"1\" aria-label=\"Step\"> <output></output></div>\n\
             <main><div id=\"program\" tabindex=\"0\" role=\"region\" aria-label=\"Program\"><div></div></div>\n\
             <aside><p role=\"status\"></p><div id=\"what\"></div></aside></main>\n{data}"
        );
        page(&format!("{title}: {what}"), STYLE, &body, SCRIPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_end_the_data() {
        let mut it = Recording::default();
        let evil = it.text("</script><script>alert(1)</script>");
        it.set_program(vec![evil]);
        let page = it.html("<a>", "replay");
        assert_eq!(page.matches("</script>").count(), 2, "{page}");
        assert!(page.contains("<title>&lt;a&gt;: replay</title>"), "{page}");
    }
}
