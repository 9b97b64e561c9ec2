import { createReadStream } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { jsonText, type Parameter } from '../../http/parameters.ts'
import { accountClient } from '../../lib/client.ts'
import { ListFault } from '../../lib/errors.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { allMatches, finish, TimeSlice } from '../../lib/name-index/index.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { getNewest } from '../../storage/database/changes/change-log.ts'
import { toChange, type Fields } from '../../storage/database/changes/change.ts'
import type { Reader } from '../../storage/database/database.ts'
import type { DomainBatches, RecordChanges, RestoredMarks } from '../batches.ts'
import { MAX_TAGS, splitTags, toColumn, withDerived } from '../filtered-record.ts'
import { matches, parseFilters, readFilters, type Filters, type SavedFilters } from '../filters.ts'
import { readLines } from '../import/source.ts'
import { nameOfHit } from '../list/hits.ts'
import type { DomainContext } from '../context.ts'
import { indexQuery } from '../list/search.ts'
import { parseMarks, type DomainMarks } from '../parse-record.ts'
import type { RecordRow } from '../queries-records.ts'
import type { ChangeRange, Finished, JobRun, Pace } from './job.ts'
import * as queries from './queries.ts'

/** What a bulk change sets in each record. */
export interface BulkSet extends Pick<DomainMarks, 'seen' | 'revision' | 'discarded' | 'reserved' | 'note'> {
  readonly addTags: readonly string[]
  readonly removeTags: readonly string[]
}

export interface BulkRequest {
  /** The texts of the parameters. */
  readonly filters: SavedFilters
  readonly set: BulkSet
}

export interface BulkProgress extends Pace, ChangeRange {
  readonly matched: number
  readonly done: number
  readonly skipped: number
}

export interface UndoRequest extends Required<ChangeRange> {
  readonly of: string
}

const FIELDS = ['seen', 'revision', 'discarded', 'reserve', 'note', 'add_tags', 'remove_tags']

/** A JSON object, or its text. */
export const setParameter: Parameter<BulkSet> = {
  required: true,
  description: `What to set, a JSON object with any of ${FIELDS.join(', ')}`,
  schema: jsonText({ type: 'object' }),
  example: '{"seen":1,"add_tags":["oferta"]}',
  parse(text) {
    const value = parseSet(parseJson(text))
    return value === undefined
      ? {
          takes:
            'debe ser un objeto JSON con alguno de los campos seen, revision, discarded y reserve (0 o 1), note (un texto), ' +
            'add_tags y remove_tags (arreglos de etiquetas)',
        }
      : { value }
  },
}

/** Returns undefined for what is not a set, with the same rules as `update`. */
function parseSet(value: unknown): BulkSet | undefined {
  if (!isObject(value)) return undefined
  const names = Object.keys(value)
  if (names.length === 0 || !names.every((name) => FIELDS.includes(name))) return undefined
  const { add_tags: added = [], remove_tags: removed = [], ...marks } = value
  const [read, toAdd, toRemove] = [marks, { tags: added }, { tags: removed }].map((fields) =>
    parseMarks({ domain: 'a', ...fields }),
  )
  if (read?.ok !== true || toAdd?.ok !== true || toRemove?.ok !== true) return undefined
  const { seen, revision, discarded, reserved, note } = read.row
  const tags = ({ row }: typeof read) => splitTags(row.tags === '' ? null : row.tags)
  return { seen, revision, discarded, reserved, note, addTags: tags(toAdd), removeTags: tags(toRemove) }
}

/** Returns a set in the form in which clients send it. */
export function setJson({ reserved, addTags, removeTags, ...marks }: BulkSet) {
  const given = Object.entries({ ...marks, reserve: reserved }).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(given),
    ...(addTags.length > 0 && { add_tags: addTags }),
    ...(removeTags.length > 0 && { remove_tags: removeTags }),
  }
}

/** Returns what `update` has to set in a record; undefined if it would get too many tags. */
function marksFor(
  name: string,
  { tags: present }: Pick<RecordRow, 'tags'>,
  set: BulkSet,
): DomainMarks | undefined {
  const { addTags, removeTags, ...marks } = set
  const kept = splitTags(present).filter((tag) => !removeTags.includes(tag))
  const tags = [...new Set([...kept, ...addTags])]
  if (tags.length > MAX_TAGS) return undefined
  const setsTags = addTags.length > 0 || removeTags.length > 0
  return {
    ...marks,
    name,
    status: null,
    agent: null,
    agent_folded: null,
    tags: setsTags ? (toColumn(tags) ?? '') : null,
  }
}

/** Names that are held as texts at a time. */
const PIECE = 1_000

interface NamesFile {
  readonly count: number
  /** The names, one per line. */
  readonly text: Uint8Array
}

const toLines = (names: readonly string[]) => Buffer.from(names.map((name) => `${name}\n`).join(''))

export const givenNames = (names: readonly string[]): NamesFile => ({
  count: names.length,
  text: toLines(names),
})

/** Finds all records that match now. @param signal ends the search */
export async function matchingNames(
  { clock, nameIndex, searches }: Pick<DomainContext, 'clock' | 'nameIndex' | 'searches'>,
  filters: Filters,
  account: number,
  signal: AbortSignal,
): Promise<NamesFile> {
  const { registered } = await nameIndex.current({ filters, isFresh: true, left: () => signal })
  const pieces: Uint8Array[] = []
  let names: string[] = []
  const slice = new TimeSlice()
  const query = indexQuery(filters, nameIndex.contextAt(clock.now()))
  const matching = allMatches(registered, query, slice, (segment, position) => {
    if (names.push(nameOfHit({ segment, position })) < PIECE) return
    pieces.push(toLines(names))
    names = []
  })
  const search = () => finish(matching, slice, signal)
  await searches.run(accountClient(account), search, signal)
  const count = pieces.length * PIECE + names.length
  return { count, text: Buffer.concat([...pieces, toLines(names)]) }
}

/** Records per transaction. */
const BATCH = 1_000

interface BulkJobOptions extends Pick<
  DomainContext,
  'clock' | 'database' | 'dictionary' | 'nameIndex' | 'rules'
> {
  readonly batches: Pick<DomainBatches, 'change'>
  readonly files: Pick<BlobStore, 'withLocalFile'>
}

interface Account {
  readonly id: number
  readonly name: string
}

/** The outcome of a batch of records. */
interface Plan extends RecordChanges {
  readonly skipped: number
}

type Decide = (tx: Reader, names: readonly string[], records: readonly RecordRow[]) => Promise<Plan>

/**
 * Changes the records that a file names, from where an earlier run stopped.
 * @throws JobEnded
 */
export async function runBulk(
  options: BulkJobOptions,
  account: Account,
  run: JobRun<BulkProgress>,
  signal: AbortSignal,
): Promise<Finished<BulkProgress>> {
  const { database, batches, files } = options
  const { file, kind, request } = run.job
  const decide =
    kind === 'undo' ? undoing(options, account, JSON.parse(request)) : setting(options, JSON.parse(request))

  async function changeBatch(names: readonly string[]): Promise<void> {
    const before = run.progress
    let skipped = 0
    const change = async (tx: Reader, records: readonly RecordRow[]) => {
      const plan = await decide(tx, names, records)
      skipped = plan.skipped
      return plan
    }
    const first = before.first ?? (await getNewest(database))
    await batches.change({ accountId: account.id, account: account.name }, names, change, async (tx) => {
      const done = before.done + names.length - skipped
      const progress = { ...before, done, skipped: before.skipped + skipped, first }
      const share = (progress.done + progress.skipped) / before.matched
      const last = await getNewest(tx)
      await run.save(tx, { ...progress, last, ...run.pace(share) })
    })
  }

  const finished = await files.withLocalFile(file ?? '', async (path) => {
    let position = run.progress.done + run.progress.skipped
    let names: string[] = []
    for await (const { text = '' } of readLines(createReadStream(path))) {
      if (position-- > 0) continue
      names.push(text)
      if (names.length < BATCH) continue
      signal.throwIfAborted()
      await changeBatch(names)
      names = []
      await setImmediate()
    }
    signal.throwIfAborted()
    if (names.length > 0) await changeBatch(names)
    return { progress: { ...run.progress, share: 1 } }
  })
  if (finished === undefined) throw new ListFault('La lista de registros ya no está')
  return finished
}

/** Sets marks in records that still match. */
function setting(
  { clock, dictionary, nameIndex, rules }: BulkJobOptions,
  { filters: saved, set }: BulkRequest,
): Decide {
  const parsed = parseFilters(saved)
  if (!parsed.ok) throw new ListFault('El servicio ya no conoce uno de los filtros')
  const filters = readFilters(parsed.values)
  return async (tx, names, records) => {
    const context = nameIndex.contextAt(clock.now())
    const { hides } = await rules.current(tx)
    const wanted = records.filter((record) =>
      matches(filters, withDerived(record, dictionary.split, hides), context),
    )
    const marks = wanted.flatMap((record) => marksFor(record.name, record, set) ?? [])
    return { marks, skipped: names.length - marks.length }
  }
}

/** What must be as the job left it: everything that members see of a record except the time of its last change. */
const COMPARED = [
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded_at',
  'date_reg',
  'seen_at',
  'seen_by',
  'note',
  'tags',
] as const

/** Gives records back what they had before a job. What it did is in the log of changes. */
function undoing({ database: { dialect } }: BulkJobOptions, account: Account, request: UndoRequest): Decide {
  const { first, last } = request
  return async (tx, names, records) => {
    const present = new Map(records.map((record) => [record.name, record]))
    const changes = await tx.values(queries.firstChanges(dialect, account.id, names, first, last))
    const restored: RestoredMarks[] = []
    for (const row of changes) {
      const { key = '', before = null, after = null } = toChange(row, '') ?? {}
      const record = present.get(key)
      const isAsLeft = COMPARED.every((field) => record?.[field] === after?.[field])
      if (before !== null && isAsLeft) restored.push(marksIn(key, before))
    }
    return { restored, skipped: changes.length - restored.length }
  }
}

function marksIn(name: string, fields: Fields): RestoredMarks {
  const toNumber = (field: string) => (fields[field] === null ? null : Number(fields[field]))
  const textOf = (field: string) => (fields[field] === null ? null : String(fields[field]))
  return {
    name,
    revision: toNumber('revision'),
    reserved: toNumber('reserved'),
    discarded_at: toNumber('discarded_at'),
    seen_at: toNumber('seen_at'),
    seen_by: textOf('seen_by'),
    note: textOf('note'),
    tags: textOf('tags'),
  }
}
