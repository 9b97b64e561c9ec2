import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import ipaddr from 'ipaddr.js'
import {
  parsePlace,
  parseS3Location,
  S3_LOCATION_TAKES,
  type BackupLocation,
  type S3Location,
} from '../../storage/blobs/s3/location.ts'
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

/** A decimal integer from `min` to `max`. */
export function integer(min: number, max: number): Parser<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    return value >= min && value <= max ? { value } : { takes: `an integer from ${min} to ${max}` }
  }
}

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
  return (text) => {
    const value = parse(text)
    return value !== undefined && value >= min && value <= max
      ? { value }
      : { takes: `${what} from ${format(min)} to ${format(max)}` }
  }
}

export function oneOf<const T extends string>(...values: readonly T[]): Parser<T> {
  return (text) => {
    const value = values.find((candidate) => candidate === text)
    return value === undefined ? { takes: `one of ${values.join(', ')}` } : { value }
  }
}

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

export function text(takes: string): Parser<string> {
  return (value) => (value.trim() === '' ? { takes } : { value: value.trim() })
}

/** The name of a header (RFC 9110, section 5.1), in lower case. */
export function headerName(value: string): Parsed<string> {
  return /^[\w!#$%&'*+.^`|~-]*$/.test(value)
    ? { value: value.toLowerCase() }
    : { takes: 'the name of an HTTP header, such as Remote-User' }
}

const MAX_WORKERS = 128
const READABLE_FILE = 'the path of a readable file'

export function tag(text: string): Parsed<string> {
  const value = foldTag(text)
  return value === undefined
    ? { takes: `a tag of 1 to ${MAX_TAG_CHARACTERS} letters, digits and hyphens` }
    : { value }
}

/** A word that .cl names can contain, without accents; after a hyphen, one to remove. */
export function phishingKeyword(text: string): Parsed<string> {
  return /^-?[a-z0-9ñ]{2,24}$/.test(text)
    ? { value: text }
    : { takes: 'a word of 2 to 24 letters a-z, ñ and digits, with a hyphen before it to remove it' }
}

/** A word without accents; after a hyphen, one to remove. */
export function word(text: string): Parsed<string> {
  return /^-?[a-zñ]{1,31}$/.test(text)
    ? { value: text }
    : { takes: 'a word of 1 to 31 letters a-z and ñ, with a hyphen before it to remove it' }
}

export function databaseUrl(value: string): Parsed<string> {
  const takes = 'postgres://user:password@host:port/database, or nothing for SQLite in the data folder'
  if (value === '') return { value }
  const url = URL.parse(value)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return { takes }
  return url.pathname.length > 1 ? { value } : { takes }
}

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

export function telegram(value: string): Parsed<TelegramBot | undefined> {
  if (value === '') return { value: undefined }
  const [, url, token] = /^(https?:\/\/\S+?)\/bot([^\s/]+)$/.exec(value) ?? []
  if (url !== undefined && token !== undefined) return { value: { url, token } }
  return /^[^\s/]+$/.test(value)
    ? { value: { url: 'https://api.telegram.org', token: value } }
    : { takes: 'a token, or https://host/bot<token>' }
}

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

export function smtpUrl(value: string): Parsed<SmtpServer | undefined> {
  if (value === '') return { value: undefined }
  const takes = 'smtp://user:password@host:port?from=address, smtps://…, or with &tls=off without encryption'
  const url = URL.parse(value)
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return { takes }
  const { from, tls, ...others } = Object.fromEntries(url.searchParams)
  const isTls = url.protocol === 'smtps:'
  const isAddress = from !== undefined && /^[^\s@<>",;:]+@[^\s@<>",;:]+$/.test(from)
  const isOff = tls === 'off' && !isTls
  if (!isAddress || !(tls === undefined || isOff) || Object.keys(others).length > 0) return { takes }
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') return { takes }
  try {
    return {
      value: {
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
        user: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
        from,
        encryption: isTls ? 'tls' : isOff ? 'none' : 'starttls',
      },
    }
  } catch {
    // A percent sign that is not part of an escape.
    return { takes }
  }
}

export function blobsUrl(value: string): Parsed<S3Location | undefined> {
  if (value === '') return { value: undefined }
  const location = parseS3Location(value)
  return location === undefined ? { takes: S3_LOCATION_TAKES } : { value: location }
}

export function backupPlace(value: string): Parsed<BackupLocation | undefined> {
  if (value === '') return { value: undefined }
  const place = parsePlace(value)
  return place === undefined ? { takes: `a folder, or ${S3_LOCATION_TAKES}` } : { value: place }
}

export function baseUrl(value: string): Parsed<string> {
  const takes = 'an http:// or https:// address without query, such as https://example.cl/catalejo'
  if (value === '') return { value }
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return { takes }
  if (url.search !== '' || url.hash !== '' || url.username !== '') return { takes }
  return { value: value.replace(/\/+$/, '') }
}

export function timeZone(value: string): Parsed<string> {
  return isTimeZone(value) ? { value } : { takes: 'an IANA time zone, such as America/Santiago' }
}

export function dnsServers(value: string): Parsed<readonly ServerAddress[] | undefined> {
  if (value === '') return { value: undefined }
  const servers = parseServers(value)
  return servers === undefined ? { takes: 'address:port,… of up to 8 servers' } : { value: servers }
}

export function dnsParent(value: string): Parsed<readonly ServerAddress[] | 'auto' | undefined> {
  return value === 'auto' ? { value } : dnsServers(value)
}

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

export function network(value: string): Parsed<string> {
  const valid = value.includes('/') ? ipaddr.isValidCIDR(value) : ipaddr.isValid(value)
  return valid ? { value } : { takes: 'an IP address or network, such as 10.0.0.0/8' }
}

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export function listenAddress(value: string): Parsed<ListenAddress | undefined> {
  if (value === '') return { value: undefined }
  const [, v6, name, digits = ''] = /^(?:\[([\da-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(value) ?? []
  const host = v6 ?? name
  const isValid = host !== undefined && Number(digits) <= 65_535 && (v6 === undefined || ipaddr.isValid(v6))
  return isValid
    ? { value: { host, port: Number(digits) } }
    : { takes: 'an address and a port, such as 127.0.0.1:9464 or [::1]:9464' }
}

export function origin(value: string): Parsed<string> {
  if (value === '*') return { value }
  const url = URL.parse(value)
  return url !== null && url.origin === value
    ? { value }
    : { takes: '* or an origin, such as https://example.cl' }
}
