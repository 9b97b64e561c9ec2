import { createAccounts, type Accounts } from '../accounts/index.ts'
import { openDatabase } from '../context.ts'
import { systemClock } from '../core/clock.ts'
import { SERVICES, type Service } from '../http/authentication.ts'
import { fail, failureLine, tellMigrated } from './failure.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

/** `catalejo key create|list|revoke`. Works beside a running service. */
export async function key(args: readonly string[]): Promise<void> {
  const options = readOptions(args, ['account', 'service'])
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
    else if (account !== undefined && isService(service)) await create(accounts, account, service)
  } finally {
    await database.close()
  }
}

async function create(accounts: Accounts, account: string, service: Service) {
  const outcome = await accounts.createKey(account, service)
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

async function list(accounts: Accounts) {
  for (const row of await accounts.keys()) {
    const state = row.revoked_at === null ? 'active' : `revoked ${new Date(row.revoked_at).toISOString()}`
    console.log([row.id, row.service, row.account, new Date(row.created_at).toISOString(), state].join('\t'))
  }
}

async function revoke(accounts: Accounts, id: string) {
  const outcome = await accounts.revoke(id)
  if (outcome === 'unknown') fail(`there is no key ${id}`)
  else console.log(outcome === 'revoked' ? `revoked ${id}` : `${id} was revoked before`)
}

function isService(text: string | undefined): text is Service {
  return SERVICES.some((service) => service === text)
}
