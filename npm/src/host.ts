/** The interface of a host, which performs the requests of programs. */

import type { Outcome, Request } from "./vocabulary.js";

/** One form in which programs write a secret, and its replacement. */
export interface Secret {
  form: string;
  placeholder: string;
}

/** The request of this kind. */
export type Asked<Kind extends Request["do"]> = Extract<Request, { do: Kind }>;

/** A program to run, with the secrets to redact in its log, longer ones before their beginnings. */
export type ProcessRequest = Asked<"process"> & { secrets?: Secret[] };

/** A request to a host. */
export type HostRequest = Exclude<Request, { do: "process" }> | ProcessRequest;

/**
 * Performs requests, one at a time. `NodeHost` is the host for Node; extend it to perform some requests
 * yourself.
 *
 * Paths are absolute or relative to the folder that the program was started in, and use `/`.
 */
export interface Host {
  /**
   * The outcome that the request documents. Throws a `Failure` if the effect did not happen or may have
   * happened. Its kind is `unsupported` if this host cannot perform the request.
   */
  perform(request: HostRequest): Promise<Outcome>;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Ends processes of the program and then releases its locks; called after the program's end. */
  end(): Promise<void>;
}
