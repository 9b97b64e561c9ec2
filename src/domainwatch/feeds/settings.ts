import { createHash } from 'node:crypto'
import { FEED_FORMATS, type ImportFormat } from '../import/format.ts'
import { isTimeZone } from '../../lib/dates.ts'
import { asError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json.ts'
import { DEFAULT_WINDOW, WINDOW_NAMES, type Window } from '../registry/rules.ts'

/** A list that is fetched and imported regularly. */
export interface Feed {
  readonly name: string
  readonly url: string
  readonly format: ImportFormat | 'auto'
  /** The interval as the settings have it. */
  readonly every: string
  readonly everyMs: number
  /** Name of the account on whose behalf records are imported. */
  readonly account: string
  /** The time that a list of deletions covers. */
  readonly window: Window
  /** The time zone of dates in the list; undefined for that of the service. */
  readonly zone?: string | undefined
}

const FIELDS = ['name', 'url', 'format', 'every', 'account']
const OPTIONAL = ['window', 'zone']
const FORMATS = [...FEED_FORMATS, 'auto'] as const
const MAX_FEEDS = 50
const MAX_NAME_CHARACTERS = 50
const MAX_URL_CHARACTERS = 2_000
const MIN_EVERY = '5m'
const MAX_EVERY = '31d'
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses the file of the setting `feeds`. Returns all of its faults, one line each, if it has any. */
export function parseFeeds(
  text: string,
): { readonly feeds: readonly Feed[] } | { readonly faults: readonly string[] } {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return { faults: [`it is not JSON: ${asError(error).message}`] }
  }
  if (!Array.isArray(json)) return { faults: ['must be an array of feeds'] }
  if (json.length > MAX_FEEDS) return { faults: [`must have at most ${MAX_FEEDS} feeds`] }
  const faults: string[] = []
  const feeds: Feed[] = []
  const names = new Set<string>()
  for (const [i, entry] of json.entries()) {
    const fault = (what: string) => void faults.push(`feed ${i + 1}: ${what}`)
    const feed = parseFeed(entry, fault)
    if (feed === undefined) continue
    if (names.has(feed.name)) fault(`"name" is used by another feed: "${feed.name}"`)
    names.add(feed.name)
    feeds.push(feed)
  }
  return faults.length > 0 ? { faults } : { feeds }
}

function parseFeed(entry: unknown, fault: (what: string) => void): Feed | undefined {
  if (!isObject(entry)) {
    fault(`takes an object with ${FIELDS.map((field) => `"${field}"`).join(', ')}`)
    return undefined
  }
  const fields = new Map(Object.entries(entry))
  for (const key of fields.keys()) if (![...FIELDS, ...OPTIONAL].includes(key)) fault(`"${key}" is not known`)
  const name = label('name')
  const account = label('account')
  const url = parseUrl(fields.get('url'))
  if (url === undefined) fault('"url" takes an http:// or https:// address without user and password')
  const format = FORMATS.find((one) => one === fields.get('format'))
  if (format === undefined) fault(`"format" must be one of ${FORMATS.join(', ')}`)
  const every = fields.get('every')
  const everyMs = typeof every === 'string' ? parseInterval(every) : undefined
  if (everyMs === undefined)
    fault(`"every" takes an interval of ${MIN_EVERY} to ${MAX_EVERY}, such as 15m, 6h or 1d`)
  const { window: givenWindow = DEFAULT_WINDOW, zone } = entry
  const window = WINDOW_NAMES.find((one) => one === givenWindow)
  if (window === undefined) fault(`"window" must be one of ${WINDOW_NAMES.join(', ')}`)
  const isZone = zone === undefined || (typeof zone === 'string' && isTimeZone(zone))
  if (!isZone) fault('"zone" takes an IANA time zone, such as America/Santiago')
  if (name === undefined || account === undefined || url === undefined || window === undefined)
    return undefined
  if (format === undefined || everyMs === undefined || typeof every !== 'string' || !isZone) return undefined
  return { name, url, format, every, everyMs, account, window, zone }

  function label(field: 'name' | 'account'): string | undefined {
    const value = fields.get(field)
    const isValid =
      typeof value === 'string' &&
      value !== '' &&
      value === value.trim() &&
      (field === 'account' || Array.from(value).length <= MAX_NAME_CHARACTERS) &&
      !/\p{Cc}/u.test(value)
    if (isValid) return value
    fault(
      field === 'name'
        ? `"name" takes 1 to ${MAX_NAME_CHARACTERS} characters`
        : '"account" takes the name of an account',
    )
    return undefined
  }
}

function parseUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' && value.length <= MAX_URL_CHARACTERS ? URL.parse(value) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return undefined
  url.hash = ''
  return url.href
}

function parseInterval(text: string): number | undefined {
  const ms = toMs(text)
  return ms >= toMs(MIN_EVERY) && ms <= toMs(MAX_EVERY) ? ms : undefined
}

/** Returns 0 for any other text. */
function toMs(text: string): number {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? []
  return Number(digits) * (UNIT_MS[unit] ?? 0)
}

export const feedSource = (name: string): string => `feed:${name}`

/** Identifies what the validators of a list belong to. A digest, because addresses may contain secrets. */
export function sourceOf({ url, format, account }: Feed): string {
  return createHash('sha256')
    .update(JSON.stringify([url, format, account]))
    .digest('base64url')
}
