import type { Edit } from "./documents.js";
import type { FileLink, Finding, Fold, Hover, NamedStep, Proposal, QuickFix, Rewrite, SymbolPart } from "./language_documents.js";
export declare class Language {
    #private;
    findings(path: string, text: string): Finding[];
    quickFixes(path: string, text: string, start: number, end: number): QuickFix[];
    rewrites(path: string, text: string, offset: number): Rewrite[];
    symbols(path: string, text: string): SymbolPart[];
    folds(path: string, text: string): Fold[];
    tokenKinds(): string[];
    tokens(path: string, text: string, start?: number, end?: number): Uint32Array;
    hover(path: string, text: string, offset: number): Hover | undefined;
    proposals(path: string, text: string, offset: number): Proposal[];
    layout(path: string, text: string): Edit[];
    step(path: string, text: string, offset: number): NamedStep | undefined;
    rename(path: string, text: string, offset: number, name: string): Edit[];
    links(path: string, text: string): FileLink[];
}
