//! The graph of the steps as SVG.

use super::html::{class_of, escaped};
use crate::board::GraphView;

/// The drawing, with a description for those who cannot see it.
pub(super) fn drawn(graph: &GraphView) -> String {
    let GraphView { width, height, label, .. } = graph;
    let mut out = format!(
        "<svg class=\"graph\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{}\">\n",
        escaped(label)
    );
    for line in &graph.lines {
        out += &format!("<path d=\"{line}\"/>\n");
    }
    for step in &graph.steps {
        let (number, x, y) = (step.number, step.x, step.y);
        let (class, title) = (class_of(step.symbol), escaped(&step.title));
        out += &format!(
            "<g class=\"{class}\"><title>{title}</title>\
             <circle cx=\"{x}\" cy=\"{y}\" r=\"11\"/><text x=\"{x}\" y=\"{y}\">{number}</text></g>\n"
        );
    }
    out + "</svg>\n"
}
