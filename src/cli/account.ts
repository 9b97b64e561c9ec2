import { createAccounts } from '../accounts/index.ts'
import type { Flags } from '../server/config/config.ts'
import { openDatabase } from '../storage/database/open.ts'
import { limitsSet } from '../http/auth/audit.ts'
import { systemClock } from '../lib/clock.ts'
import {
  createAccountPolicies,
  listDelivery,
  updateDelivery,
  type AccountPolicy,
} from '../imagestore/account-policy.ts'
import { ImageDefinitions } from '../imagestore/definitions.ts'
import { SERVICE } from '../lib/client.ts'
import { aliasTarget } from '../imagestore/queries-settings.ts'
import { DELIVERY_MODES, signedLink, parseLink, readLink, toLinkId } from '../imagestore/links/link.ts'
import type { ModifierFault } from '../imagestore/modifiers/index.ts'
import { record } from './audit.ts'
import { fail, usageFault } from './output.ts'
import type { Options } from './command.ts'
import { blobByHash } from '../imagestore/queries.ts'
import { httpUrl } from '../lib/text.ts'

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
  if (found === undefined) return fail(faultOf('unknown', name))
  if (found.service !== 'imagestore') return fail(faultOf('no-images', found.name))
  const policy = await createAccountPolicies(database).change(found, change)
  if (policy === undefined) return fail(faultOf('unknown', name))
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
  if (outcome.kind !== 'updated') return fail(faultOf(outcome.kind, name))
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

function faultOf(kind: 'unknown' | 'no-images', name: string): string {
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
  if (updated.kind !== 'updated') return fail(faultOf(updated.kind, account))
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
