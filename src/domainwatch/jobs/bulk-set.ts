import { jsonText, type Parameter } from '../../http/parameters.ts'
import { isObject, parseJson } from '../../lib/json.ts'
import { parseMarks, type DomainMarks } from '../parse-record.ts'
import type { RecordRow } from '../queries-records.ts'
import { MAX_TAGS, splitTags, toColumn } from '../tags.ts'

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
