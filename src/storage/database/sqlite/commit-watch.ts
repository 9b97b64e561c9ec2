import type { Topic } from '../changes/change.ts'
import type { ChangeSource } from '../changes/change-log.ts'
import type { Connection } from './connection.ts'

/** While somebody follows, other processes' commits are looked for this often: a look takes some microseconds. */
const LOOK_MS = 50

/** The newest change of each topic. `?1` is an id up to which changes are known: the walk back over domains ends there. */
const NEWEST = `SELECT
  (SELECT id FROM changes WHERE id > ?1 AND topic = 'domain' ORDER BY id DESC LIMIT 1) AS domain,
  (SELECT max(id) FROM changes WHERE topic = 'image' AND topic <> 'domain') AS image,
  (SELECT max(id) FROM changes WHERE topic = 'key' AND topic <> 'domain') AS key,
  (SELECT max(id) FROM changes WHERE topic = 'account' AND topic <> 'domain') AS account,
  (SELECT max(id) FROM changes) AS newest`

/** Notices commits, of this process and of others, on a connection that never writes. */
export class CommitWatch implements ChangeSource {
  readonly #reader: Connection
  readonly #watchers = new Set<() => void>()
  readonly #versions: Record<Topic, number> = { domain: 0, image: 0, key: 0, account: 0 }
  #dataVersion = -1
  #newest: number | undefined
  /** Looked at once a turn of the event loop: requests that arrived together are as old as each other. */
  #looked = false
  #timer: NodeJS.Timeout | undefined

  constructor(reader: Connection) {
    this.#reader = reader
  }

  version(topic: Topic): number {
    this.#look()
    return this.#versions[topic]
  }

  /** Commits come one after the other, and ids with them: what is there is settled. */
  settled(): Promise<number> {
    this.#look()
    return Promise.resolve(this.#newest ?? 0)
  }

  /** A transaction of this process was committed. */
  committed(): void {
    this.#looked = false
    if (this.#watchers.size > 0) this.#look()
  }

  watch(callback: () => void): () => void {
    this.#watchers.add(callback)
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
    return () => {
      this.#watchers.delete(callback)
      if (this.#watchers.size === 0) this.close()
    }
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    if (this.#looked) return
    this.#looked = true
    setImmediate(() => (this.#looked = false))
    const dataVersion = this.#reader.dataVersion()
    if (dataVersion === this.#dataVersion) return
    const found = this.#reader.first(NEWEST, [this.#newest ?? Number.MAX_SAFE_INTEGER]) ?? {}
    for (const topic of ['domain', 'image', 'key', 'account'] as const) {
      const newest = found[topic]
      if (newest !== null) this.#versions[topic] = Number(newest)
    }
    this.#dataVersion = dataVersion
    this.#newest = Number(found['newest'] ?? 0)
    for (const callback of this.#watchers) callback()
  }
}
