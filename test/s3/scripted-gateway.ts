import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from '../support/listen.ts'

interface Stored {
  readonly bytes: Buffer
  readonly sha256: string
}

/** How one request goes wrong. What is not scripted goes well. */
export type Trouble =
  /** Answered with this status and error code; as plain text where it has no code, as balancers do. */
  | { readonly kind: 'status'; readonly status: number; readonly code?: string }
  /** Never answered. */
  | { readonly kind: 'hang' }
  /** The connection breaks before an answer; `done` after the work was done. */
  | { readonly kind: 'break'; readonly done: boolean }
  /** The head and `bytes` of the body come, then nothing more. */
  | { readonly kind: 'hang-in-body'; readonly bytes: number }
  /** A byte each second, and the rest when this trouble is over. */
  | { readonly kind: 'drip' }
  /** The head and `bytes` of the body come, and then the connection ends. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** Whole, with its first bit flipped. */
  | { readonly kind: 'rot' }
  /** Without a length, and without the end of the body. */
  | { readonly kind: 'no-length' }

/**
 * A scripted object store, to test how its client handles faults. It proves nothing about real stores and checks no
 * signature.
 */
export class ScriptedGateway {
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy())
  })
  #port = 0
  readonly objects = new Map<string, Stored>()
  /** Method and path of each request, in order. */
  readonly requests: string[] = []
  /** Taken one by one, a request each; undefined lets one through. */
  script: (Trouble | undefined)[] = []
  /** Applies to every request once the script is over. */
  always: Trouble | undefined
  /** Where `always` applies: to paths that match this. */
  where = /^/
  openResponses = 0

  static async start(): Promise<ScriptedGateway> {
    const gateway = new ScriptedGateway()
    gateway.#port = await listen(gateway.#server)
    return gateway
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    const path = url.split('?', 1)[0] ?? ''
    this.requests.push(`${method} ${path}`)
    const trouble =
      this.script.length > 0 ? this.script.shift() : this.where.test(path) ? this.always : undefined
    this.openResponses++
    response.once('close', () => this.openResponses--)
    const body = Buffer.concat(await request.toArray())
    switch (trouble?.kind) {
      case 'hang':
        return
      case 'status':
        return fail(response, trouble.status, trouble.code)
      case 'break':
        if (trouble.done) this.#store(method, path, request, body)
        response.destroy()
        return
      case 'hang-in-body':
      case 'cut':
      case 'rot':
      case 'no-length':
      case 'drip':
      case undefined:
        if (method === 'HEAD' && /^\/[^/]+\/?$/.test(path)) return void response.end()
        if (method === 'GET' && url.includes('list-type=2')) return this.#list(url, response)
        return this.#answer(method, path, request, response, body, trouble)
    }
  }

  #store(method: string, path: string, request: IncomingMessage, bytes: Buffer): boolean {
    if (method !== 'PUT') return false
    if (request.headers['if-none-match'] === '*' && this.objects.has(path)) return false
    this.objects.set(path, { bytes, sha256: String(request.headers['x-amz-meta-sha256']) })
    return true
  }

  #list(url: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, this.endpoint)
    const bucket = `${pathname.replace(/\/$/, '')}/`
    const keys = [...this.objects.keys()]
      .map((path) => decodeURIComponent(path.slice(bucket.length)))
      .filter((key) => key.startsWith(searchParams.get('prefix') ?? ''))
      .filter(
        (key) =>
          searchParams.get('delimiter') === null ||
          !key.slice(searchParams.get('prefix')?.length).includes('/'),
      )
    const sizeOf = (key: string) =>
      this.objects.get(`${bucket}${key.split('/').map(encodeURIComponent).join('/')}`)?.bytes.length
    const entries = keys.map(
      (key) =>
        `<Contents><Key>${key}</Key><Size>${sizeOf(key) ?? 0}</Size><LastModified>${new Date().toISOString()}</LastModified></Contents>`,
    )
    response.writeHead(200, { 'content-type': 'application/xml' })
    response.end(`<?xml version="1.0"?><ListBucketResult>${entries.join('')}</ListBucketResult>`)
  }

  #answer(
    method: string,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    trouble: Extract<Trouble, { kind: 'hang-in-body' | 'cut' | 'rot' | 'no-length' | 'drip' }> | undefined,
  ): void {
    if (method === 'PUT') {
      if (this.#store(method, path, request, body)) response.end()
      else fail(response, 412, 'PreconditionFailed')
      return
    }
    if (method === 'DELETE') {
      this.objects.delete(path)
      response.writeHead(204).end()
      return
    }
    const object = this.objects.get(path)
    if (object === undefined) return fail(response, 404, 'NoSuchKey')
    const size = object.bytes.byteLength
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    const [start, end] = range === null ? [0, size - 1] : [Number(range[1]), Number(range[2])]
    response.writeHead(range === null ? 200 : 206, {
      ...(trouble?.kind === 'no-length' ? {} : { 'content-length': end - start + 1 }),
      'x-amz-meta-sha256': object.sha256,
      ...(range === null ? {} : { 'content-range': `bytes ${start}-${end}/${size}` }),
    })
    if (method === 'HEAD') return void response.end()
    const part = Buffer.from(object.bytes.subarray(start, end + 1))
    if (trouble?.kind === 'drip') {
      let sent = 0
      const drip = setInterval(() => {
        if (this.always === trouble) response.write(part.subarray(sent, ++sent))
        else response.end(part.subarray(sent))
      }, 1_000)
      response.once('close', () => clearInterval(drip))
      return
    }
    if (trouble?.kind === 'rot') part[0] = (part[0] ?? 0) ^ 1
    if (trouble === undefined || trouble.kind === 'rot') return void response.end(part)
    if (trouble.kind === 'no-length') return void response.write(part)
    response.flushHeaders()
    response.write(part.subarray(0, trouble.bytes), () => {
      if (trouble.kind === 'cut') response.destroy()
    })
  }
}

function fail(response: ServerResponse, status: number, code: string | undefined): void {
  if (code === undefined) response.writeHead(status, { 'content-type': 'text/plain' }).end('no')
  else response.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`)
}
