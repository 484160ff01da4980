/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Bytes,
} from "./vocabulary.js";

/** What a program that is a server asks of its host. There is one server for each program. */
export type ServeRequest =
  /**
   * Accepts connections on `127.0.0.1`, where nobody else's machine reaches it → `listening`. The
   * port is taken: `busy`.
   */
  | {
      serve: "listen";
      /** The port; 0: one that is free. */
      port: number;
    }
  /**
   * The next call, in the order in which they came → `call`. What is no HTTP, is too long, too slow
   * or too many at once is turned away by the host and never gets here. `not_found` before
   * `listen`.
   */
  | {
      serve: "next";
      /** Longest wait; then: `no_call`. `null`: no limit. */
      wait_ms: number | null;
      /**
       * The wait is over, too, when something in one of these folders may have changed, as with
       * `changes`. Where the system does not tell of changes, something may have changed whenever a
       * second has passed.
       */
      folders: string[];
    }
  /**
   * Answers a call, once → `done`, also when nobody waits for the answer any more. `not_found`:
   * there is no such call, or it has its answer.
   */
  | {
      serve: "answer";
      /** The call. */
      call: number;
      /** Its answer. */
      answer: CallAnswer;
    }
  /**
   * Sends more of an answer that is open → `done`; nothing: it ends. Whoever reads too slowly is
   * disconnected. `closed`: nobody reads it any more.
   */
  | {
      serve: "push";
      /** The call. */
      call: number;
      /** What is sent, at once; empty: that was all. */
      bytes: Bytes;
    };

/** An answer to a call. Its `Debug` output shows neither headers nor body. */
export interface CallAnswer {
  /** The status. */
  status: number;
  /** Names and values, in addition to those that follow from the rest. */
  headers: [string, string][];
  /** The body, or its beginning. */
  body: Bytes;
  /** Whether it stays open for `push`. */
  open: boolean;
}

/**
 * What a browser wants. Its `Debug` output shows neither headers nor body, nor what the target
 * names: they may hold secrets.
 */
export interface WebCall {
  /** Names it in the answer. Never used twice. */
  call: number;
  /** `GET`, `POST` or any other word. */
  method: string;
  /** Path and query, as they came. */
  target: string;
  /**
   * Names, in small letters, and values, in the order in which they came; one name may come more
   * than once. What is not UTF-8 in a value becomes U+FFFD.
   */
  headers: [string, string][];
  /** The body, to its end. */
  body: Bytes;
}
