import { openDatabase } from '../context.ts'
import type { Database } from '../database/database.ts'
import { DELIVERY_MODES } from '../imagestore/access/modes.ts'
import { deliveries, settleDelivery } from '../imagestore/access/settings.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

/** `catalejo account list|set NAME|secret NAME`. Works beside a running service. */
export async function account(args: readonly string[]): Promise<void> {
  const options = readOptions(args, ['delivery'], ['new'])
  if (options === undefined) return
  const { config, own, positionals, switches } = options
  const [action, name] = positionals
  const database = await openDatabase(config).catch((error: unknown) =>
    fail(`could not open the database: ${error instanceof Error ? error.message : String(error)}`),
  )
  if (database === undefined) return
  try {
    if (action === 'list') await list(database)
    else if (action === 'set' && name !== undefined) await set(database, name, own['delivery'])
    else if (action === 'secret' && name !== undefined) await secret(database, name, switches.has('new'))
    else usageFault('account takes list, set NAME --delivery MODE, or secret NAME [--new]')
  } finally {
    await database.close()
  }
}

async function list(database: Database) {
  for (const { account: name, mode, signs } of await deliveries(database)) {
    console.log([name, mode, signs ? 'has a signing secret' : 'no signing secret'].join('\t'))
  }
}

async function set(database: Database, name: string, wanted: string | undefined) {
  const mode = DELIVERY_MODES.find((one) => one === wanted)
  if (mode === undefined) return usageFault(`account set takes --delivery ${DELIVERY_MODES.join('|')}`)
  // Whoever closes an application's images can sign links to them at once.
  const outcome = await settleDelivery(database, name, {
    mode,
    secret: mode === 'signed' ? 'kept' : undefined,
  })
  if (outcome.kind === 'settled') console.log(`${name}\t${outcome.mode}`)
  else fail(faultOf(outcome.kind, name))
}

/** For applications that sign their links themselves. */
async function secret(database: Database, name: string, isNew: boolean) {
  const outcome = await settleDelivery(database, name, { secret: isNew ? 'new' : 'kept' })
  if (outcome.kind === 'settled') console.log(outcome.secret)
  else fail(faultOf(outcome.kind, name))
}

export function faultOf(kind: 'unknown' | 'no-images', name: string): string {
  return kind === 'unknown' ? `there is no account «${name}»` : `the account «${name}» is of domainwatch`
}

function fail(message: string): void {
  console.error(`catalejo: ${message}`)
  process.exitCode = 1
}
