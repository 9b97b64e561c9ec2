import { createAccounts, type Accounts } from '../accounts/index.ts'
import { openDatabase } from '../context.ts'
import { systemClock } from '../core/clock.ts'
import { SERVICES, type Service } from '../http/authentication.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

/** `catalejo key create|list|revoke`. Works beside a running service. */
export async function key(args: readonly string[]): Promise<void> {
  const options = readOptions(args, ['account', 'service'])
  if (options === undefined) return
  const { config, own, positionals } = options
  const [action, id] = positionals
  const database = await openDatabase(config).catch((error: unknown) =>
    fail(`could not open the database: ${error instanceof Error ? error.message : String(error)}`),
  )
  if (database === undefined) return
  const accounts = createAccounts(database, systemClock)
  try {
    if (action === 'create') await create(accounts, own['account'], own['service'])
    else if (action === 'list') await list(accounts)
    else if (action === 'revoke' && id !== undefined) await revoke(accounts, id)
    else usageFault('key takes create, list or revoke ID')
  } finally {
    await database.close()
  }
}

async function create(accounts: Accounts, account: string | undefined, service: string | undefined) {
  if (account === undefined || !isService(service)) {
    usageFault('key create takes --account NAME and --service domainwatch, imagestore or admin')
    return
  }
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

function fail(message: string): void {
  console.error(`catalejo: ${message}`)
  process.exitCode = 1
}

function isService(text: string | undefined): text is Service {
  return SERVICES.some((service) => service === text)
}
