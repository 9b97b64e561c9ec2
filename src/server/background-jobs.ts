import {
  announceFreed,
  hasExpired,
  hasOldDeliveries,
  hasToAnnounce,
  hasToRemind,
  purgeExpired,
  remindOfObjections,
  sweepDeliveries,
  sweepHistory,
  type Feeds,
  type Jobs,
  type Rechecks,
  type Subscriptions,
} from '../domainwatch/index.ts'
import { FOREIGN_STORE, STRANGE_STORE } from '../imagestore/blobs.ts'
import { eraseAddresses, hasExpiredImages } from '../imagestore/image-records.ts'
import type { Imagestore } from '../imagestore/index.ts'
import { InterruptibleSleep } from '../lib/clock.ts'
import { countOf } from '../lib/text.ts'
import { backup, type Backup } from '../operations/transfer/backup.ts'
import type { BackupLocation } from '../storage/blobs/s3/location.ts'
import { lastRuns, recorded, Refusal } from '../operations/transfer/instance.ts'
import { sweepChanges } from '../storage/database/changes/change-log.ts'
import { type LeasedWork, Leases } from '../storage/database/leases.ts'
import type { Context } from './context.ts'

/** A job that a process repeats for as long as it runs. */
interface BackgroundJob {
  readonly name: string
  readonly everyMs: number
  /** Waking it starts the next run early. */
  readonly wakeup?: InterruptibleSleep
  /** Ends soon after `stop` aborts. */
  readonly run: (stop: AbortSignal) => Promise<unknown>
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A backup a day, on one node. One that failed is repeated after an hour. */
function dailyBackups({ blobs, clock, config, database, log }: Context, place: BackupLocation): LeasedWork {
  return {
    name: 'daily backup',
    everyMs: MINUTE,
    pending: async () => {
      const last = (await lastRuns(database)).find(({ kind }) => kind === 'backup')
      if (last === undefined) return true
      const age = clock.now() - last.attempted_at
      // One from the future is of a clock that was ahead.
      return age < 0 || age >= (last.error === null ? DAY : HOUR)
    },
    run: async (signal) => {
      // Called for each page of rows and each image: the process may stop, or have lost its turn.
      const progress = { begin() {}, add: () => signal.throwIfAborted(), end() {} }
      const create = () => backup({ blobs, database }, config, place, { keep: config.backupKeep, progress })
      const toFailure = ({ images: { faultCount } }: Backup) =>
        faultCount === 0 ? undefined : `missing or damaged: ${countOf(faultCount, 'image')}`
      try {
        const { manifest } = await recorded(database, 'backup', create, toFailure, clock)
        log.info({ snapshot: manifest.name }, 'daily backup')
      } catch (error) {
        // A run that is given up is started again immediately, by another process.
        if (signal.aborted) throw error
        const reason = error instanceof Refusal ? error.message : String(error)
        log.error({ reason }, 'daily backup failed')
      }
    },
  }
}

/** How often a process checks for work that one process does for all. */
const POLL_MS = 5_000
/** Younger leftovers may belong to an upload in progress. */
const LEFTOVER_AGE_MS = 60 * MINUTE

/** Work that runs as long as a process holds its lease, or until there is no more. */
interface LastingWork extends Pick<LeasedWork, 'run'> {
  hasWork?(): Promise<boolean>
  readonly wakeup?: InterruptibleSleep
}

/** Runs each job at its interval, and logs those that fail. Returns a function that stops all and waits for the current runs. */
export function startBackgroundJobs(...parts: Parameters<typeof getJobs>): () => Promise<void> {
  const [{ log }] = parts
  const stopping = new AbortController()
  // Runs of one job never overlap.
  const loops = getJobs(...parts).map(async ({ everyMs, name, run, wakeup = new InterruptibleSleep() }) => {
    while (!stopping.signal.aborted) {
      await run(stopping.signal).catch((error: unknown) =>
        log.error({ err: error, job: name }, 'background job failed'),
      )
      await wakeup.sleep(everyMs, stopping.signal)
    }
  })
  return async () => {
    stopping.abort()
    await Promise.all(loops)
  }
}

/** The jobs that each process runs, and those that run on one process of all nodes (leased). */
function getJobs(
  context: Context,
  images: Imagestore,
  { watches }: Subscriptions,
  { rechecks, feeds, jobs }: { rechecks: Rechecks | undefined; feeds: Feeds; jobs: Jobs },
): BackgroundJob[] {
  const { accounts, clock, config, database, log, staging } = context
  const leases = new Leases(database)
  const shared = (work: LeasedWork, wakeup?: InterruptibleSleep): BackgroundJob => ({
    name: work.name,
    everyMs: POLL_MS,
    run: (stop) => leases.run(work, stop),
    ...(wakeup && { wakeup }),
  })
  const lasting = (name: string, work: LastingWork): BackgroundJob =>
    shared(
      {
        name,
        everyMs: 0,
        pending: async () => (await work.hasWork?.()) ?? true,
        run: (signal) => work.run(signal),
      },
      work.wakeup,
    )
  const reminders: LeasedWork = {
    name: 'reminders of the time for objections',
    everyMs: 0,
    pending: () => hasToRemind(database, clock, config.timeZone),
    run: (signal) => remindOfObjections(database, clock, config.timeZone, signal),
  }
  return [
    {
      name: 'sweep of staged files',
      everyMs: 60 * MINUTE,
      run: async () => {
        // Several processes may share the folder, so files may be gone already.
        const staged = await staging.sweep(clock.now(), LEFTOVER_AGE_MS)
        if (staged > 0) log.info({ staged }, 'removed leftovers of interrupted uploads')
      },
    },
    // Each process knows the keys that it was called with.
    { name: 'recording of key uses', everyMs: MINUTE, run: () => accounts.writeUses() },
    { name: 'sample of the figures', everyMs: MINUTE, run: () => context.figures.sample() },
    // Each machine has a folder of its own.
    { name: 'sweep of derivatives', everyMs: 60 * MINUTE, run: (stop) => images.derivatives.sweep(stop) },
    ...sharedWork(context, images).map((work) => shared(work)),
    // Backups and reminders are due soon after the clock was set.
    ...(config.backupTo === undefined ? [] : [shared(dailyBackups(context, config.backupTo), clock.moved)]),
    // Another name than in 0.1, whose nodes would hold the lease during an upgrade and would run the feeds only.
    lasting('delivery to destinations of watches', watches.notifiers),
    lasting('delivery to hooks', images.hooks.notifiers),
    shared(reminders, clock.moved),
    lasting('jobs of accounts', jobs),
    ...(rechecks === undefined ? [] : [lasting('DNS rechecks', rechecks)]),
    ...(feeds.isEmpty ? [] : [lasting('fetch of feeds', feeds)]),
  ]
}

/** Jobs that can be interrupted at any point and repeated, even concurrently. */
function sharedWork(
  { accounts, audit, clock, config, database, limits, log }: Context,
  { originals, store, tickets, ticketUploads }: Imagestore,
): LeasedWork[] {
  return [
    {
      name: 'purge of discarded domains',
      everyMs: 10_000,
      pending: () => hasExpired(database, clock),
      run: (signal) => purgeExpired(database, clock, signal),
    },
    {
      name: 'announcement of free domains',
      everyMs: 10_000,
      pending: () => hasToAnnounce(database, clock),
      run: (signal) => announceFreed(database, clock, signal),
    },
    {
      name: 'sweep of expired images',
      everyMs: 10_000,
      pending: () => hasExpiredImages(database, clock),
      run: (signal) => store.sweepExpired(signal),
    },
    {
      name: 'sweep of expired keys',
      everyMs: 10 * MINUTE,
      run: () => accounts.sweepKeys(),
    },
    {
      name: 'sweep of the audit',
      everyMs: 60 * MINUTE,
      run: (signal) => audit.sweep(signal),
    },
    {
      name: 'sweep of resumable uploads',
      everyMs: 10 * MINUTE,
      run: () => ticketUploads.sweep(),
    },
    {
      name: 'sweep of upload tickets',
      everyMs: 10 * MINUTE,
      run: () => tickets.sweep(),
    },
    {
      name: 'erasure of addresses',
      everyMs: 10 * MINUTE,
      run: (signal) => eraseAddresses(database, clock, config.ipMs, signal),
    },
    {
      name: 'sweep of removed images',
      everyMs: MINUTE,
      pending: async () => (await store.waitingRemovals()) > 0,
      run: (signal) => store.sweepRemovals(signal),
    },
    {
      name: 'sweep of old changes',
      everyMs: 10 * MINUTE,
      run: () => sweepChanges(database, clock, { maxAgeMs: limits.changesMs, maxCount: limits.changesMax }),
    },
    {
      name: 'sweep of the history of deleted domains',
      everyMs: 10 * MINUTE,
      run: (signal) => sweepHistory(database, clock, config.historyMs, signal),
    },
    {
      name: 'sweep of old deliveries of watches',
      everyMs: 10 * MINUTE,
      pending: () => hasOldDeliveries(database, clock),
      run: (signal) => sweepDeliveries(database, clock, signal),
    },
    { name: 'check of originals', everyMs: 60 * MINUTE, run: (signal) => originals.run(signal) },
    {
      name: 'sweep of images without a record',
      everyMs: 60 * MINUTE,
      run: async (signal) => {
        const sweep = await store.sweepOrphans(LEFTOVER_AGE_MS, signal)
        switch (sweep.kind) {
          case 'swept':
            if (sweep.removed > 0)
              log.info({ orphans: sweep.removed }, 'removed leftovers of interrupted uploads')
            return
          case 'foreign':
            return log.error({ owner: sweep.owner }, FOREIGN_STORE)
          case 'strange':
            return log.error({}, STRANGE_STORE)
        }
      },
    },
  ]
}
