import { openDatabase } from '../server/open-database.ts'
import type { Change } from '../storage/database/changes/change.ts'
import type { Options } from './options.ts'

const PAGE = 500

/**
 * `catalejo changes`: prints what was changed, by whom and when, one JSON line per change, from the oldest or after `--since`.
 * With `--follow yes` it waits for more until it is stopped. Works while the service runs. Exits with 3 if changes after
 * the cursor have been removed.
 */
export async function changes({ config, own }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())
  // The reader has closed the pipe.
  process.stdout.once('error', () => stopping.abort())
  let cursor: string = own['since'] ?? (await database.changes.start())
  if (own['follow'] === 'yes') {
    for await (const change of database.changes.follow(cursor, stopping.signal)) {
      if (change === 'gap') return gap()
      await print(change)
    }
    return
  }
  for (;;) {
    const page = await database.changes.since(cursor, PAGE)
    if (page.kind === 'gap') return gap()
    for (const change of page.changes) await print(change)
    if (page.cursor === cursor || stopping.signal.aborted) return
    cursor = page.cursor
  }
}

/** Waits while the output buffer is full. */
async function print(change: Change): Promise<void> {
  if (process.stdout.write(`${JSON.stringify(change)}\n`)) return
  await new Promise<void>((resolve) => {
    process.stdout.once('drain', resolve).once('error', () => resolve())
  })
}

function gap(): void {
  console.error('catalejo: the changes after this cursor were deleted; start without --since')
  process.exitCode = 3
}
