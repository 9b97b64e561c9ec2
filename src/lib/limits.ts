const KIB = 1024
const MIB = 1024 * KIB

/**
 * The limits of the pools that clients share. Each is a `Gate` (tasks that run and tasks that wait), or a `ByteBudget` (bytes in
 * memory), and has no rules of its own. Those of decoding, deliveries and S3 depend on settings. docs/operations/limits.md is the
 * same table for operators.
 */
export const POOLS = {
  /** Requests that begin in one turn of the event loop, about a millisecond of work. */
  requests: { running: 32, waiting: 25_000 },
  /** Request bodies that are being received or processed, and what is reserved for small ones. */
  bodies: { bytes: 320 * MIB, reservedBytes: 16 * MIB, smallBytes: 256 * KIB },
  /** Responses that clients do not read as fast as they request them. */
  responses: { bytes: 128 * MIB },
  /** Bodies that are parsed in other threads. */
  parsing: { waiting: 1_024, waitMs: 30_000 },
  /** Transactions. In shorter turns, clients that store small batches would wait for a large one too often. */
  writes: { waiting: 1_000, waitMs: 15_000, turnMs: 300 },
  /** Small reads of a database behind a socket. */
  reads: { waiting: 4_096, waitMs: 5_000 },
  /** Reads of the database that may visit many rows. */
  scans: { waiting: 256, waitMs: 15_000 },
  /** Work in slices on the event loop: searches, statistics, Atom feeds, pages with many fields. */
  searches: { running: 6, perClient: 2, waiting: 256, waitMs: 15_000 },
  /** Claims of the queue. While one transaction commits, the next ones search. One of an account at a time. */
  claims: { running: 4, perClient: 1, waiting: 1_000, waitMs: 15_000 },
  /** Lists of feeds that are imported, and as many of members. Each feed and each account imports one at a time. */
  imports: { running: 3, waiting: 1_000 },
  /** Exports, and as many bulk calls of `dns`: answers that are streamed for a while. */
  streams: { running: 32, perClient: 8, waiting: 0 },
  /** Pages of changes for event streams and watches, of which each waits for one at most. */
  changes: { running: 2, perClient: 1, waiting: 100_000 },
  /** Links whose image has to be rendered. One address may wait for more than a gallery shows. */
  links: { waiting: 10_000, waitingPerClient: 200 },
  /** Requests to a remote store of images, bodies that are passed on at the pace of clients, and bytes that are being stored. */
  objects: {
    requests: 64,
    requestsPerClient: 32,
    streams: 256,
    streamsPerAddress: 32,
    putBytes: 128 * MIB,
    waiting: 256,
    waitMs: 5_000,
  },
  /** DNS look-ups of single calls. Those of bulk calls wait until the last one has ended if no server answers. */
  lookups: { waiting: 4_096, waitMs: 2_000, bulkWaitMs: 600_000 },
}

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
