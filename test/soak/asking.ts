import { setTimeout as pause } from 'node:timers/promises'

/**
 * The longest that any request may take to its answer, right or not, whatever is broken: two waits for the database and
 * three for the store, one after the other, stay below it.
 */
const DEADLINE_MS = 20_000

export interface Answered {
  readonly kind: 'answered'
  readonly status: number
  readonly bytes: Buffer
  /** The parsed body where it is JSON. */
  readonly body: unknown
  /** When the request was sent. */
  readonly since: number
}

/** A clear refusal, or a connection that broke where one may: the request may have been carried out or not. */
export interface Unknown {
  readonly kind: 'unknown'
}

interface Timing {
  count: number
  slowestMs: number
}

/** Sends requests and judges what is common to all answers: in time, whole, and a clear 5xx where they are one. */
export class Asking {
  readonly violations: string[] = []
  /** By endpoint and status. */
  readonly answers = new Map<string, Timing>()
  /** When something was broken by which responses may break off. */
  readonly #breaks: { readonly name: string | undefined; until: number }[] = []
  readonly #say: (line: string) => void
  readonly #deadlineMs: number
  /** The moment from which on all is well again; undefined while something is broken on purpose. */
  calmSince: number | undefined

  /** @param say called immediately, so that a run that is stopped early shows its faults */
  constructor(say: (line: string) => void, deadlineMs = DEADLINE_MS) {
    this.#say = say
    this.#deadlineMs = deadlineMs
  }

  /** How many uploads and deletions of pictures were acknowledged. */
  get acknowledged(): number {
    const count = (name: string) => this.answers.get(`${name} 200`)?.count ?? 0
    return count('upload') + count('delete')
  }

  violation(text: string): void {
    this.violations.push(`${new Date().toISOString()} ${text}`)
    this.#say(`WRONG ${text}`)
  }

  /** Kills a node: what is under way there breaks off. */
  kill(node: { kill(): Promise<void> }): Promise<void> {
    return this.breakOff(() => node.kill())
  }

  /**
   * Breaks something by which responses may break off.
   * @param name limits it to requests of this name
   */
  async breakOff(run: () => Promise<void>, name?: string): Promise<void> {
    const broken = { name, until: Infinity }
    this.#breaks.push(broken)
    await run()
    // The balancer needs a moment to see it.
    broken.until = performance.now() + 500
  }

  async ask(name: string, url: string, init: RequestInit = {}): Promise<Answered | Unknown> {
    const since = performance.now()
    const wasCalm = this.calmSince !== undefined && this.calmSince <= since
    const deadline = AbortSignal.timeout(this.#deadlineMs)
    let status: number
    let bytes: Buffer
    let type: string
    try {
      const response = await fetch(url, { ...init, signal: deadline })
      status = response.status
      type = response.headers.get('content-type') ?? ''
      bytes = Buffer.from(await response.arrayBuffer())
    } catch (error) {
      this.#note(name, 'broken', since)
      const reason = reasonOf(error)
      if (deadline.aborted) this.violation(`${name}: no answer within ${this.#deadlineMs} ms`)
      else if (!this.#mayBreakOff(name, since)) this.violation(`${name}: broke off: ${reason}`)
      return { kind: 'unknown' }
    }
    this.#note(name, String(status), since)
    const body = type.startsWith('application/json') ? parsed(bytes) : undefined
    if (status < 500) return { kind: 'answered', status, bytes, body, since }
    if (!isClear(status, body)) this.violation(`${name}: ${status} that says nothing clear: ${String(bytes)}`)
    if (wasCalm && this.calmSince !== undefined && !this.#mayBreakOff(name, since)) {
      this.violation(`${name}: ${status} while nothing was broken`)
    }
    // Retries after a short pause.
    await pause(50)
    return { kind: 'unknown' }
  }

  #mayBreakOff(asked: string, since: number): boolean {
    return this.#breaks.some(({ name, until }) => until >= since && (name ?? asked) === asked)
  }

  #note(name: string, outcome: string, since: number): void {
    const key = `${name} ${outcome}`
    const timing = this.answers.get(key) ?? { count: 0, slowestMs: 0 }
    timing.count++
    timing.slowestMs = Math.max(timing.slowestMs, performance.now() - since)
    this.answers.set(key, timing)
  }
}

/** All faults here are temporary, so the right response is one to retry. */
function isClear(status: number, body: unknown): boolean {
  if (status !== 502 && status !== 503 && status !== 504) return false
  if (typeof body !== 'object' || body === null || !('status' in body) || !('msg' in body)) return false
  return body.status === status && typeof body.msg === 'string' && body.msg !== ''
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

/** A field of a JSON answer. */
export function field(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null
    ? Object.entries(body).find(([key]) => key === name)?.[1]
    : undefined
}
