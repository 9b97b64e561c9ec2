import type { Clock } from '../core/clock.ts'
import type { Database } from '../database/database.ts'
import type { Query } from '../database/sql.ts'
import { encodeCursor, placeOf, type Cursor } from './cursor.ts'
import * as queries from './queries.ts'
import type { Filters, PageRequest, Source, Span } from './queries.ts'

export const MAX_PAGE = 1_024

/** Up to so many records, visiting all of them takes less than a trip to another thread. */
const SMALL_TABLE = 2_000

export interface ListRequest {
  readonly filters: Filters
  readonly lastRegister?: number | undefined
  readonly lastDeleted?: number | undefined
  readonly ascending: boolean
  readonly limit?: number | undefined
  readonly cursor?: Cursor | undefined
}

export interface Page {
  /** A JSON array of records. */
  readonly json: string
  readonly count: number
  /** Where the next page starts; undefined on the last one. */
  readonly next: string | undefined
}

/** Answers lists from the database. */
export class DomainLists {
  readonly #database: Database
  readonly #clock: Clock
  #small = { version: -1, yes: false }

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  async page(request: ListRequest): Promise<Page> {
    const { dialect } = this.#database
    const pageRequest = this.#pageRequest(request)
    const run = await this.#runner(request.filters)
    const [row] = await run(queries.page(dialect, pageRequest))
    if (row === undefined || row.low === null || row.high === null)
      return { json: '[]', count: 0, next: undefined }
    const end = placeOf(request.ascending ? row.high : row.low)
    const next = row.count < pageRequest.limit ? undefined : await this.#next(run, request, pageRequest, end)
    return { json: row.json, count: row.count, next }
  }

  #pageRequest(request: ListRequest): PageRequest {
    const { filters, lastRegister, lastDeleted, ascending, cursor } = request
    const sources: Source[] = []
    if (lastRegister !== undefined) {
      sources.push({ kind: 'registered', newest: lastRegister, span: cursor?.registered })
    }
    if (lastDeleted !== undefined)
      sources.push({ kind: 'deleted', newest: lastDeleted, span: cursor?.deleted })
    // The lists of `last_register` and `last_deleted` come whole unless a limit asks for pages.
    const whole = sources.length === 0 ? MAX_PAGE : (lastRegister ?? 0) + (lastDeleted ?? 0)
    return {
      sources: sources.length === 0 ? [{ kind: 'all' }] : sources,
      filters,
      sortKey: lastDeleted !== undefined && lastRegister === undefined ? 'deleted_at' : 'date_reg',
      ascending,
      after: cursor?.after,
      limit: request.limit ?? whole,
      now: this.#clock.now(),
    }
  }

  async #next(
    run: Run,
    request: ListRequest,
    shown: PageRequest,
    end: queries.Place,
  ): Promise<string | undefined> {
    const { dialect } = this.#database
    const spans: { registered?: Span; deleted?: Span } = {}
    for (const source of shown.sources) {
      if (source.kind === 'all') continue
      const span = source.span ?? (await this.#span(run, source, shown))
      if (span !== undefined) spans[source.kind] = span
    }
    const cursor: Cursor = { after: end, ...spans }
    const following = this.#pageRequest({ ...request, cursor })
    const [more] = await run(queries.anyAfter(dialect, { ...following, now: shown.now }))
    return more === undefined ? undefined : encodeCursor(cursor)
  }

  async #span(run: Run, source: Source, shown: PageRequest): Promise<Span | undefined> {
    const [ends] = await run(queries.spanOf(this.#database.dialect, source, shown.filters, shown.now))
    if (ends === undefined || ends.low === null || ends.high === null) return undefined
    return { low: placeOf(ends.low), high: placeOf(ends.high) }
  }

  /** Filters that no index serves may visit every record: such a list must not hold the event loop. */
  async #runner({ search, agent, length }: Filters): Promise<Run> {
    const visitsMany = search !== undefined || agent !== undefined || length !== undefined
    const scan = visitsMany && !(await this.#isSmall())
    return (query) => (scan ? this.#database.scan(query) : this.#database.all(query))
  }

  async #isSmall(): Promise<boolean> {
    const version = this.#database.version()
    if (version !== this.#small.version) {
      const beyond = await this.#database.first(queries.moreThan(SMALL_TABLE))
      this.#small = { version, yes: beyond === undefined }
    }
    return this.#small.yes
  }
}

type Run = <Row>(query: Query<Row>) => Promise<Row[]>
