import { CatalejoError, wait } from './request.ts'
import type { DomainEvent } from './schema.ts'

/** An event of a stream; `gap` means that some were missed, so that lists have to be read again. */
export type ServiceEvent =
  | { readonly id: string; readonly event: Exclude<DomainEvent['event'], 'gap'>; readonly data: DomainEvent }
  | { readonly id: string; readonly event: 'gap'; readonly data: { readonly msg: string } }

export interface EventsOptions {
  /** The last event that was received. Without it the stream starts now. */
  readonly lastEventId?: string | undefined
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined
}

type Open = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>

/** The service sends a comment every 15 s. */
const SILENCE_MS = 45_000
const RETRY_MS = 3_000

/** Reads a stream of server-sent events, and opens it again after its last event when it ends or breaks. */
export async function* readEvents(
  open: Open,
  { lastEventId, signal }: EventsOptions,
): AsyncGenerator<ServiceEvent, void> {
  let id = lastEventId ?? ''
  let retryMs = RETRY_MS
  const isEnded = () => signal?.aborted === true
  while (!isEnded()) {
    const connection = new AbortController()
    const end = () => connection.abort()
    let silence = setTimeout(end, SILENCE_MS)
    signal?.addEventListener('abort', end)
    try {
      const headers: Readonly<Record<string, string>> = id === '' ? {} : { 'last-event-id': id }
      const { body } = await open(headers, connection.signal)
      for await (const block of toBlocks(body, () => {
        clearTimeout(silence)
        silence = setTimeout(end, SILENCE_MS)
      })) {
        if (block.retry !== undefined) retryMs = Number(block.retry)
        id = block.id ?? id
        if (block.event !== undefined && block.data !== undefined)
          yield { id, event: block.event, data: JSON.parse(block.data) } as ServiceEvent
      }
    } catch (error) {
      // Refused, or a fault of the caller; a broken connection is a TypeError or an abort.
      if (error instanceof CatalejoError && error.status < 500) throw error
    } finally {
      clearTimeout(silence)
      signal?.removeEventListener('abort', end)
      connection.abort()
    }
    if (!isEnded()) await wait(retryMs, signal).catch(() => {})
  }
}

type Block = { [Field in 'id' | 'event' | 'data' | 'retry']?: string }

/** Splits a stream into its blocks. @param onBytes called when something arrives */
async function* toBlocks(
  body: ReadableStream<Uint8Array> | null,
  onBytes: () => void,
): AsyncGenerator<Block> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done) return
    onBytes()
    const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks)
      yield Object.fromEntries(
        block.split('\n').map((line) => {
          const cut = line.indexOf(': ')
          return [line.slice(0, cut), line.slice(cut + 2)]
        }),
      )
  }
}
