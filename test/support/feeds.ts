import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccounts } from '../../src/accounts/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openDatabase } from '../../src/storage/database/open.ts'
import { databaseFor } from './engine.ts'
import { eventually } from './eventually.ts'
import { call } from './http.ts'
import { startService, type TestService, type TestServiceOptions } from './service.ts'

export const FEEDS = '/api/v1/domainwatch/feeds'

export interface FeedState {
  readonly name: string
  readonly last_attempt: string | null
  readonly last_success: string | null
  readonly last_change: string | null
  readonly read: number | null
  readonly changed: number | null
  readonly refused: number | null
  readonly error: string | null
  readonly stale: number
}

/** Writes the file of the setting `feeds` and returns its path. */
export async function feedsFile(folder: string, feeds: unknown): Promise<string> {
  const path = join(folder, 'feeds.json')
  await writeFile(path, JSON.stringify(feeds))
  return path
}

export async function feedStates(service: TestService): Promise<readonly FeedState[]> {
  const { body } = await call(service, FEEDS, { query: { api: service.domainKey } })
  return Object(body).data
}

/** Resolves when each feed was fetched, or failed, once. */
export const allAttempted = (service: TestService) =>
  eventually(
    async () =>
      (await feedStates(service)).every(({ last_success, error }) => last_success !== null || error !== null),
    'every feed was fetched',
  )

/** A service whose account `grupo` exists before it starts to fetch. */
export async function startWithFeeds(options: TestServiceOptions): Promise<TestService> {
  const data = await mkdtemp(join(tmpdir(), 'catalejo-test-'))
  const { url: databaseUrl } = await databaseFor(data)
  const database = await openDatabase({ data, databaseUrl })
  await createAccounts(database, options.clock ?? systemClock).createKey('grupo', 'domainwatch')
  await database.close()
  return startService({ ...options, data })
}
