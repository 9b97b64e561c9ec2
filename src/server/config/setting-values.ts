import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import ipaddr from 'ipaddr.js'
import { parsePlace, parseS3Location, S3_LOCATION_TAKES } from '../../storage/blobs/s3/location.ts'
import { parseFeeds, type Feed } from '../../domainwatch/feeds/settings.ts'
import { foldTag, MAX_TAG_CHARACTERS } from '../../domainwatch/filtered-record.ts'
import { parseServers, type ServerAddress } from '../../lib/dns/servers.ts'
import { isTimeZone } from '../../lib/dates.ts'
import {
  formatDuration,
  formatSize,
  parseDuration,
  parseSize,
  type DurationUnit,
  type SizeUnit,
} from '../../lib/units.ts'
import { readImageSettings, defaultImageSettings, type ImageSettings } from '../../imagestore/definitions.ts'

/** The value of a setting, or a description of the permitted values. */
export type Parsed<T> =
  | { readonly value: T }
  /** `faults`: one line for each fault, for texts that may have several. */
  | { readonly takes: string; readonly faults?: readonly string[] }

export type Parser<T> = (text: string) => Parsed<T>

/** A value that `read` finds in a text, and undefined in any other. */
const readBy =
  <T extends {}>(read: (text: string) => T | undefined, takes: string): Parser<T> =>
  (text) => {
    const value = read(text)
    return value === undefined ? { takes } : { value }
  }

/** The same, or undefined for an empty text. */
const optional =
  <T>(parse: Parser<T>): Parser<T | undefined> =>
  (text) =>
    text === '' ? { value: undefined } : parse(text)

const matching = (pattern: RegExp, takes: string): Parser<string> =>
  readBy((text) => (pattern.test(text) ? text : undefined), takes)

/** Returns a URL with one of these protocols. */
function readUrl(text: string, protocols: RegExp): URL | undefined {
  const url = URL.parse(text)
  return url !== null && protocols.test(url.protocol) ? url : undefined
}

/** A decimal integer from `min` to `max`. */
export const integer = (min: number, max: number): Parser<number> =>
  between(min, max, (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined), String, 'an integer')

/** A size such as `20MiB`. @param unit of a number without one */
export const size = (min: number, max: number, unit: SizeUnit) =>
  between(min, max, (text) => parseSize(text, unit), formatSize, 'a size')

/** A duration such as `90d`. @param unit of a number without one */
export const duration = (min: number, max: number, unit: DurationUnit) =>
  between(min, max, (text) => parseDuration(text, unit), formatDuration, 'a time')

function between(
  min: number,
  max: number,
  parse: (text: string) => number | undefined,
  format: (value: number) => string,
  what: string,
): Parser<number> {
  const read = (text: string) => {
    const value = parse(text)
    return value !== undefined && value >= min && value <= max ? value : undefined
  }
  return readBy(read, `${what} from ${format(min)} to ${format(max)}`)
}

export const oneOf = <const T extends string>(...values: readonly T[]): Parser<T> =>
  readBy((text) => values.find((candidate) => candidate === text), `one of ${values.join(', ')}`)

/** A comma-separated list; an empty text is an empty list. */
export function listOf<T>(parse: Parser<T>): Parser<readonly T[]> {
  return (text) => {
    const values: T[] = []
    for (const entry of text.split(',').map((part) => part.trim())) {
      if (entry === '') continue
      const parsed = parse(entry)
      if ('takes' in parsed) return { takes: `a comma-separated list, each entry ${parsed.takes}` }
      values.push(parsed.value)
    }
    return { value: values }
  }
}

export const text = (takes: string): Parser<string> => readBy((value) => value.trim() || undefined, takes)

/** The name of a header (RFC 9110, section 5.1), in lower case. */
export const headerName = readBy(
  (value) => (/^[\w!#$%&'*+.^`|~-]*$/.test(value) ? value.toLowerCase() : undefined),
  'the name of an HTTP header, such as Remote-User',
)

const MAX_WORKERS = 128
const READABLE_FILE = 'the path of a readable file'

export const tag = readBy(foldTag, `a tag of 1 to ${MAX_TAG_CHARACTERS} letters, digits and hyphens`)

/** A word that .cl names can contain, without accents; after a hyphen, one to remove. */
export const phishingKeyword = matching(
  /^-?[a-z0-9ñ]{2,24}$/,
  'a word of 2 to 24 letters a-z, ñ and digits, with a hyphen before it to remove it',
)

/** A word without accents; after a hyphen, one to remove. */
export const word = matching(
  /^-?[a-zñ]{1,31}$/,
  'a word of 1 to 31 letters a-z and ñ, with a hyphen before it to remove it',
)

export const databaseUrl = readBy(
  (value) =>
    value === '' || (readUrl(value, /^postgres(ql)?:$/)?.pathname.length ?? 0) > 1 ? value : undefined,
  'postgres://user:password@host:port/database, or nothing for SQLite in the data folder',
)

/** Removes everything that may be a password, even from a malformed address. */
export function withoutSecrets(value: string): string {
  return value.replace(/^(\w+:\/\/)?.*@/s, '$1…@').replace(/\?.*$/s, '?…')
}

export function hidden(value: string): string {
  return value === '' ? '' : '…'
}

/** The bot that sends messages, and the server of its API. */
export interface TelegramBot {
  readonly token: string
  readonly url: string
}

export const telegram = optional(
  readBy((value): TelegramBot | undefined => {
    const [, url, token] = /^(https?:\/\/\S+?)\/bot([^\s/]+)$/.exec(value) ?? []
    if (url !== undefined && token !== undefined) return { url, token }
    return /^[^\s/]+$/.test(value) ? { url: 'https://api.telegram.org', token: value } : undefined
  }, 'a token, or https://host/bot<token>'),
)

/** A server of ntfy, and the token that it may require. */
export interface NtfyServer {
  readonly url: string
  readonly token: string
}

export function ntfyServer(value: string): Parsed<NtfyServer> {
  const url = URL.parse(value)
  const token = decodeURIComponent(url?.username ?? '')
  const parsed = baseUrl(value.replace(/^(https?:\/\/)[^/@]*@/, '$1'))
  return 'value' in parsed && (url?.password ?? '') === ''
    ? { value: { url: parsed.value, token } }
    : {
        takes:
          'an http:// or https:// address, such as https://ntfy.sh or https://<access token>@ntfy.example.cl',
      }
}

/** A mail server, and the address that it sends from. */
export interface SmtpServer {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly from: string
  /** `tls`: encrypted from the first byte. */
  readonly encryption: 'tls' | 'starttls' | 'none'
}

export const smtpUrl = optional(
  readBy(
    readSmtp,
    'smtp://user:password@host:port?from=address, smtps://…, or with &tls=off without encryption',
  ),
)

function readSmtp(value: string): SmtpServer | undefined {
  const url = readUrl(value, /^smtps?:$/)
  if (url === undefined || url.hostname === '') return undefined
  const { from, tls, ...others } = Object.fromEntries(url.searchParams)
  const isTls = url.protocol === 'smtps:'
  const isAddress = from !== undefined && /^[^\s@<>",;:]+@[^\s@<>",;:]+$/.test(from)
  const isOff = tls === 'off' && !isTls
  if (!isAddress || !(tls === undefined || isOff) || Object.keys(others).length > 0) return undefined
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') return undefined
  try {
    return {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      from,
      encryption: isTls ? 'tls' : isOff ? 'none' : 'starttls',
    }
  } catch {
    // A percent sign that is not part of an escape.
    return undefined
  }
}

export const blobsUrl = optional(readBy(parseS3Location, S3_LOCATION_TAKES))
export const backupPlace = optional(readBy(parsePlace, `a folder, or ${S3_LOCATION_TAKES}`))

export const baseUrl = readBy((value) => {
  if (value === '') return value
  const url = readUrl(value, /^https?:$/)
  return url?.search === '' && url.hash === '' && url.username === '' ? value.replace(/\/+$/, '') : undefined
}, 'an http:// or https:// address without query, such as https://example.cl/catalejo')

export const timeZone = readBy(
  (value) => (isTimeZone(value) ? value : undefined),
  'an IANA time zone, such as America/Santiago',
)

export const dnsServers = optional(readBy(parseServers, 'address:port,… of up to 8 servers'))

export const dnsParent = (value: string): Parsed<readonly ServerAddress[] | 'auto' | undefined> =>
  value === 'auto' ? { value } : dnsServers(value)

export function imageSettings(value: string): Parsed<ImageSettings> {
  if (value === '') return { value: defaultImageSettings }
  const text = readFile(value)
  if (text === undefined) return { takes: READABLE_FILE }
  const read = readImageSettings(text)
  return 'faults' in read ? { takes: 'a JSON file', ...read } : { value: read }
}

export function feeds(value: string): Parsed<readonly Feed[]> {
  if (value === '') return { value: [] }
  const text = readFile(value)
  if (text === undefined) return { takes: READABLE_FILE }
  const read = parseFeeds(text)
  return 'faults' in read ? { takes: 'a JSON file', ...read } : { value: read.feeds }
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

export function workers(value: string): Parsed<number> {
  if (value === 'auto') return { value: Math.min(MAX_WORKERS, availableParallelism()) }
  const parsed = integer(1, MAX_WORKERS)(value)
  return 'value' in parsed ? parsed : { takes: `${parsed.takes}, or auto for one per core` }
}

export const network = readBy(
  (value) => ((value.includes('/') ? ipaddr.isValidCIDR(value) : ipaddr.isValid(value)) ? value : undefined),
  'an IP address or network, such as 10.0.0.0/8',
)

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export const listenAddress = optional(
  readBy((value): ListenAddress | undefined => {
    const [, v6, name, digits = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(value) ?? []
    const host = v6 ?? name
    const isValid = host !== undefined && Number(digits) <= 65_535 && (v6 === undefined || ipaddr.isValid(v6))
    return isValid ? { host, port: Number(digits) } : undefined
  }, 'an address and a port, such as 127.0.0.1:9464 or [::1]:9464'),
)

export const origin = readBy(
  (value) => (value === '*' || URL.parse(value)?.origin === value ? value : undefined),
  '* or an origin, such as https://example.cl',
)
