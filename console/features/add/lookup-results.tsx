import { useEffect, useMemo, useState } from 'react'
import { errorMessage } from '../../api/error-message.ts'
import { withRetries } from '../../api/retry.ts'
import { serverNow } from '../../base/server.ts'
import { createStore, useStore } from '../../base/store.ts'
import { Button, Link, Tag } from '../../design/elements.tsx'
import type { PastedNames } from './pasted-names.ts'
import { DomainName } from '../domains/domain-name.tsx'
import { type DomainRecord, readRecord } from '../domains/records.ts'
import { MarkTags, StatusTag } from '../domains/tags.tsx'
import { t, tn } from '../../i18n/index.ts'

interface Props {
  readonly pasted: PastedNames
  readonly found: ReadonlyMap<string, LookupResult>
  readonly isLooking: boolean
  readonly onRetry: () => void
}

/** The verdict on each name, problems first. */
export function LookupResults({ pasted, found, isLooking, onRetry }: Props) {
  const { names, invalid, repeated } = pasted
  const { fresh, recorded, failed, asked } = useMemo(() => sorted(names, found), [names, found])
  if (names.length + invalid.length === 0) return <p className="muted">{t('add.empty')}</p>
  return (
    <section className="stack verdicts" aria-busy={isLooking}>
      <p className="row figures" role="status">
        {isLooking && <span className="spinner" />}
        <Tag look="free" label={tn('add.new', fresh.length)} />
        <Tag label={tn('add.recorded', recorded.length)} />
        {invalid.length > 0 && <Tag look="danger" label={tn('add.invalid', invalid.length)} />}
        {repeated > 0 && <span className="muted">{tn('add.repeated', repeated)}</span>}
        {asked > 0 && <span className="muted">{tn('add.asking', asked)}</span>}
      </p>
      {failed !== undefined && (
        <p className="callout danger" role="alert">
          {t('add.unknown', { reason: errorMessage(failed) })}{' '}
          <Button look="quiet" label={t('app.retry')} onClick={onRetry} />
        </p>
      )}
      <ul className="verdict-list">
        {invalid.map(({ text, reason }) => (
          <li key={`no ${text}`} className="verdict">
            <code>{text}</code>
            <Tag icon="alert" look="danger" label={t(reason)} />
          </li>
        ))}
        {recorded.map((record) => (
          <li key={record.name} className="verdict">
            <Link to="dominios" query={new URLSearchParams({ search: record.name, ficha: record.name })}>
              <DomainName name={record.name} />
            </Link>
            <span className="row">
              <StatusTag status={record.status} />
              <MarkTags record={record} left={undefined} />
              <span className="muted">{t('add.isRecorded')}</span>
            </span>
          </li>
        ))}
        {fresh.map((name) => (
          <li key={name} className="verdict">
            <DomainName name={name} />
            <Tag icon="plus" look="free" label={t('add.isNew')} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function sorted(names: readonly string[], found: ReadonlyMap<string, LookupResult>) {
  const fresh: string[] = []
  const recorded: DomainRecord[] = []
  let failed: unknown
  let asked = 0
  for (const name of names) {
    const one = found.get(name)
    if (one === undefined) asked++
    else if ('error' in one) failed = one.error
    else if (one.record === null) fresh.push(name)
    else recorded.push(one.record)
  }
  return { fresh, recorded, failed, asked }
}

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
    return { record: await withRetries(() => readRecord(name, signal), signal) }
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
