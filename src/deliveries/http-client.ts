import { Resolver } from 'node:dns/promises'
import http, { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { networkMatcher } from '../http/client.ts'
import { asError } from '../lib/errors.ts'
import { failure, type Outcome } from './transport.ts'

/** A public address on which Azure serves its platform. */
const PLATFORM = '168.63.129.16'
/** Global unicast addresses of IPv6. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')
/** Addresses of a host that are tried, and the timeout of each but the last. */
const MAX_ADDRESSES = 4
const CONNECT_MS = 5_000
export const MAX_ADDRESS_CHARACTERS = 2_048
const TAKES_LENGTH = `debe tener direcciones de ${MAX_ADDRESS_CHARACTERS} caracteres como máximo`
const LOCALHOST = /(^|\.)localhost\.?$/

/** Returns true for an address to which webhooks may be sent. */
export type IsAllowedAddress = (address: string) => boolean

/** Resolves a host name to its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The hosts that may be reached. */
export interface Receivers {
  readonly isAllowedAddress: IsAllowedAddress
  readonly resolve?: Resolve
}

/** The receiver has no address that is allowed. */
export class ForbiddenAddressError extends Error {}

export type Target =
  | { readonly ok: true; readonly address: string }
  /** The requirement that the URL breaks, in Spanish, to follow the name of the parameter. */
  | { readonly ok: false; readonly takes: string }

/**
 * Allows public addresses and the given networks, to prevent server-side request forgery: clients must not reach the
 * service's own network, such as its database or a cloud's metadata service.
 */
export function allowAddresses(networks: readonly string[]): IsAllowedAddress {
  const isListed = networkMatcher(networks)
  return (text) => {
    if (!ipaddr.isValid(text)) return false
    if (isListed(text)) return true
    // Unwraps IPv4-mapped addresses.
    const address = ipaddr.process(text)
    if (address.range() !== 'unicast' || address.toString() === PLATFORM) return false
    return !(address instanceof ipaddr.IPv6) || (address.match(GLOBAL) && !isIsatap(address))
  }
}

/** Returns true for an address that embeds an IPv4 address, which may be private, below any prefix (RFC 5214, section 6.1). */
const isIsatap = ({ parts: [, , , , high = 0, low] }: ipaddr.IPv6): boolean =>
  (high & ~0x0200) === 0 && low === 0x5efe

/** Validates the URL of a receiver. Its host name is resolved and checked at each delivery, because the answer may change. */
export function readTarget(text: string, isAllowedAddress: IsAllowedAddress): Target {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    return { ok: false, takes: 'debe ser una dirección http:// o https:// sin usuario ni contraseña' }
  }
  const host = hostOf(url)
  const isForbidden = isIP(host) === 0 ? LOCALHOST.test(host) : !isAllowedAddress(host)
  if (isForbidden) return { ok: false, takes: 'debe llevar a una dirección pública' }
  url.hash = ''
  return { ok: true, address: url.href }
}

/** Validates the URL of a receiver that a client chose. */
export function parseReceiver(text: string, isAllowedAddress: IsAllowedAddress): Target {
  return text.length > MAX_ADDRESS_CHARACTERS
    ? { ok: false, takes: TAKES_LENGTH }
    : readTarget(text, isAllowedAddress)
}

/** Shows only the origin of a URL whose path is a secret. */
export const showOrigin = (address: string): string => `${new URL(address).origin}/…`

/** Returns the host without the brackets of an IPv6 address. */
const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '')

/** Queries the DNS directly: `dns.lookup` would occupy a thread of the libuv pool while a name server hangs. */
async function resolveHost(host: string): Promise<string[]> {
  // RFC 6761, section 6.3.
  if (LOCALHOST.test(host)) return ['127.0.0.1', '::1']
  const resolver = new Resolver({ timeout: 3_000, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/** Finds the allowed addresses of a host for a connection, which goes to no other: a later answer of the DNS changes nothing. */
const allowedLookup =
  ({ isAllowedAddress, resolve = resolveHost }: Receivers): LookupFunction =>
  (host, _options, found) =>
    void resolve(host).then(
      (addresses) => {
        const allowed = addresses.filter(isAllowedAddress).slice(0, MAX_ADDRESSES)
        const fault =
          addresses.length === 0 ? new Error(`no address for ${host}`) : new ForbiddenAddressError()
        found(
          allowed.length === 0 ? fault : null,
          allowed.map((address) => ({ address, family: isIP(address) })),
        )
      },
      (error: unknown) => found(asError(error), []),
    )

/** Responses of status 1xx before the final one. An endless row of them occupies the process. */
const MAX_INTERIM_RESPONSES = 16

/**
 * Sends a request, a POST if it has a body, over a separate connection to an allowed address of its host. Resolves to the head of
 * the response. Rejects however else the request ends, because its caller holds a slot.
 * @throws ForbiddenAddressError if no address is allowed
 */
export async function sendRequest(
  url: URL,
  { headers, body }: { readonly headers: OutgoingHttpHeaders; readonly body?: string },
  receivers: Receivers,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const host = hostOf(url)
  // An address is not looked up.
  if (isIP(host) !== 0 && !receivers.isAllowedAddress(host)) throw new ForbiddenAddressError()
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const { request, Agent } = url.protocol === 'https:' ? https : http
  const outgoing = request(url, {
    // Whatever options Node was started with: the look-up returns several addresses.
    agent: new Agent({ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECT_MS }),
    method: body === undefined ? 'GET' : 'POST',
    headers,
    lookup: allowedLookup(receivers),
    signal,
  })
  let interim = 0
  outgoing.on('information', () => {
    if (++interim <= MAX_INTERIM_RESPONSES) return
    reject(new Error('too many interim responses'))
    outgoing.destroy()
  })
  outgoing.on('response', resolve)
  // Node emits no `response` for status 101.
  outgoing.on('upgrade', resolve)
  outgoing.on('error', reject)
  outgoing.on('close', () => reject(new Error('no response')))
  outgoing.end(body)
  return promise
}

/** From the DNS look-up to the response. Standard Webhooks recommends 15 to 30 s. */
const TIMEOUT_MS = 20_000
/** Limit for `Retry-After`. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000
/** Bytes of a response that are read; the services answer with much less. */
const MAX_RESPONSE_BYTES = 64 * 1024

export interface PostOptions extends Receivers {
  readonly userAgent: string
}

export interface PostRequest {
  readonly url: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether to read the body of the response. */
  readonly readsBody?: boolean
}

export interface PostResponse {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  /** Empty if it was not read. */
  readonly text: string
}

/**
 * Posts JSON to a receiver whose address may come from a client. Follows no redirects.
 * @param outcomeOf reads the response
 */
export async function post(
  outgoing: PostRequest,
  options: PostOptions,
  signal: AbortSignal,
  outcomeOf: (response: PostResponse) => Outcome,
): Promise<Outcome> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return outcomeOf(await exchange(outgoing, options, AbortSignal.any([signal, timeout])))
  } catch (error) {
    if (timeout.aborted) return failure('El receptor no respondió a tiempo')
    if (error instanceof ForbiddenAddressError) return failure('La dirección del receptor no está permitida')
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    return failure(`No se pudo conectar con el receptor${code}`)
  }
}

async function exchange(
  { url, body, headers, readsBody = false }: PostRequest,
  options: PostOptions,
  signal: AbortSignal,
): Promise<PostResponse> {
  const sent = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': options.userAgent,
    ...headers,
  }
  const incoming = await sendRequest(new URL(url), { headers: sent, body }, options, signal)
  try {
    const { statusCode: code = 0, headers: received } = incoming
    return { code, headers: received, text: readsBody ? await textOf(incoming) : '' }
  } finally {
    incoming.destroy()
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    size += bytes.length
    if (size >= MAX_RESPONSE_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_RESPONSE_BYTES)
}

/** Parses `Retry-After`, seconds or a date (RFC 9110, section 10.2.3). Returns 0 for anything else. */
export function retryAfterMs(text: string, now: number): number {
  const requested = /^\d{1,9}$/.test(text)
    ? Number(text) * 1000
    : HTTP_DATE.test(text)
      ? Date.parse(text) - now
      : 0
  return requested > 0 ? Math.min(requested, MAX_RETRY_AFTER_MS) : 0
}
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/
