import type { Database } from '../../storage/database/database.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import type { Filters } from '../filters.ts'
import { atomFeed, entryOf } from './atom.ts'
import type { AccountName } from './event.ts'
import { newestEvents } from './newest.ts'
import { EventPages } from './pages.ts'
import { eventStream, type StreamRequest } from './stream.ts'
import { EventStreams } from './streams.ts'

/** Feeds kept until the next change: some 80 KB each at most, as a rule. */
const MAX_FEEDS = 50

export interface EventsOptions {
  readonly database: Database
  readonly nameOf: AccountName
  /** Streams that this process serves at a time. */
  readonly maxStreams: number
  /** Told of the first of several failures in a row to read changes. */
  readonly failed: (error: unknown) => void
}

/** What happens to records, for whoever wants to follow it. */
export class Events {
  readonly pages: EventPages
  readonly streams: EventStreams
  readonly #database: Database
  readonly #nameOf: AccountName
  readonly #feeds: VersionedCache<string>

  constructor({ database, nameOf, maxStreams, failed }: EventsOptions) {
    this.#database = database
    this.#nameOf = nameOf
    this.pages = new EventPages(database.changes, nameOf, failed)
    this.streams = new EventStreams(maxStreams)
    this.#feeds = new VersionedCache(database, 'domain', MAX_FEEDS)
  }

  stream(request: StreamRequest): AsyncGenerator<string | Buffer> {
    return eventStream(this.pages, request)
  }

  /** An Atom feed of the newest events that concern the filters. */
  async feed(filters: Filters, limit: number): Promise<string> {
    // The id of a feed must not change: two filters had other names when it was defined.
    const key = JSON.stringify(filters).replace(/"(min|max)_length":/g, '"$1Length":')
    const feed = await this.#feeds.get(`${limit} ${key}`, async () => {
      const events = await newestEvents(this.#database.changes, this.#nameOf, { filters, limit })
      return atomFeed(`eventos ${key}`, 'Dominios .cl: cambios', events.map(entryOf))
    })
    return feed ?? ''
  }
}
