/** What performs the effects that a program asks for. */

import type { Outcome, Request } from "./vocabulary.js";

/** One way in which programs write a secret, and what stands in its place. */
export interface Secret {
  form: string;
  placeholder: string;
}

/** The request of this kind. */
export type Asked<Kind extends Request["do"]> = Extract<Request, { do: Kind }>;

/** A program to run, with what must not get into its log; of secrets that begin alike the longest is first. */
export type ProcessRequest = Asked<"process"> & { secrets?: Secret[] };

/** A request as a host gets it. */
export type HostRequest = Exclude<Request, { do: "process" }> | ProcessRequest;

/**
 * Performs requests, one at a time. A host for Node is `NodeHost`; replace what you want to do
 * yourself in a class that extends it.
 *
 * Paths are absolute or relative to the folder that the program was started in, with `/` between
 * their parts.
 */
export interface Host {
  /**
   * The outcome that the request documents. Throws a `Failure` when the effect did not happen, or
   * when it is unknown whether it did; kind `unsupported` for what this host cannot do.
   */
  perform(request: HostRequest): Promise<Outcome>;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Ends what the program left running and then releases its locks; called when it has ended. */
  end(): Promise<void>;
}
