import { openDatabase } from '../server/context.ts'
import { createLog } from '../lib/log.ts'
import type { Change } from '../storage/database/changes/change.ts'
import type { Options } from './options.ts'

const PAGE = 500

/**
 * `catalejo changes`: what was changed, by whom and when, a JSON line each, from the oldest that is kept or after
 * `--since`; with `--follow yes` also what comes, until it is stopped. Works beside a running service. Exits 3 when changes
 * after the cursor are not kept any more.
 */
export async function changes({ config, own }: Options): Promise<void> {
  const database = await openDatabase(config, undefined, createLog('silent'), { existing: true })
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())
  // Whoever read it has gone.
  process.stdout.once('error', () => stopping.abort())
  try {
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
  } finally {
    await database.close()
  }
}

/** No faster than it is read. */
async function print(change: Change): Promise<void> {
  if (process.stdout.write(`${JSON.stringify(change)}\n`)) return
  await new Promise<void>((resolve) => {
    process.stdout.once('drain', resolve).once('error', () => resolve())
  })
}

function gap(): void {
  console.error('catalejo: changes after this cursor are not kept any more; begin without --since')
  process.exitCode = 3
}
