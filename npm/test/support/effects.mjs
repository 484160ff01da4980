// Requests to a host, with defaults for members that a test does not set.

/** The requests of a host as functions: `effects(host).read({ path, limit_bytes })`. */
export const effects = (host) =>
  new Proxy({}, { get: (_, kind) => (members) => host.perform({ ...DEFAULTS[kind], do: kind, ...members }) });

/** The requests of a host about the repository around `cwd`. */
export const git = (host, cwd) =>
  new Proxy({}, { get: (_, kind) => (members) => host.perform({ do: "git", git: kind, cwd, ...members }) });

/** The members of a line for a shell. */
export const shell = (line, members) => ({ command: { shell: "sh", line }, ...members });

const DEFAULTS = {
  write: { expect: "any", durable: false, private: false },
  append: { durable: true, private: false },
  lock: { wait_ms: 0, private: false },
  wait: { wake_after_ms: null, wake_on_input: false, activity: null },
  end_group: { mark: null },
  process: {
    cwd: ".",
    env_remove: [],
    env_set: {},
    stdin: null,
    timeout_ms: null,
    capture_bytes: 1000,
    stream_to: null,
    private: false,
    label: null,
    interactive: false,
    wake_after_ms: null,
    wake_on_input: false,
    wake_on_lines: false,
    announce: false,
  },
};
