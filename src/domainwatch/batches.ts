import type { HttpRequest } from '../http/server.ts'
import { localDateTime } from '../lib/dates.ts'
import { HttpError } from '../lib/errors.ts'
import { encodeRows, type RowOf } from '../storage/database/batch.ts'
import type { Reader, Transaction } from '../storage/database/database.ts'
import type { Dialect } from '../storage/database/dialect.ts'
import type { Identity } from '../http/auth/authenticator.ts'
import type { RequestBody } from '../http/body/receive.ts'
import { requestLog } from '../http/observability.ts'
import type { DomainContext } from './context.ts'
import { purgeBeforeWrite, findEndClaims } from './purge.ts'
import {
  EXPECTABLE_FIELDS,
  differences,
  lockRecords,
  type Difference,
  namesRecorded,
  noteAdd,
  recordsNamed,
  type RecordRow,
} from './queries-records.ts'
import * as statements from './queries-batches.ts'
import { FIELD_NAMES, RecordFields, type RecordWithFields } from './record-fields.ts'
import { domainErrors } from './errors.ts'
import { isDecision, MAX_FAULTS, type DomainMarks, type RecordFault } from './parse-record.ts'
import { readBatch, type Batch } from './tasks/parse-data.ts'

export type RestoredMarks = RowOf<typeof statements.restoreMarks>
type Rows = Extract<Batch, { kind: 'rows' }>

/** Who changes records. */
type Author = Pick<Identity, 'account' | 'accountId'>

/** What to change in records that a transaction has read: marks to set, and what to give back. */
export interface RecordChanges {
  readonly marks?: readonly DomainMarks[]
  readonly restored?: readonly RestoredMarks[]
}

type BatchContext = Pick<
  DomainContext,
  'clock' | 'database' | 'dictionary' | 'interest' | 'nameIndex' | 'rules' | 'searches' | 'tasks' | 'timeZone'
>

/** Stores batches of records, each atomically. */
export class DomainBatches {
  readonly #options: BatchContext
  readonly #records: RecordFields

  constructor(options: BatchContext) {
    this.#options = options
    this.#records = new RecordFields(options)
  }

  /** Parses a body in a worker thread. Transfers its bytes there. */
  read(operation: 'add' | 'update', body: RequestBody) {
    const { tasks, dictionary } = this.#options
    return readBatch(tasks, body, { operation, words: dictionary.trie })
  }

  /** @returns the number of records in the batch, including unchanged ones */
  async add({ account, accountId }: Author, batch: Rows): Promise<number> {
    const { clock, database, timeZone } = this.#options
    await this.#write(accountId, batch.count, async (tx) => {
      const now = clock.now()
      if (batch.count > 0) {
        await purgeBeforeWrite(tx, database.dialect, now, () => textOf(batch))
        const constants = [localDateTime(now, timeZone), account, account.toLowerCase()]
        await tx.runMany(statements.recordDomains, constants, batch.rows)
      }
      await tx.run(noteAdd(account, now))
    })
    return batch.count
  }

  /**
   * @throws HttpError 500 that lists the unknown names, if any name has no record; 409 that lists the records that are not as
   *   expected
   */
  async update(author: Author, batch: Rows): Promise<number> {
    if (batch.count === 0) return 0
    const { clock, database } = this.#options
    const { dialect } = database
    await this.#write(author.accountId, batch.count, async (tx) => {
      const now = clock.now()
      await purgeBeforeWrite(tx, dialect, now, () => textOf(batch))
      if (batch.expected !== undefined) await this.#assertExpected(tx, batch, batch.expected)
      const found = await this.#mark(tx, author, batch, now)
      if (found < batch.count) throw await unknownNames(tx, dialect, batch.names)
    })
    return batch.count
  }

  /**
   * Changes records in one transaction, by what `decide` makes of those that exist.
   * @param stored called in the transaction, after the changes
   */
  async change(
    author: Author,
    names: readonly string[],
    decide: (tx: Reader, records: readonly RecordRow[]) => Promise<RecordChanges>,
    stored: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const { clock, database, timeZone } = this.#options
    const { dialect } = database
    const text = JSON.stringify(names.map((name) => [name]))
    await this.#write(author.accountId, names.length, async (tx) => {
      const now = clock.now()
      await purgeBeforeWrite(tx, dialect, now, () => text)
      await tx.first(lockRecords(dialect, text))
      const { marks = [], restored = [] } = await decide(tx, await tx.all(recordsNamed(dialect, names, now)))
      if (marks.length > 0) {
        const rows = encodeRows(statements.markDomains, marks)
        await this.#mark(tx, author, { rows, decided: marks.filter(isDecision).map(({ name }) => name) }, now)
      }
      if (restored.length > 0) {
        const rows = encodeRows(statements.restoreMarks, restored)
        await tx.runMany(statements.restoreMarks, [localDateTime(now, timeZone)], rows)
      }
      await stored(tx)
    })
  }

  /** @returns the number of records found */
  async #mark(
    tx: Transaction,
    { account, accountId }: Author,
    { rows, decided }: Pick<Rows, 'rows' | 'decided'>,
    now: number,
  ): Promise<number> {
    const { database, timeZone } = this.#options
    // Whole seconds, as answers and exports show them.
    const seenAt = Math.floor(now / 1000) * 1000
    const constants = [localDateTime(now, timeZone), now, seenAt, account]
    const found = await tx.runMany(statements.markDomains, constants, rows)
    await findEndClaims(tx, database.dialect, accountId, decided, now)
    return found
  }

  /** Locks the records of the batch first, so that no other writer can change one between the check and the update. */
  async #assertExpected(tx: Reader, batch: Rows, expected: string): Promise<void> {
    const { dialect } = this.#options.database
    await tx.first(lockRecords(dialect, textOf(batch)))
    const differing = await tx.all(differences(dialect, expected, MAX_FAULTS))
    if (differing.length === 0) return
    const names = [...new Set(differing.map(({ found }) => found))]
    const present = await this.#records.withFields(names, FIELD_NAMES, tx)
    throw conflict(differing, present)
  }

  /** Runs `work` in a transaction. Resolves when lists show what it wrote. */
  #write(accountId: number, rows: number, work: (tx: Transaction) => Promise<void>): Promise<void> {
    const { database, nameIndex, rules } = this.#options
    return nameIndex.afterWriting((range) => {
      const write = async (tx: Transaction) => {
        await range.begin(tx)
        await rules.tagging(tx, () => work(tx))
        await range.end(tx)
      }
      return database.transaction(write, accountId, { rows })
    })
  }
}

function conflict(differences: readonly Difference[], present: readonly RecordWithFields[]): HttpError {
  const errors = differences.map((difference) => {
    const fields = EXPECTABLE_FIELDS.filter((field) => difference[field] === 1)
    return {
      index: difference.place,
      field: 'expect',
      msg: `Ya no coincide: ${fields.join(', ')}`,
      domain: difference.found,
      fields,
      record: present.find(({ name }) => name === difference.found),
    }
  })
  return batchError(domainErrors.record_changed(), errors)
}

const textOf = ({ rows }: Rows) => Buffer.from(rows).toString()

async function unknownNames(tx: Reader, dialect: Dialect, names: readonly string[]): Promise<HttpError> {
  const recorded = await tx.all(namesRecorded(dialect, names))
  const known = new Set(recorded.map(({ name }) => name))
  const faults: RecordFault[] = []
  for (const [index, name] of names.entries()) {
    if (!known.has(name))
      faults.push({ index, field: 'domain', msg: 'El dominio no está registrado en el servicio' })
  }
  return batchError(domainErrors.names_not_recorded(faults.length), faults.slice(0, MAX_FAULTS))
}

/** Stores a batch. Logs unexpected errors and throws the answer for a failed batch instead. */
export async function saveBatch(request: HttpRequest, store: () => Promise<number>): Promise<number> {
  try {
    return await store()
  } catch (error) {
    if (error instanceof HttpError) throw error
    requestLog(request).error({ err: error }, 'batch could not be saved')
    throw batchError(domainErrors.not_saved())
  }
}

/** Returns the error for a batch of which nothing was stored. */
export const batchError = (error: HttpError, errors: readonly RecordFault[] = []): HttpError =>
  error.with({ fields: { count: 0, errors } })
