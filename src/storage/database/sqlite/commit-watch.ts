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
export function watchCommits(reader: Connection) {
  const watchers = new Set<() => void>()
  const versions = new Map<Topic, number>()
  let dataVersion = -1
  let newest: number | undefined
  /** Whether this turn of the event loop has polled: requests that arrive together see the same state. */
  let hasPolled = false
  let timer: NodeJS.Timeout | undefined

  function poll(): void {
    if (hasPolled) return
    hasPolled = true
    setImmediate(() => (hasPolled = false))
    const version = reader.dataVersion()
    if (version === dataVersion) return
    const found = reader.first(NEWEST, [newest ?? Number.MAX_SAFE_INTEGER]) ?? {}
    for (const topic of TOPICS) if (found[topic] !== null) versions.set(topic, Number(found[topic]))
    dataVersion = version
    newest = Number(found['newest'] ?? 0)
    for (const callback of watchers) callback()
  }

  const close = () => {
    clearInterval(timer)
    timer = undefined
  }

  return {
    version(topic: Topic): number {
      poll()
      return versions.get(topic) ?? 0
    },

    /** There is one writer, so ids grow in the order of commits: no lower one appears later. */
    async stableId(): Promise<number> {
      poll()
      return newest ?? 0
    },

    /** To be called after each commit of this process. */
    committed(): void {
      hasPolled = false
      if (watchers.size > 0) poll()
    },

    watch(callback: () => void): () => void {
      watchers.add(callback)
      timer ??= setInterval(poll, POLL_MS).unref()
      return () => {
        watchers.delete(callback)
        if (watchers.size === 0) close()
      }
    },

    close,
  } satisfies ChangeSource & Record<string, unknown>
}
