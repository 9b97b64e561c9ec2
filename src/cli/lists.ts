import { systemClock } from '../lib/clock.ts'
import { openDatabase } from '../server/open-database.ts'
import { importLines } from '../domainwatch/import/importer.ts'
import { readLines } from '../domainwatch/import/lines.ts'
import { bytesOf } from '../domainwatch/import/source.ts'
import { storeRows, type ApplyRows } from '../domainwatch/import/store-rows.ts'
import { RegistryList } from '../domainwatch/registry/apply-list.ts'
import { DEFAULT_WINDOW, type Facts } from '../domainwatch/registry/rules.ts'
import { readDictionary } from '../domainwatch/words/dictionary.ts'
import type { Options } from './command.ts'
import { fail } from './failure.ts'
import { accountFor, timeZones } from './import.ts'
import { countOf } from '../lib/text.ts'

/** `catalejo lists repair FILE`: corrects names that version 0.1.0 took as free. Works while the service runs. */
export async function repairLists({
  config,
  own,
  positionals: [path = ''],
  switches,
}: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  const account = await accountFor(database, own['account'])
  if (account === undefined) return
  const { timeZone, zone } = await timeZones(database, config)
  const { split } = readDictionary(config.words)
  const target = { database, clock: systemClock, timeZone, split, account }
  const isApplied = switches.has('apply')
  const list = new RegistryList(target, 'registrations', {
    source: 'repair',
    window: DEFAULT_WINDOW,
    at: systemClock.now(),
    digest: '',
    isForced: false,
    repaired: (name: string, was: Facts, is: Facts) =>
      console.log(`${name}.cl: free since ${was.released_at ?? was.date_reg}, registered ${is.date_reg}`),
  })
  const apply: ApplyRows = (tx, batch) => list.apply(tx, batch)
  const outcome = await importLines(readLines(bytesOf(path, () => {})), {
    format: 'registrations',
    clock: systemClock,
    timeZone,
    zone,
    split,
    restores: true,
    open: async () => ({ store: storeRows(target, apply, !isApplied) }),
  })
  if (outcome.kind !== 'imported') return fail(`${path}: not a list of registrations`)
  const { counts, cutOff } = outcome
  console.log(
    isApplied
      ? `${countOf(counts.changed, 'record')} corrected`
      : `${countOf(counts.changed, 'record')} would be corrected (--apply corrects them)`,
  )
  if (cutOff !== undefined) fail(`${path}: cannot be read to its end: ${cutOff.message}`)
}
