import { once } from 'node:events'
import { openDatabase } from '../context.ts'
import { systemClock } from '../core/clock.ts'
import { DomainLists, EXPORT_FORMATS, exportText } from '../domainwatch/index.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

const EVERYTHING = { filters: { reserve: false, rev: false, dis: false }, ascending: false }

/** `catalejo export`: every record, on standard output. Works beside a running service. */
export async function exportAll(args: readonly string[]): Promise<void> {
  const options = readOptions(args, ['format'])
  if (options === undefined) return
  const { config, own, positionals } = options
  const format = EXPORT_FORMATS.find((name) => name === (own['format'] ?? 'csv'))
  if (format === undefined) return usageFault(`--format takes ${EXPORT_FORMATS.join(' or ')}`)
  if (positionals.length > 0) return usageFault(`export takes no ${positionals[0]}`)
  const database = await openDatabase(config)
  try {
    const rows = new DomainLists(database, systemClock).rows(EVERYTHING)
    for await (const text of exportText(rows, format)) {
      if (!process.stdout.write(text)) await once(process.stdout, 'drain')
    }
  } finally {
    await database.close()
  }
}
