import type { Diagnostic, Edit, Span } from "./documents.js";
export interface Finding extends Diagnostic {
    unnecessary: boolean;
    related: (Span & {
        message: string;
    })[];
}
export interface Rewrite {
    title: string;
    edits: Edit[];
}
export interface QuickFix extends Rewrite {
    finding: number;
    is_safe: boolean;
}
export interface SymbolPart {
    name: string;
    detail: string;
    kind: "frontmatter" | "step" | "field" | "check";
    span: Span;
    selection: Span;
    children: SymbolPart[];
}
export interface Fold {
    kind: "frontmatter" | "step" | "lines" | "comment";
    span: Span;
}
export interface Hover {
    markdown: string;
    span: Span;
}
export interface Proposal {
    label: string;
    kind: "field" | "value" | "template";
    snippet: string;
    plain: string;
    about: string;
    goes_on: boolean;
    span: Span;
}
export interface NamedStep {
    here: Span;
    number: Span;
    title: Span;
    mentions: Span[];
}
export interface FileLink {
    path: string;
    span: Span;
}
