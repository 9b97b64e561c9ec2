import { useEffect, useState } from 'react'
import { withRetries } from '../../api/retry.ts'
import { serverNow } from '../../base/server.ts'
import { createStore, useStore } from '../../base/store.ts'
import { readRecord } from '../domains/read-record.ts'
import type { DomainRecord } from '../domains/records.ts'

/** Concurrent look-ups. A browser opens six connections per host: some stay free for the rest of the page. */
const MAX_RUNNING = 4
/** Delay while the user types. */
const START_AFTER_MS = 200
/** Interval in which answers are rendered together. */
const DRAW_EVERY_MS = 100

/** The result for a name: its record, nothing, or the reason why it is unknown. */
export type LookupResult = { readonly record: DomainRecord | null } | { readonly error: unknown }

export const isNew = (found: LookupResult | undefined): boolean =>
  found !== undefined && 'record' in found && found.record === null

/** Looks names up one by one, each once, a few at a time. */
class LookUp {
  readonly found = createStore<ReadonlyMap<string, LookupResult>>(new Map())
  readonly #known = new Map<string, LookupResult>()
  /** When each was looked up, by the service's clock. */
  readonly #askedAt = new Map<string, number>()
  #queue: string[] = []
  #running = new Set<string>()
  #stop = new AbortController()
  #drawing: ReturnType<typeof setTimeout> | undefined

  start(): () => void {
    this.#stop = new AbortController()
    return () => {
      this.#stop.abort()
      clearTimeout(this.#drawing)
      this.#drawing = undefined
    }
  }

  /** Restricts look-ups to these names, so that names removed from the box are not looked up. */
  want(names: readonly string[]): void {
    this.#queue = names.filter((name) => !this.#known.has(name) && !this.#running.has(name))
    while (this.#running.size < MAX_RUNNING && this.#queue.length > 0) void this.#work()
  }

  /** Retries failed look-ups. */
  retry(): void {
    const failed = [...this.#known].flatMap(([name, found]) => ('error' in found ? [name] : []))
    this.forget(failed)
    this.want([...this.#queue, ...failed])
  }

  /** Drops results that may have changed. */
  forget(names: readonly string[]): void {
    for (const name of names) {
      this.#known.delete(name)
      this.#askedAt.delete(name)
    }
    this.found.set(new Map(this.#known))
  }

  /** When the first of these names was looked up, by the service's clock. */
  askedAt(names: readonly string[]): number {
    return Math.min(...names.map((name) => this.#askedAt.get(name) ?? 0))
  }

  async #work(): Promise<void> {
    const { signal } = this.#stop
    for (let name = this.#queue.shift(); name !== undefined; name = this.#queue.shift()) {
      this.#running.add(name)
      this.#askedAt.set(name, serverNow())
      const found = await find(name, signal)
      this.#running.delete(name)
      if (signal.aborted) return
      this.#known.set(name, found)
      this.#drawing ??= setTimeout(() => {
        this.#drawing = undefined
        this.found.set(new Map(this.#known))
      }, DRAW_EVERY_MS)
    }
  }
}

async function find(name: string, signal: AbortSignal): Promise<LookupResult> {
  try {
    const record = await withRetries(
      () => readRecord(name, signal),
      () => undefined,
      signal,
    )
    return { record }
  } catch (error) {
    return { error }
  }
}

/** Returns the known results for these names. */
export function useLookup(names: readonly string[]) {
  const [lookUp] = useState(() => new LookUp())
  const found = useStore(lookUp.found)
  useEffect(() => lookUp.start(), [lookUp])
  useEffect(() => {
    const timer = setTimeout(() => lookUp.want(names), START_AFTER_MS)
    return () => clearTimeout(timer)
  }, [lookUp, names, found])
  return {
    found,
    retry: () => lookUp.retry(),
    askedAt: (some: readonly string[]) => lookUp.askedAt(some),
    forget: (some: readonly string[]) => lookUp.forget(some),
  }
}
