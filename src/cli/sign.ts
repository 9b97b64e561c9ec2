import { updateDelivery } from '../imagestore/account-policy.ts'
import { signedText, signText } from '../imagestore/links/delivery-mode.ts'
import { parseLink, readLink } from '../imagestore/links/read-link.ts'
import { canonical, findMisplaced } from '../lib/modifiers/index.ts'
import { blobByHash } from '../imagestore/queries.ts'
import { faultOf } from './account.ts'
import { withDatabase } from './instance.ts'
import { fail } from './failure.ts'
import type { Options } from './options.ts'

/** `catalejo sign '<id>[.<ext>][&m=…]' --account NAME`: prints the signed link. Works while the service runs. */
export async function signLink({ config, own, positionals }: Options): Promise<void> {
  const { account = '', expires: until } = own
  // A whole URL is accepted too.
  const target = readLink((positionals[0] ?? '').replace(/^.*\/i\//, ''))
  const expires = until === undefined ? undefined : readTime(until)
  if (target === undefined)
    return fail(`«${positionals[0]}» is not an image link: it takes the part after /i/`)
  if (expires === null)
    return fail(`--expires «${until}» is not valid, it takes seconds from now or a date to come`)
  await withDatabase(config, { existing: true }, async (database) => {
    const blob = await database.first(blobByHash(target.hash))
    if (blob === undefined) return fail(`there is no image ${target.hash}`)
    const parsed = parseLink(target, blob.format, config.imageSettings.grammar)
    const misplaced = findMisplaced(target.others, config.imageSettings.grammar)
    if (misplaced !== undefined) return fail(`«${misplaced}» is not in the modifier: write it after &m=`)
    if (parsed === undefined) return fail(`images cannot be made into .${target.extension}`)
    if (!parsed.ok) return fail(`«${parsed.fault.token}» in the modifier is not valid: ${parsed.fault.kind}`)
    if (parsed.expires !== undefined || parsed.signature !== undefined)
      return fail('the link is to have neither exp_ nor sig_: use --expires')
    const updated = await updateDelivery(database, account, { secret: 'kept' })
    if (updated.kind !== 'updated') return fail(faultOf(updated.kind, account))
    const text = signedText(target.hash, parsed.transformation, expires)
    const tokens = [
      canonical(parsed.transformation),
      expires === undefined ? '' : `exp_${expires}`,
      `sig_${signText(updated.secret ?? '', text)}`,
    ]
    const base = config.baseUrl === '' ? `http://${config.host}:${config.port}` : config.baseUrl
    console.log(`${base}/i/${target.hash}&m=${tokens.filter((token) => token !== '').join(',')}`)
  })
}

/** Seconds since 1970; null if the time is not valid or has passed. */
function readTime(text: string): number | null {
  const now = Math.floor(Date.now() / 1_000)
  const time = /^\d{1,10}$/.test(text) ? now + Number(text) : Math.floor(Date.parse(text) / 1_000)
  return time > now ? time : null
}
