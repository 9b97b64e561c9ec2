import { userInfo } from 'node:os'
import { createAccounts } from '../accounts/index.ts'
import { createdKey, limitsSet, openAudit } from '../http/auth/audit.ts'
import {
  formatRate,
  type KeyLimits,
  type KeyRecord,
  MAX_LIFETIME_DAYS,
  MAX_RATE,
  parseLifetime,
  parseRate,
  parseScope,
  SCOPES,
  type Service,
  SERVICES,
} from '../http/auth/key-limits.ts'
import type { AuditAction, AuditEntry } from '../http/auth/queries.ts'
import {
  type AccountPolicy,
  createAccountPolicies,
  listDelivery,
  updateDelivery,
} from '../imagestore/account-policy.ts'
import { ImageDefinitions } from '../imagestore/definitions.ts'
import { DELIVERY_MODES, parseLink, readLink, signedLink, toLinkId } from '../imagestore/links/link.ts'
import type { ModifierFault } from '../imagestore/modifiers/index.ts'
import { aliasTarget } from '../imagestore/queries-settings.ts'
import { blobByHash } from '../imagestore/queries.ts'
import { SERVICE } from '../lib/client.ts'
import { systemClock } from '../lib/clock.ts'
import { httpUrl } from '../lib/text.ts'
import { upgrading } from '../server/before-upgrade.ts'
import type { Flags } from '../server/config/config.ts'
import type { Database } from '../storage/database/database.ts'
import { openDatabase } from '../storage/database/open.ts'
import type { Options } from './command.ts'
import { fail, printAll, usageFault } from './output.ts'

const NONE = 'none'

/** `catalejo account list`. The account commands work while the service runs. */
export async function listAccounts({ config }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  for (const { account: name, mode, hasSecret } of await listDelivery(database)) {
    console.log([name, mode, hasSecret ? 'has a signing secret' : 'no signing secret'].join('\t'))
  }
}

/** `catalejo account set NAME`. */
export async function setAccount({ config, own, positionals: [name = ''] }: Options): Promise<void> {
  const change = readChange(own)
  if (change === undefined) return
  await using database = await openDatabase(config, { existing: true })
  const found = await createAccounts(database, systemClock).find(name)
  if (found === undefined) return fail(accountFault('unknown', name))
  if (found.service !== 'imagestore') return fail(accountFault('no-images', found.name))
  const policy = await createAccountPolicies(database).change(found, change)
  if (policy === undefined) return fail(accountFault('unknown', name))
  await record(database, 'limits.set', limitsSet(found.name, policy))
  if (change.delivery !== undefined) console.log(`${found.name}\t${policy.delivery}`)
  if (change.max_bytes !== undefined || change.max_images !== undefined) {
    console.log(`${found.name}: ${text(policy.max_images)} images, ${text(policy.max_bytes)} bytes`)
  }
}

/** `catalejo account secret NAME`: prints the secret for applications that sign their links themselves. */
export async function accountSecret({ config, positionals, switches }: Options): Promise<void> {
  const [name = ''] = positionals
  const secret = switches.has('new') ? 'new' : 'kept'
  await using database = await openDatabase(config, { existing: true })
  const outcome = await updateDelivery(database, name, { secret })
  if (outcome.kind !== 'updated') return fail(accountFault(outcome.kind, name))
  if (secret === 'new') await record(database, 'secret.renew', name)
  console.log(outcome.secret)
}

/** Reads what to change; null removes a limit. */
function readChange(own: Flags): Partial<AccountPolicy> | undefined {
  const mode = DELIVERY_MODES.find((one) => one === own['delivery'])
  const maxBytes = readLimit(own['max-bytes'])
  const maxImages = readLimit(own['max-images'])
  if (maxBytes === 'wrong' || maxImages === 'wrong')
    return usageFault('--max-bytes and --max-images take an integer from 0 on, or none')
  if (mode === undefined && maxBytes === undefined && maxImages === undefined)
    return usageFault('account set needs --delivery MODE, --max-bytes N or --max-images N')
  return {
    ...(mode === undefined ? {} : { delivery: mode }),
    ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
    ...(maxImages === undefined ? {} : { max_images: maxImages }),
  }
}

function readLimit(given: string | undefined): number | null | undefined | 'wrong' {
  if (given === undefined) return undefined
  if (given === NONE) return null
  return /^\d{1,15}$/.test(given) ? Number(given) : 'wrong'
}

function accountFault(kind: 'unknown' | 'no-images', name: string): string {
  return kind === 'unknown' ? `there is no account «${name}»` : `the account «${name}» is of domainwatch`
}

const text = (limit: number | null): string => (limit === null ? 'any number of' : `at most ${limit}`)

/** `catalejo sign '<id>[.<ext>][&m=…]' --account NAME`: prints the signed link. Works while the service runs. */
export async function signLink({ config, own, positionals }: Options): Promise<void> {
  const { account = '', expires: until } = own
  // A whole URL is accepted too.
  const target = readLink((positionals[0] ?? '').replace(/^.*\/i\//, ''))
  const expires = until === undefined ? undefined : readTime(until)
  if (target === undefined) return fail(`«${positionals[0]}» is not an image link: give the part after /i/`)
  if (expires === null) return fail(`--expires «${until}» must be seconds from now or a future date`)
  await using database = await openDatabase(config, { existing: true })
  const { image } = target
  const hash =
    typeof image === 'string' ? image : (await database.first(aliasTarget(image.account, image.name)))?.hash
  const blob = hash === undefined ? undefined : await database.first(blobByHash(hash))
  if (blob === undefined) return fail(`there is no image ${toLinkId(image)}`)
  const grammar = await new ImageDefinitions(database, config.imageSettings).current(SERVICE.client)
  const parsed = parseLink(target, blob.format, grammar)
  if (parsed === undefined) return fail(`images cannot be converted to .${target.extension}`)
  if (!parsed.ok)
    return fail(`«${parsed.fault.token}» in the modifier is not valid: ${explain(parsed.fault)}`)
  if (parsed.expires !== undefined || parsed.signature !== undefined)
    return fail('the link must have neither exp_ nor sig_: use --expires')
  const updated = await updateDelivery(database, account, { secret: 'kept' })
  if (updated.kind !== 'updated') return fail(accountFault(updated.kind, account))
  const base = config.baseUrl || httpUrl(config.host, config.port)
  const link = signedLink(updated.secret ?? '', image, parsed.transformation, expires)
  console.log(`${base}/i/${link}`)
}

function explain(fault: ModifierFault): string {
  switch (fault.kind) {
    case 'unknown':
      return 'there is no such modifier'
    case 'repeated':
      return 'it is repeated'
    case 'range':
      return `it must be ${fault.takes}`
    case 'last':
      return 'it must be the last one'
  }
}

/** Seconds since 1970; null if the time is not valid or has passed. */
function readTime(text: string): number | null {
  const now = Math.floor(Date.now() / 1_000)
  const time = /^\d{1,10}$/.test(text) ? now + Number(text) : Math.floor(Date.parse(text) / 1_000)
  return time > now ? time : null
}

/** `catalejo key create`. The key commands work while the service runs. */
export async function createKey({ config, own }: Options): Promise<void> {
  const { account = '' } = own
  const service = SERVICES.find((one) => one === own['service'])
  if (service === undefined) return usageFault(`--service must be one of ${SERVICES.join(', ')}`)
  const limits = readKeyLimits(own, service)
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

const KEY_COLUMNS = ['id', 'service', 'account', 'created', 'state', 'scope', 'expires', 'rate', 'last used']

/** `catalejo key list`. Prints a header and a line for each key, tab-separated; `-` where there is no value. */
export async function listKeys({ config }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  console.log(KEY_COLUMNS.join('\t'))
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
function readKeyLimits({ scope: scopeText = 'full', expires, rate: rateText }: Flags, service: Service) {
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

/** Entries read at a time. */
const PAGE_ENTRIES = 1_000
const AUDIT_COLUMNS = ['time', 'account', 'key', 'action', 'subject']

/** `catalejo audit`: prints who did what, the latest first, in columns separated by tabs. Works while the service runs. */
export async function printAudit({ config, own }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  await printAll(allEntries(database, own['account']))
}

async function* allEntries(database: Database, account: string | undefined): AsyncGenerator<string> {
  const audit = openAudit(database, systemClock)
  yield `${AUDIT_COLUMNS.join('\t')}\n`
  for (let after: AuditEntry | undefined; ;) {
    const entries = await audit.page(PAGE_ENTRIES, after, account)
    yield entries.map(toLine).join('')
    after = entries.at(-1)
    if (after === undefined || entries.length < PAGE_ENTRIES) return
  }
}

function toLine({ at, actor, key_id, action, subject }: AuditEntry): string {
  return `${[new Date(at).toISOString(), actor, key_id ?? '-', action, subject].join('\t')}\n`
}

/** Records an action of the user who runs the command. One without a name, as in some containers, is known by number. */
export async function record(database: Database, action: AuditAction, subject: string): Promise<void> {
  await openAudit(database, systemClock).record(
    { account: `cli:${userName()}`, keyId: null },
    action,
    subject,
  )
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
