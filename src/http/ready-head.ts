import { STATUS_CODES, validateHeaderName, validateHeaderValue, type ServerResponse } from 'node:http'

/**
 * The head of an answer that is given many times, as it goes on the wire. Node checks and joins each header at every answer,
 * which took a tenth of the time of a small one.
 */
export class ReadyHead {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** The status line and the headers, without those that belong to the moment and the connection. */
  readonly text: string
  readonly #named: Readonly<Record<string, string>>
  #varying: ReadyHead | undefined

  /** @throws for a header that cannot be sent, as Node does */
  constructor(status: number, headers: Readonly<Record<string, string>>) {
    this.status = status
    this.#named = headers
    this.headers = Object.entries(headers).flat()
    this.text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${headerLines(this.headers)}`
  }

  /**
   * The same where one more header of the request has a say in the answer: all in one `Vary`, since caches there are (nginx
   * before 1.23) that heed one only. Made once: of a service it is always the same header.
   */
  varyingBy(name: string): ReadyHead {
    const { vary } = this.#named
    const all = vary === undefined ? name : `${name}, ${vary}`
    this.#varying ??= new ReadyHead(this.status, { ...this.#named, vary: all })
    return this.#varying
  }
}

/** On every answer that a key opens, and on every refusal: no cache may keep it, no browser may take it for something else. */
export const PRIVATE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
export const JSON_TYPE = 'application/json; charset=utf-8'
/** Heads of JSON up to this length are kept once they are made. */
const MAX_KEPT_BYTES = 4_096
const jsonHeads: (ReadyHead | undefined)[] = []

/**
 * The head of a 200 with JSON.
 * @param link a `Link` header
 */
export function jsonHead(bytes: number, link: string | undefined): ReadyHead {
  const known = link === undefined ? jsonHeads[bytes] : undefined
  if (known !== undefined) return known
  const headers = { ...PRIVATE_HEADERS, 'content-type': JSON_TYPE, 'content-length': String(bytes) }
  const head = new ReadyHead(200, link === undefined ? headers : { ...headers, link })
  if (link === undefined && bytes <= MAX_KEPT_BYTES) jsonHeads[bytes] = head
  return head
}

/** @param headers names and values in turn */
export function headerLines(headers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = [headers[i], headers[i + 1]]
    validateHeaderName(name)
    validateHeaderValue(name, value)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** What Node adds to the head of each answer on a connection that stays open. */
export class ConnectionLines {
  readonly keepAliveMs: number
  readonly #lines: string
  #second = -1
  #text = ''

  /** @param keepAliveMs how long the server keeps a connection on which nothing happens */
  constructor(keepAliveMs: number) {
    this.keepAliveMs = keepAliveMs
    this.#lines = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1_000)}\r\n\r\n`
  }

  at(now: number): string {
    const second = Math.floor(now / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#text = `Date: ${new Date(now).toUTCString()}\r\n${this.#lines}`
    }
    return this.#text
  }
}

/** What `writeHead` fills, and what says that it was sent. */
interface Headed {
  _header: string | null
  _headerSent: boolean
}

const isHeaded = (response: ServerResponse): response is ServerResponse & Headed =>
  '_header' in response && '_headerSent' in response

/**
 * Hands a whole head to an answer of which nothing is sent yet. Node has no public way for that.
 * @param isInBody what is sent as the body begins with it
 * @returns false where there is no such place (then nothing was done)
 */
export function setHead(response: ServerResponse, status: number, head: string, isInBody = false): boolean {
  if (!isHeaded(response)) return false
  response.statusCode = status
  response._header = head
  if (isInBody) response._headerSent = true
  return true
}

/** Has an answer say how long its connection is kept, which Node says of what it ends by itself only. */
export function announceKeepAlive(response: ServerResponse, ms: number): void {
  Reflect.set(response, '_keepAliveTimeout', ms)
}
