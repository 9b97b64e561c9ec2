import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { crc32 } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { splitCode } from './error-codes.ts'

/** A JSON answer, of an error without its code. Its fields are asserted by the tests, so their types are left open. */
export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly code: string | undefined
  /** Reason of a refused upload. */
  readonly reason: unknown
  readonly headers: Headers
}

export async function answerOf(response: Response): Promise<Answer> {
  const { body, code, reason } = splitCode(await response.json())
  assert.ok(typeof body === 'object' && body !== null, 'an answer is a JSON object')
  return { status: response.status, body: { ...body }, code, reason, headers: response.headers }
}

export const INFO = { name: 'foto.png', mime: 'image/png', ip: '200.1.2.3' }

/** What an answer has of an image that nobody edited. */
export const UNEDITED = { tags: [], meta: {}, focus: null, public: 1 }

export const problem = (status: number, msg: string) => ({ status, body: { status, msg } })
export const NO_INFO = problem(401, 'Falta información de la imagen')
export const DAMAGED = problem(401, 'La imagen está dañada')
export const NO_IMAGE = problem(404, 'La imagen no existe')

/** What an assertion compares of an answer: all but its headers. */
export const plain = ({ status, body }: Answer) => ({ status, body })

/** Calls image hosting as one application. */
export class ImageClient {
  readonly url: string
  readonly key: string

  constructor(url: string, key: string) {
    this.url = url
    this.key = key
  }

  endpoint(name: string, query: Readonly<Record<string, string>> = {}): string {
    return `${this.url}/api/v1/imagestore/${name}?${new URLSearchParams({ api: this.key, ...query })}`
  }

  /** Posts an upload's fields as JSON. */
  async post(fields: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Answer> {
    const response = await fetch(this.endpoint('upload'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
      signal: signal ?? null,
    })
    return answerOf(response)
  }

  upload(bytes: Uint8Array, info: Readonly<Record<string, unknown>> = {}, signal?: AbortSignal) {
    return this.post({ image: Buffer.from(bytes).toString('base64'), info: { ...INFO, ...info } }, signal)
  }

  /** Uploads an image that must be stored, and returns its hash. */
  async store(bytes: Uint8Array, info: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const { status, body } = await this.upload(bytes, info)
    assert.equal(status, 200, JSON.stringify(body))
    return String(body['hash'])
  }

  /** Calls an endpoint with its parameters in the query. */
  async call(method: string, name: string, query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return answerOf(await fetch(this.endpoint(name, query), { method }))
  }

  get(hash: string): Promise<Answer> {
    return this.call('GET', 'get', { hash })
  }

  remove(hash: string): Promise<Answer> {
    return this.call('DELETE', 'delete', { hash })
  }

  list(query: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.call('GET', 'list', query)
  }

  link(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`${this.url}/i/${path}`, init)
  }
}

export async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer())
}

/** Posts the bytes of an image alone, as to the address of a ticket. */
export async function postBytes(
  url: string,
  bytes: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = new Uint8Array(bytes)
  return answerOf(
    await fetch(url, { method: 'POST', headers: { 'content-type': 'image/png', ...headers }, body }),
  )
}

/** `GET` of a target exactly as written, which `fetch` would normalise. */
export function getRaw(origin: string, target: string): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path: target, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      })
    })
    sent.on('error', reject).end()
  })
}

/** The hash that the contract gives these bytes, worked out apart from the service's own code. */
export function expectedHash(bytes: Uint8Array): string {
  const digest = createHash('sha256').update(bytes).digest().subarray(0, 20)
  const bits = Array.from(digest, (octet) => octet.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => 'abcdefghijklmnopqrstuvwxyz234567'.charAt(parseInt(five, 2)))
}

/** A picture in which no two places look the same, so that a turn or a cut shows. */
export function gradient(width: number, height: number): Sharp {
  const data = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3
      data[at] = Math.round((255 * x) / Math.max(1, width - 1))
      data[at + 1] = Math.round((255 * y) / Math.max(1, height - 1))
      data[at + 2] = 128
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
}

/** A picture of noise, which no format makes much smaller. */
export function noise(width: number, height: number): Sharp {
  const data = Buffer.alloc(width * height * 3)
  // A linear congruential generator: the same noise in every run.
  let state = 1
  for (let at = 0; at < data.length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    data[at] = state >>> 24
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
}

/** A picture of one colour. One that is translucent takes four channels. */
export const solid = (width: number, height: number, background: string, channels: 3 | 4 = 3): Sharp =>
  sharp({ create: { width, height, channels, background } })

/** One frame for each colour. */
export async function animation(width: number, height: number, colours: readonly string[]): Promise<Sharp> {
  const frames = await Promise.all(
    colours.map((background) => solid(width, height, background).png().toBuffer()),
  )
  return sharp(frames, { join: { animated: true } })
}

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(data.byteLength)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([size, body, check])
}

/** The same picture in other bytes: a PNG with a comment of its own. */
export function stamped(png: Buffer, text: string): Buffer {
  const end = png.length - 12
  const comment = pngChunk('tEXt', Buffer.from(`Comment\0${text}`, 'latin1'))
  return Buffer.concat([png.subarray(0, end), comment, png.subarray(end)])
}
