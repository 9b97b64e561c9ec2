/**
 * Limits that no operator has a reason to choose. Those on clients and memory hold for all processes of a node together. Tests
 * replace some of them.
 */
export const LIMITS = {
  /** DNS queries in progress. A few sockets carry them; resolvers drop more. */
  dnsInFlight: 1_024,
  /** DNS queries for names that are looked up again regularly: courtesy to the resolver, and 216,000 names a day, each with four. */
  rechecksPerMinute: 600,
  /** Time for one image, on a busy machine too. What takes longer is an attack. */
  imageTimeoutMs: 60_000,
  /** Images that wait to be decoded: a gallery of hundreds, and others while it is served. */
  imageQueue: 1_000,
  /** Memory for the hashes of similar images: some 16 million of them. The accounts used least lose theirs. */
  similarBytes: 512 * 1024 * 1024,
  /** How long, and how many, changes are kept for followers. A follower that is behind by more starts over. */
  changesMs: 30 * 86_400_000,
  changesMax: 2_000_000,
  /** Open event streams. Each holds a connection and some kilobytes. */
  eventStreams: 1_000,
  /** Open connections of one address. Browsers open six, and proxies are trusted. */
  clientConnections: 1_000,
  /** The slowest body that is received, on average over the window: the slowest modems that anybody uses. */
  bodyMinBytesPerSecond: 500,
  bodyRateWindowMs: 30_000,
  /** Log lines about requests of one address in a minute. The others are only counted. */
  clientLogLines: 6_000,
}

export type Limits = typeof LIMITS

/**
 * The steps of a shutdown, in milliseconds after SIGTERM and the drain delay (`--stop-delay`). Each has to come after the
 * one before, and the last one before the supervisor kills the service: 15 seconds in `deploy/`.
 */

/** Idle keep-alive connections are closed. Load balancers probe about every second, and give up at the second failure. */
export const IDLE_GRACE_MS = 2_000

/** Connections with an unfinished request are cut. */
export const CONNECTION_CUT_MS = 7_000

/** The process exits, whatever is left. */
export const PROCESS_EXIT_MS = 9_300

/** The primary kills the workers that are left. */
export const WORKER_KILL_MS = 9_700
