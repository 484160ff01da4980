import type { Bytes } from "./vocabulary.js";
export type ServeRequest = {
    serve: "listen";
    port: number;
} | {
    serve: "next";
    wait_ms: number | null;
    folders: string[];
} | {
    serve: "answer";
    call: number;
    answer: CallAnswer;
} | {
    serve: "push";
    call: number;
    bytes: Bytes;
};
export interface CallAnswer {
    status: number;
    headers: [
        string,
        string
    ][];
    body: Bytes;
    open: boolean;
}
export interface WebCall {
    call: number;
    method: string;
    target: string;
    headers: [
        string,
        string
    ][];
    body: Bytes;
}
