/**
 * Prints, below a test that failed, the last request to each service, its answer, and the last lines that the service
 * logged. Sees every `fetch` of this process through the channels of undici. Keys are left out.
 */
import { channel } from 'node:diagnostics_channel'
import { afterEach, type SuiteContext, type TestContext } from 'node:test'

/** Characters that are shown of a body. */
const BODY = 1_000
const LOG_LINES = 12
/** Services of a process that are remembered: tests seldom have more. */
const MAX_SERVICES = 8

interface Exchange {
  readonly request: string
  sent: string
  status: number | undefined
  received: string
}

const exchanges = new Map<string, Exchange>()
const byRequest = new WeakMap<object, Exchange>()
const logs = new Map<string, () => string>()

/** Has the end of a service's log printed when a test fails that spoke to it. */
export function reportLog(url: string, log: () => string): void {
  logs.delete(url)
  logs.set(url, log)
  forgetOldest(logs)
}

function forgetOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys()
  if (map.size > MAX_SERVICES && oldest !== undefined) map.delete(oldest)
}

/** What undici publishes, as far as it is used here. */
interface Message {
  readonly request: { readonly origin?: unknown; readonly method?: unknown; readonly path?: unknown }
  readonly response?: { readonly statusCode?: number }
  readonly chunk?: Uint8Array | string
}

function on(event: string, handle: (message: Message) => void): void {
  // The documented shape of these messages; the channel itself has no types.
  channel(`undici:request:${event}`).subscribe((message) => handle(message as Message))
}

on('create', ({ request }) => {
  const { origin, method, path } = request
  const exchange = { request: `${String(method)} ${String(path)}`, sent: '', status: undefined, received: '' }
  byRequest.set(request, exchange)
  exchanges.delete(String(origin))
  exchanges.set(String(origin), exchange)
  forgetOldest(exchanges)
})
on('bodyChunkSent', ({ request, chunk }) => {
  const exchange = byRequest.get(request)
  if (exchange !== undefined) exchange.sent = longer(exchange.sent, chunk)
})
on('headers', ({ request, response }) => {
  const exchange = byRequest.get(request)
  if (exchange !== undefined) exchange.status = response?.statusCode
})
on('bodyChunkReceived', ({ request, chunk }) => {
  const exchange = byRequest.get(request)
  if (exchange !== undefined) exchange.received = longer(exchange.received, chunk)
})

function longer(text: string, chunk: Uint8Array | string = ''): string {
  if (text.length > BODY) return text
  return text + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8', 0, BODY + 1))
}

function report(context: TestContext | SuiteContext): void {
  const last = [...exchanges]
  exchanges.clear()
  const error = 'error' in context ? context.error : undefined
  if (!(error instanceof Error)) return
  for (const [origin, exchange] of last) {
    context.diagnostic(withoutKeys(`last request to ${origin}: ${exchange.request}`))
    if (exchange.sent !== '') context.diagnostic(withoutKeys(`  sent: ${shortened(exchange.sent)}`))
    context.diagnostic(withoutKeys(`  answer: ${exchange.status ?? 'none'} ${shortened(exchange.received)}`))
    const lines = logs.get(origin)?.().trimEnd().split('\n').slice(-LOG_LINES) ?? []
    for (const line of lines) context.diagnostic(withoutKeys(`  log: ${shortened(line)}`))
  }
}

// Other programs load this too, such as the runner itself, which has no tests.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) afterEach(report)

/** Text of one line; control characters of a body would disturb the terminal. */
function shortened(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\ufffd]+/gu, '·')
  return line.length > BODY ? `${line.slice(0, BODY)}…` : line
}

/** Keys look like hashes of images, which a report must show: they are known by where they are. */
function withoutKeys(text: string): string {
  return text
    .replaceAll(/((?:^|[?&;\s])api=)[^&\s]*/g, '$1…')
    .replaceAll(/(name="api"·)[^·]*/g, '$1…')
    .replaceAll(/("(?:api|key|secret)"\s*:\s*")[^"]*/g, '$1…')
}
