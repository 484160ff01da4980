import type { Outcome, Request } from "./vocabulary.js";
export interface Secret {
    form: string;
    placeholder: string;
}
export type Asked<Kind extends Request["do"]> = Extract<Request, {
    do: Kind;
}>;
export type ProcessRequest = Asked<"process"> & {
    secrets?: Secret[];
};
export type HostRequest = Exclude<Request, {
    do: "process";
}> | ProcessRequest;
export interface Host {
    perform(request: HostRequest): Promise<Outcome>;
    nowMs(): number;
    end(): Promise<void>;
}
