import { TOPICS, type Topic } from '../changes/change.ts'
import type { ChangeSource } from '../changes/change-log.ts'
import type { Connection } from './connection.ts'

/** How often commits of other processes are looked for while there are followers; it takes microseconds. */
const POLL_MS = 50

/** Up to the id `?1` changes are known: the search among domains, whose changes have no index by topic, stops there. */
const NEWEST_DOMAIN = `SELECT id FROM changes WHERE id > ?1 AND topic = 'domain' ORDER BY id DESC LIMIT 1`

/** The newest change of each topic, and of all. */
const NEWEST = `SELECT ${TOPICS.map((topic) => {
  const newest =
    topic === 'domain'
      ? NEWEST_DOMAIN
      : `SELECT max(id) FROM changes WHERE topic = '${topic}' AND topic <> 'domain'`
  return `(${newest}) AS ${topic}, `
}).join('')}(SELECT max(id) FROM changes) AS newest`

/** Detects commits of this and other processes, on a connection that never writes. */
export class CommitWatch implements ChangeSource {
  readonly #reader: Connection
  readonly #watchers = new Set<() => void>()
  readonly #versions = new Map<Topic, number>()
  #dataVersion = -1
  #newest: number | undefined
  /** Whether this turn of the event loop has polled: requests that arrive together see the same state. */
  #polled = false
  #timer: NodeJS.Timeout | undefined

  constructor(reader: Connection) {
    this.#reader = reader
  }

  version(topic: Topic): number {
    this.#poll()
    return this.#versions.get(topic) ?? 0
  }

  /** There is one writer, so ids grow in the order of commits: no lower one appears later. */
  stableId(): Promise<number> {
    this.#poll()
    return Promise.resolve(this.#newest ?? 0)
  }

  /** To be called after each commit of this process. */
  committed(): void {
    this.#polled = false
    if (this.#watchers.size > 0) this.#poll()
  }

  watch(callback: () => void): () => void {
    this.#watchers.add(callback)
    this.#timer ??= setInterval(() => this.#poll(), POLL_MS).unref()
    return () => {
      this.#watchers.delete(callback)
      if (this.#watchers.size === 0) this.close()
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #poll(): void {
    if (this.#polled) return
    this.#polled = true
    setImmediate(() => (this.#polled = false))
    const dataVersion = this.#reader.dataVersion()
    if (dataVersion === this.#dataVersion) return
    const found = this.#reader.first(NEWEST, [this.#newest ?? Number.MAX_SAFE_INTEGER]) ?? {}
    for (const topic of TOPICS) {
      const newest = found[topic]
      if (newest !== null) this.#versions.set(topic, Number(newest))
    }
    this.#dataVersion = dataVersion
    this.#newest = Number(found['newest'] ?? 0)
    for (const callback of this.#watchers) callback()
  }
}
