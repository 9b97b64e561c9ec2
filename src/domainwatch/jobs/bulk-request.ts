import { jsonText, type Parameter } from '../../http/parameters.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { parseMarks, type DomainMarks } from '../parse-record.ts'
import type { RecordRow } from '../queries-records.ts'
import { MAX_TAGS, splitTags, toColumn } from '../filtered-record.ts'
import type { Clock } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import type { Gate } from '../../lib/gate.ts'
import { allMatches, finish, TimeSlice, type Segment } from '../../lib/name-index/index.ts'
import type { Filters } from '../filters.ts'
import { nameOfHit } from '../list/hits.ts'
import type { NameIndex } from '../list/name-index.ts'
import { indexQuery } from '../list/search.ts'

/** What a bulk change sets in each record. */
export interface BulkSet extends Pick<DomainMarks, 'seen' | 'revision' | 'discarded' | 'reserved' | 'note'> {
  readonly addTags: readonly string[]
  readonly removeTags: readonly string[]
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
export function marksFor(
  name: string,
  { tags: present }: Pick<RecordRow, 'tags'>,
  set: BulkSet,
): DomainMarks | undefined {
  const { addTags, removeTags, seen, revision, discarded, reserved, note } = set
  const kept = splitTags(present).filter((tag) => !removeTags.includes(tag))
  const tags = [...new Set([...kept, ...addTags])]
  if (tags.length > MAX_TAGS) return undefined
  const setsTags = addTags.length > 0 || removeTags.length > 0
  return {
    name,
    seen,
    revision,
    discarded,
    reserved,
    note,
    status: null,
    agent: null,
    agent_folded: null,
    tags: setsTags ? (toColumn(tags) ?? '') : null,
  }
}

/** Names in a piece of text. */
const PIECE = 1_000

export interface MatchingOptions {
  readonly clock: Clock
  readonly nameIndex: Pick<NameIndex, 'current' | 'contextAt'>
  readonly searches: Gate
}

export interface MatchingNames {
  readonly count: number
  /** Yields the names, one per line. */
  readonly lines: () => AsyncGenerator<Uint8Array>
}

export const givenNames = (names: readonly string[]): MatchingNames => ({
  count: names.length,
  async *lines() {
    yield Buffer.from(names.map((name) => `${name}\n`).join(''))
  },
})

/** Finds all records that match now. @param signal ends the search */
export async function matchingNames(
  { clock, nameIndex, searches }: MatchingOptions,
  filters: Filters,
  account: number,
  signal: AbortSignal,
): Promise<MatchingNames> {
  const { registered } = await nameIndex.current({ filters, isFresh: true, left: () => signal })
  const found = new Map<Segment, number[]>()
  let count = 0
  const add = (segment: Segment, position: number) => {
    count++
    const positions = found.get(segment)
    if (positions === undefined) found.set(segment, [position])
    else positions.push(position)
  }
  const slice = new TimeSlice()
  const query = indexQuery(filters, nameIndex.contextAt(clock.now()))
  const search = () => finish(allMatches(registered, query, slice, add), slice, signal)
  await searches.run(accountClient(account), search, signal)
  return {
    count,
    async *lines() {
      for (const [segment, positions] of found)
        for (let from = 0; from < positions.length; from += PIECE) {
          const names = positions
            .slice(from, from + PIECE)
            .map((position) => nameOfHit({ segment, position }))
          yield Buffer.from(`${names.join('\n')}\n`)
        }
    },
  }
}
