import { createAccounts } from '../accounts/index.ts'
import type { Flags } from '../server/config/config.ts'
import { openDatabase } from '../storage/database/open.ts'
import { createdKey } from '../http/auth/audit.ts'
import { systemClock } from '../lib/clock.ts'
import {
  MAX_LIFETIME_DAYS,
  MAX_RATE,
  type KeyLimits,
  type KeyRecord,
  SCOPES,
  SERVICES,
  type Service,
  formatRate,
  parseLifetime,
  parseRate,
  parseScope,
} from '../http/auth/key-limits.ts'
import { record } from './audit.ts'
import { upgrading } from '../server/before-upgrade.ts'
import { fail, usageFault } from './output.ts'
import type { Options } from './command.ts'

/** `catalejo key create`. The key commands work while the service runs. */
export async function createKey({ config, own }: Options): Promise<void> {
  const { account = '' } = own
  const service = SERVICES.find((one) => one === own['service'])
  if (service === undefined) return usageFault(`--service must be one of ${SERVICES.join(', ')}`)
  const limits = readLimits(own, service)
  if (typeof limits === 'string') return usageFault(limits)
  await using database = await openDatabase(config, upgrading(config))
  const outcome = await createAccounts(database, systemClock).createKey(account, service, limits)
  switch (outcome.kind) {
    case 'created':
      await record(database, 'key.create', createdKey(outcome.account, service, outcome.id))
      return console.log(outcome.key)
    case 'other-service':
      return fail(`the account «${account.trim()}» is of the service ${outcome.service}`)
    case 'bad-name':
      return fail(`an account name must have ${outcome.takes}`)
  }
}

const COLUMNS = ['id', 'service', 'account', 'created', 'state', 'scope', 'expires', 'rate', 'last used']

/** `catalejo key list`. Prints a header and a line for each key, tab-separated; `-` stands for none. */
export async function listKeys({ config }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  console.log(COLUMNS.join('\t'))
  for (const row of await createAccounts(database, systemClock).keys()) {
    const { scope, expiresAt, rate, used_at } = row
    const columns = [
      row.id,
      row.service,
      row.account,
      timeOf(row.created_at),
      getState(row),
      scope,
      expiresAt === null ? '-' : timeOf(expiresAt),
      rate === null ? '-' : formatRate(rate),
      used_at === null ? '-' : timeOf(used_at).slice(0, 10),
    ]
    console.log(columns.join('\t'))
  }
}

/** `catalejo key revoke ID`. */
export async function revokeKey({ config, positionals: [id = ''] }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  const outcome = await createAccounts(database, systemClock).revoke(id)
  if (outcome === 'revoked') await record(database, 'key.revoke', id)
  if (outcome === 'unknown') fail(`there is no key ${id}`)
  else console.log(outcome === 'revoked' ? `revoked ${id}` : `${id} was revoked before`)
}

/** Reads the limits of a key from flags; a string says which flag is wrong. */
function readLimits({ scope: scopeText = 'full', expires, rate: rateText }: Flags, service: Service) {
  const scope = parseScope(scopeText, service)
  if (scope === undefined)
    return `--scope must be one of ${SCOPES[service].join(', ')} for the service ${service}`
  const lifetime = expires === undefined ? null : parseLifetime(expires)
  if (lifetime === undefined)
    return `--expires must be minutes, hours or days, such as 30m, 12h or 90d, at most ${MAX_LIFETIME_DAYS}d`
  const rate = rateText === undefined ? null : parseRate(rateText)
  if (rate === undefined)
    return `--rate must be a number of requests, at most ${MAX_RATE}, per s, min, h or day, such as 5/s or 60/min`
  const expiresAt = lifetime === null ? null : systemClock.now() + lifetime
  return { scope, expiresAt, rate } satisfies KeyLimits
}

function getState({ expiresAt, revoked_at }: KeyRecord): string {
  if (revoked_at !== null) return `revoked ${timeOf(revoked_at)}`
  if (expiresAt !== null && expiresAt <= systemClock.now()) return `expired ${timeOf(expiresAt)}`
  return 'active'
}

const timeOf = (milliseconds: number) => new Date(milliseconds).toISOString()
