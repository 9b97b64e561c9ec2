import { isImageHash } from '../imagestore/image-fields.ts'
import type { Clock } from '../lib/clock.ts'
import { withRetries, type Progress } from '../lib/concurrency.ts'
import { isCalendarDateTime } from '../lib/dates.ts'
import { parseLabel } from '../lib/domain-names.ts'
import { isOverload } from '../lib/errors.ts'
import { type BlobStore, isBlobKey } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import { countRows } from '../storage/database/tables.ts'
import type { Query } from '../storage/database/sql.ts'
import * as queries from './queries.ts'

/** Rows per page. */
export const PAGE_ROWS = 1_000
/** A short outage of the database must not end a check that runs for hours. */
const RETRIES = { attempts: 6, firstPauseMs: 500, isRetryable: isOverload }

/** The kinds of faults that an instance can have. */
export const KINDS = {
  missing: 'recorded images whose bytes are not in the store',
  corrupt: 'recorded images whose bytes are not those that were uploaded',
  unreadable: 'recorded images whose bytes could not be read, so that they are unverified',
  lost: 'images marked as lost earlier: uploading the same bytes again restores them',
  found: 'images marked as lost whose bytes are in the store again',
  orphaned: 'bytes in the store without a record',
  store: 'faults of the store as a whole',
  database: 'faults of the database',
} as const

type Kind = keyof typeof KINDS

export const isKind = (text: string): text is Kind => text in KINDS

export interface VerifyOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  /** Repairs findings as far as possible without losing anything. */
  readonly repair: boolean
  /** Takes over the store for this database first, from any owner. */
  readonly claim: boolean
  /** Files without a record that are younger than this may belong to an upload in progress. */
  readonly minAgeMs: number
  /** How many findings of each kind are listed. */
  readonly examples: number
  readonly progress: Progress
}

/** A running verification: what it reads, and what it has found so far. */
export type Verification = ReturnType<typeof startVerification>

export function startVerification(options: VerifyOptions) {
  const { database, examples, progress } = options
  /** How many there are of each kind, and the first ones: a blob's key, or a description. */
  const found = new Map<Kind, { count: number; first: string[] }>()
  const findings = {
    add(kind: Kind, description: string): void {
      const ofKind = findings.of(kind)
      found.set(kind, ofKind)
      ofKind.count++
      if (ofKind.first.length < examples) ofKind.first.push(description)
    },
    of: (kind: Kind) => found.get(kind) ?? { count: 0, first: [] },
    get total(): number {
      return [...found.values()].reduce((sum, { count }) => sum + count, 0)
    },
  }
  /** Reports a fault of a single row, if there is one. */
  const report = (fault: string | undefined) => {
    if (fault !== undefined) findings.add('database', fault)
  }
  return {
    options,
    findings,
    checked: {
      domains: 0,
      images: 0,
      blobs: 0,
      bytes: 0,
      /** Files in the store of deleted images. */
      trashed: 0,
      /** Files in the store without a record that are too young to be orphans. */
      young: 0,
    },
    /** Counts of repairs. */
    repaired: { markedLost: 0, quarantined: 0, recovered: 0, removed: 0 },
    /** Whether the database can be relied on. */
    isSound: true,
    report,

    /** Reports that the database itself is damaged. */
    reportDamage(fault: string): void {
      this.isSound = false
      report(fault)
    },

    /** Runs the check of a table. If the table cannot be read to its end, the database is damaged. */
    async checkTable(table: string, check: () => Promise<void>): Promise<void> {
      try {
        await check()
      } catch (error) {
        if (!(error instanceof Error) || isOverload(error)) throw error
        this.reportDamage(`${table} cannot be read: ${error.message}`)
      }
    },

    async begin(name: string, table: string): Promise<void> {
      // Counting may exceed the time limit of a statement.
      progress.begin(name, await countRows(database.scanner, table).catch(() => undefined))
    },

    /** Reports what is wrong with each row of a table. */
    async checkRows<Row>(
      table: 'domains' | 'images',
      pageAfter: (last?: Row) => Query<Row>,
      findFault: (row: Row) => string | undefined,
    ): Promise<void> {
      await this.begin(table, table)
      for await (const row of toRows(database, pageAfter)) {
        report(findFault(row))
        this.checked[table]++
        progress.add(1)
      }
    },
  }
}

/** Yields all rows of a table in key order. @param pageAfter the page after a row, or the first one */
export async function* toRows<Row>(
  database: Database,
  pageAfter: (last?: Row) => Query<Row>,
): AsyncGenerator<Row> {
  for (let last: Row | undefined; ;) {
    const query = pageAfter(last)
    const page = await retryOverload(() => database.scanner.all(query))
    yield* page
    last = page.at(-1)
    if (page.length < PAGE_ROWS) return
  }
}

/** Retries idempotent work while the database is overloaded or unreachable. */
export const retryOverload = <T>(work: () => Promise<T>): Promise<T> => withRetries(work, RETRIES)

/** How far the clocks of nodes may differ. */
const MAX_CLOCK_DIFFERENCE_MS = 60 * 60_000

type Row<Page extends (...parameters: never[]) => Query> = ReturnType<Page>['row']

/** Runs the check of the database engine, then validates each row: could the service have written it? */
export async function checkDatabase(verification: Verification): Promise<void> {
  const { clock, database, progress } = verification.options
  progress.begin('database')
  for (const fault of await database.check()) verification.reportDamage(fault)
  await verification.checkTable('keys', async () => {
    for (const { id } of await database.scanner.all(queries.keysWithoutAccount()))
      verification.report(`key ${id}: there is no such account`)
  })
  const domainsAfter = (last?: Row<typeof queries.domainsAfter>) =>
    queries.domainsAfter(last?.name ?? '', PAGE_ROWS)
  await verification.checkTable('domains', () =>
    verification.checkRows('domains', domainsAfter, (row) =>
      domainFault(row, clock.now() + MAX_CLOCK_DIFFERENCE_MS),
    ),
  )
  const imagesAfter = (last?: Row<typeof queries.imagesAfter>) =>
    queries.imagesAfter(last?.account_id ?? 0, last?.hash ?? '', PAGE_ROWS)
  await verification.checkTable('images', () => verification.checkRows('images', imagesAfter, imageFault))
}

/**
 * Returns what the service would not have written in a row, if anything.
 * @param latest the end of the times at which it can have been written
 */
function domainFault(row: Row<typeof queries.domainsAfter>, latest: number): string | undefined {
  const label = parseLabel(row.name)
  const deletedAt = row.status === 0 ? (row.released_at ?? row.date_reg) : null
  return faultOf(`domain ${row.name}`, {
    'its name is not valid': label.ok && label.name === row.name,
    'its A-label form does not match':
      label.ok && row.ascii === (label.ascii === row.name ? null : label.ascii),
    'its length is not its number of characters': row.length === [...row.name].length,
    'its agent and its folded form differ': row.agent_folded === row.agent.toLowerCase(),
    'a mark is neither 0 nor 1': [row.status, row.reserved, row.revision].every(
      (bit) => bit === 0 || bit === 1,
    ),
    'a date is not valid': isCalendarDateTime(row.date_reg) && isCalendarDateTime(row.date_mod),
    'its time of deletion does not match its other fields': row.deleted_at === deletedAt,
    'the time when it was discarded is not valid': isPast(row.discarded_at, latest),
    'the time when it was decided on is not valid': isPast(row.seen_at, latest),
    'a decision has no author, or an author no decision': (row.seen_at === null) === (row.seen_by === null),
    'its tags are not valid': row.tags === null || areTags(row.tags),
    'its numbers are not those that were imported for its name': row.numbers === row.imported,
    'its words are not those of its name':
      row.words === null ||
      (/^(?: \S+)+ $/.test(row.words) && row.words.replaceAll(' ', '') === row.name.replaceAll('-', '')),
  })
}

const isPast = (time: number | null, latest: number) => time === null || (time > 0 && time <= latest)

/** Whether a text has a space before and after each of some tags. */
function areTags(text: string): boolean {
  const tags = text.slice(1, -1).split(' ')
  const isTag = (tag: string) =>
    /^[\p{L}\p{N}-]{1,30}$/u.test(tag) && tag === tag.toLowerCase().normalize('NFC')
  return text === ` ${tags.join(' ')} ` && tags.length <= 10 && tags.every(isTag)
}

function imageFault(row: Row<typeof queries.imagesAfter>): string | undefined {
  return faultOf(`image ${row.hash} of account ${row.account_id}`, {
    'there is no record of its bytes': row.blob !== null,
    'its account is not of image hosting': row.service === 'imagestore',
    'its name and its folded form differ': row.name_folded === row.name.toLowerCase(),
  })
}

export function blobFault(row: Row<typeof queries.blobsAfter>): string | undefined {
  return faultOf(`blob ${isBlobKey(row.key) ? row.key : JSON.stringify(row.key)}`, {
    'its hash is not valid': isImageHash(row.hash),
    'its key is not valid': isBlobKey(row.key),
    'its key does not begin with its hash': row.key.startsWith(`${row.hash}.`),
    'a measure is not positive': [row.size, row.width, row.height, row.frames].every(
      (measure) => measure > 0,
    ),
    'its dhash is not valid': /^[0-9a-f]{16}$/.test(row.dhash),
    'no image uses it': row.is_held === 1,
    'it is to be removed, and in use': row.is_trash === 0,
  })
}

/** @param rules what is wrong if a rule does not hold */
function faultOf(row: string, rules: Readonly<Record<string, boolean>>): string | undefined {
  const faults = Object.keys(rules).filter((fault) => rules[fault] === false)
  return faults.length === 0 ? undefined : `${row}: ${faults.join('; ')}`
}
