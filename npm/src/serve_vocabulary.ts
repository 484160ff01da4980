/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Bytes,
} from "./vocabulary.js";

/** Requests of a program that is a server. Each program has one server. */
export type ServeRequest =
  /**
   * Accepts connections on `127.0.0.1`, which other machines cannot reach → `listening`. The port
   * is taken: `busy`.
   */
  | {
      serve: "listen";
      /** The port; 0: any free port. */
      port: number;
    }
  /**
   * The next call, in the order of arrival → `call`. The host itself rejects calls that are not
   * HTTP, too long, too slow or too many. `not_found` before `listen`.
   */
  | {
      serve: "next";
      /** Longest wait, then `no_call`. `null`: no limit. */
      wait_ms: number | null;
      /**
       * A change in one of these folders also ends the wait, as in `changes`. If the system does
       * not report changes, the wait ends after each second.
       */
      folders: string[];
    }
  /**
   * Answers a call, once → `done`, also after the caller is gone. `not_found`: there is no such
   * call, or it is answered already.
   */
  | {
      serve: "answer";
      /** The call. */
      call: number;
      /** Its answer. */
      answer: CallAnswer;
    }
  /**
   * Sends more of an open answer → `done`; an empty part ends it. The host disconnects a slow
   * reader. `closed`: the reader is gone.
   */
  | {
      serve: "push";
      /** The call. */
      call: number;
      /** The part to send; empty: the end. */
      bytes: Bytes;
    };

/** An answer to a call. Its `Debug` output shows neither headers nor body. */
export interface CallAnswer {
  /** The status. */
  status: number;
  /** Names and values, in addition to those that the host sets. */
  headers: [string, string][];
  /** The body, or its beginning. */
  body: Bytes;
  /** Whether it stays open for `push`. */
  open: boolean;
}

/**
 * A browser's call. Its `Debug` output shows neither headers, body nor names in the target, which
 * may be secrets.
 */
export interface WebCall {
  /** Identifies the call; never used twice. */
  call: number;
  /** `GET`, `POST` or another method. */
  method: string;
  /** Path and query, unchanged. */
  target: string;
  /**
   * Names, in lower case, and values, in the order of arrival; a name may occur more than once.
   * Bytes that are not UTF-8 in a value become U+FFFD.
   */
  headers: [string, string][];
  /** The body, to its end. */
  body: Bytes;
}
