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
