import assert from 'node:assert/strict'
import { parseCursor } from '../../src/storage/database/changes/change.ts'
import { EVENTS } from './domains.ts'
import { eventually } from './eventually.ts'
import type { Fields } from './http.ts'
import type { TestService } from './test-service.ts'

export interface ServerSentEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

const LIMIT_MS = 60_000

type Source = Pick<TestService, 'url'> & Partial<Pick<TestService, 'newestChange'>>

/** A reader of server-sent events, as the HTML standard says how to read them. */
export class EventReader {
  readonly headers: Headers
  /** Where it would resume. */
  lastId = ''
  retry = ''
  /** Comments that came. */
  comments = 0
  readonly #abort: AbortController
  readonly #blocks: AsyncGenerator<string>

  private constructor(response: Response, abort: AbortController) {
    this.headers = response.headers
    this.#abort = abort
    this.#blocks = toBlocks(response)
  }

  /** Opens a stream that, unless it resumes, begins after everything written until now. */
  static async open(
    service: Source,
    query: Fields,
    headers: Record<string, string> = {},
  ): Promise<EventReader> {
    const resumes = 'last-event-id' in headers || 'last_event_id' in query
    const newest = resumes ? 0 : ((await service.newestChange?.()) ?? 0)
    let reader = await EventReader.#opened(service, query, headers)
    await eventually(async () => {
      if (reader.#position >= newest) return true
      reader.close()
      reader = await EventReader.#opened(service, query, headers)
      return false
    }, 'a stream that begins now')
    return reader
  }

  /** Resolves with the first block, which tells where the stream begins. */
  static async #opened(
    service: Source,
    query: Fields,
    headers: Record<string, string>,
  ): Promise<EventReader> {
    const abort = new AbortController()
    const texts = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
    const url = `${service.url}${EVENTS}?${new URLSearchParams(texts)}`
    const response = await fetch(url, { headers, signal: abort.signal })
    assert.equal(response.status, 200, response.ok ? '' : await response.text())
    const reader = new EventReader(response, abort)
    assert.equal(await reader.#block(), undefined, 'no event comes first')
    assert.notEqual(reader.lastId, '')
    return reader
  }

  /** The next event; undefined when the stream has ended in good order. */
  async next(): Promise<ServerSentEvent | undefined> {
    const timer = setTimeout(() => this.#abort.abort(new Error('no event came')), LIMIT_MS)
    try {
      for (;;) {
        const block = await this.#block()
        if (block === 'end') return undefined
        if (block !== undefined) return block
      }
    } finally {
      clearTimeout(timer)
    }
  }

  async take(count: number): Promise<ServerSentEvent[]> {
    const events: ServerSentEvent[] = []
    while (events.length < count) {
      const event = await this.next()
      assert.ok(event !== undefined, `it ended after ${events.length} of ${count}`)
      events.push(event)
    }
    return events
  }

  close(): void {
    this.#abort.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  /** The id of the last change before it. */
  get #position(): number {
    return parseCursor(this.lastId)?.id ?? 0
  }

  async #block(): Promise<ServerSentEvent | 'end' | undefined> {
    const { done, value } = await this.#blocks.next()
    if (done === true) return 'end'
    let [event, data] = ['message', '']
    for (const line of value.split('\n')) {
      const [name = '', text = ''] = line.split(/: ?(.*)/s)
      if (name === '') this.comments++
      else if (name === 'id') this.lastId = text
      else if (name === 'event') event = text
      else if (name === 'data') data = text
      else if (name === 'retry') this.retry = text
    }
    return data === '' ? undefined : { id: this.lastId, event, data: JSON.parse(data) }
  }
}

async function* toBlocks(response: Response): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    rest += decoder.decode(chunk, { stream: true })
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    yield* blocks
  }
}
