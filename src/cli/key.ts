import { createAccounts, type Accounts, type KeyRecord } from '../accounts/index.ts'
import type { Flags } from '../config/config.ts'
import { openDatabase } from '../context.ts'
import { systemClock } from '../core/clock.ts'
import { SERVICES, type Service } from '../http/authentication.ts'
import {
  formatRate,
  parseLifetime,
  parseRate,
  parseScope,
  SCOPES,
  type KeyLimits,
} from '../http/key-limits.ts'
import { fail, failureLine, tellMigrated } from './failure.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

/** `catalejo key create|list|revoke`. Works beside a running service. */
export async function key(args: readonly string[]): Promise<void> {
  const options = readOptions(args, ['account', 'service', 'scope', 'expires', 'rate'])
  if (options === undefined) return
  const { config, own, positionals } = options
  const [action, id] = positionals
  const { account, service } = own
  const isWhole = action === 'create' || action === 'list' || (action === 'revoke' && id !== undefined)
  if (!isWhole) return usageFault('key takes create, list or revoke ID')
  if (action === 'create' && (account === undefined || !isService(service))) {
    return usageFault('key create takes --account NAME and --service domainwatch, imagestore or admin')
  }
  const database = await openDatabase(config, undefined, undefined, {
    existing: action !== 'create',
    onMigrated: tellMigrated,
  }).catch((error: unknown) => fail(`could not open the database: ${failureLine(error)}`))
  if (database === undefined) return
  const accounts = createAccounts(database, systemClock)
  try {
    if (action === 'list') await list(accounts)
    else if (action === 'revoke' && id !== undefined) await revoke(accounts, id)
    else if (account !== undefined && isService(service)) await create(accounts, account, service, own)
  } finally {
    await database.close()
  }
}

async function create(accounts: Accounts, account: string, service: Service, own: Flags) {
  const limits = readLimits(own, service)
  if (typeof limits === 'string') return usageFault(limits)
  const outcome = await accounts.createKey(account, service, limits)
  switch (outcome.kind) {
    case 'created':
      console.log(outcome.key)
      return
    case 'other-service':
      return fail(`the account «${account.trim()}» is of the service ${outcome.service}`)
    case 'bad-name':
      return fail(`an account's name takes ${outcome.takes}`)
  }
}

/** What the flags limit a key to, or what is wrong with one of them. */
function readLimits({ scope: scopeText = 'full', expires, rate: rateText }: Flags, service: Service) {
  const scope = parseScope(scopeText, service)
  if (scope === undefined) return `--scope takes ${SCOPES[service].join(', ')} for the service ${service}`
  const lifetime = expires === undefined ? null : parseLifetime(expires)
  if (lifetime === undefined)
    return '--expires takes minutes, hours or days, such as 30m, 12h or 90d, at most 3650d'
  const rate = rateText === undefined ? null : parseRate(rateText)
  if (rate === undefined)
    return '--rate takes a number of requests, at most 1000000, per s, min, h or day, such as 5/s or 60/min'
  const expiresAt = lifetime === null ? null : systemClock.now() + lifetime
  return { scope, expiresAt, rate } satisfies KeyLimits
}

/** Tab-separated: id, service, account, creation, state, scope, expiry, rate, day of last use; `-` for none. */
async function list(accounts: Accounts) {
  for (const row of await accounts.keys()) {
    const { scope, expiresAt, rate, used_at } = row
    const columns = [
      row.id,
      row.service,
      row.account,
      timeOf(row.created_at),
      stateOf(row),
      scope,
      expiresAt === null ? '-' : timeOf(expiresAt),
      rate === null ? '-' : formatRate(rate),
      used_at === null ? '-' : timeOf(used_at).slice(0, 10),
    ]
    console.log(columns.join('\t'))
  }
}

function stateOf({ expiresAt, revoked_at }: KeyRecord): string {
  if (revoked_at !== null) return `revoked ${timeOf(revoked_at)}`
  if (expiresAt !== null && expiresAt <= systemClock.now()) return `expired ${timeOf(expiresAt)}`
  return 'active'
}

const timeOf = (milliseconds: number) => new Date(milliseconds).toISOString()

async function revoke(accounts: Accounts, id: string) {
  const outcome = await accounts.revoke(id)
  if (outcome === 'unknown') fail(`there is no key ${id}`)
  else console.log(outcome === 'revoked' ? `revoked ${id}` : `${id} was revoked before`)
}

function isService(text: string | undefined): text is Service {
  return SERVICES.some((service) => service === text)
}
