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
