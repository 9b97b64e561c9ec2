import { join, resolve } from 'node:path'
import { makeFolder } from '../lib/private-files.ts'
import { reportFault, type OpenInstance } from '../operations/transfer/instance.ts'
import { keepBeforeUpgrade } from '../server/before-upgrade.ts'
import type { Config } from '../server/config/config.ts'
import { openDatabase } from '../server/open-database.ts'
import { openBlobs } from '../storage/blobs/open.ts'
import { Staging } from '../storage/blobs/staging.ts'
import type { OpenOptions } from '../storage/database/database.ts'

/** Returns a controller that aborts at SIGTERM or SIGINT. A second signal ends the process. */
export function abortOnSignal(): AbortController {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())
  return stopping
}

/** Options of commands that upgrade an older database: they keep it as it was, and report it. */
export function upgrading(config: Config): Pick<OpenOptions, 'beforeMigration' | 'onMigrated'> {
  const report = (text: string) => console.error(`catalejo: ${text}`)
  return {
    beforeMigration: keepBeforeUpgrade(config, { info: report, warn: report }),
    onMigrated: (from, to) => report(`migrated the database from schema ${from} to ${to}`),
  }
}

/** Opens the database and images of an instance, without the service. */
export const openInstance: OpenInstance = async (location, options = {}) => {
  const data = resolve(location.data)
  if (options.existing !== true) await makeFolder(data)
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await openDatabase(location, options))
  const staging = await Staging.open(join(data, 'staging'), { flush: location.blobsUrl === undefined })
  const blobs = opening.use(await openBlobs(location.blobsUrl, join(data, 'blobs'), staging, reportFault))
  const opened = opening.move()
  return { database, blobs: blobs.store, staging, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
