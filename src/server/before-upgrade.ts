import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isErrorCode } from '../lib/errors.ts'
import { backup } from '../operations/transfer/backup.ts'
import { openInstance, Refusal } from '../operations/transfer/instance.ts'
import { openPlace, readManifest, snapshotsIn } from '../operations/transfer/place.ts'
import type { BackupLocation } from '../storage/blobs/s3/location.ts'
import { SCHEMA } from '../storage/database/migrations/index.ts'
import { copySqlite, schemaVersionAt } from '../storage/database/sqlite/connection.ts'
import type { OpenOptions } from '../storage/database/database.ts'
import type { Config } from './config/config.ts'

interface Report {
  info(text: string): void
  warn(text: string): void
}

/**
 * Returns what keeps a database as it is before its schema is upgraded, as the way back to the former version: SQLite's file in
 * the data folder, PostgreSQL's contents in the place of the regular backups. It rejects if that fails for another
 * reason than missing space, which prevents the upgrade.
 */
export const keepBeforeUpgrade =
  (config: Config, report: Report) =>
  async (schema: number): Promise<void> => {
    const skip = (reason: string) => report.warn(`upgrading the database without a backup: ${reason}`)
    if (config.databaseUrl === '') return keepFile(resolve(config.data), schema, report, skip)
    if (config.backupTo === undefined)
      return skip('with PostgreSQL it takes --backup-to, or pg_dump before the start')
    try {
      await keepSnapshot(config, config.backupTo, schema, report)
    } catch (error) {
      if (error instanceof Refusal)
        throw new Error(`the database cannot be backed up before its upgrade: ${error.message}`, {
          cause: error,
        })
      if (!isErrorCode(error, 'ENOSPC')) throw error
      skip('there is no space for it in --backup-to')
    }
  }

/** Options of commands that upgrade an older database: they keep it as it was, and report it. */
export function upgrading(config: Config): Pick<OpenOptions, 'beforeMigration' | 'onMigrated'> {
  const report = (text: string) => console.error(`catalejo: ${text}`)
  return {
    beforeMigration: keepBeforeUpgrade(config, { info: report, warn: report }),
    onMigrated: (from, to) => report(`migrated the database from schema ${from} to ${to}`),
  }
}

const COPY = /^before-schema-\d+\.db$/

async function keepFile(data: string, schema: number, report: Report, skip: (reason: string) => void) {
  const path = join(data, 'catalejo.db')
  const name = `before-schema-${SCHEMA}.db`
  const before = schemaVersionAt(join(data, name))
  // An earlier start was interrupted between two steps of the same upgrade.
  if (before > 0 && before < schema) return report.info(`${name} is from before the upgrade that continues`)
  const [{ size }, { bavail, bsize }] = await Promise.all([stat(path), statfs(data)])
  // Steps may write every row again.
  if (bavail * bsize < 2 * size)
    return skip(`there is no space for a copy of ${size} bytes and the upgrade in ${data}`)
  await copySqlite(path, join(data, name))
  for (const other of await readdir(data))
    if (COPY.test(other) && other !== name) await rm(join(data, other), { force: true })
  report.info(`copied the database of schema ${schema} to ${name}`)
}

async function keepSnapshot(config: Config, to: BackupLocation, schema: number, report: Report) {
  using place = await openPlace(to, config.data)
  for (const name of await snapshotsIn(place)) {
    const manifest = await readManifest(place, name)
    if (typeof manifest === 'object' && manifest.upgradeTo === SCHEMA && manifest.schema < schema)
      return report.info(`snapshot ${name} is from before the upgrade that continues`)
  }
  await using instance = await openInstance(config, { schema })
  const progress = { begin() {}, add() {}, end() {} }
  const { manifest } = await backup(instance, config, to, {
    keep: config.backupKeep,
    upgradeFrom: schema,
    progress,
  })
  report.info(`backed up the database of schema ${schema} as snapshot ${manifest.name}`)
}
