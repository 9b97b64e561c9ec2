import { setClause, type BatchStatement, type ValueType } from '../batch.ts'

const TYPES: Readonly<Record<ValueType, string>> = { text: 'text', integer: 'bigint' }

/**
 * The batch's rows: `$1` is the JSON array of arrays. As jsonb each is taken apart once; as json once for each of its
 * elements, which costs twice as much.
 */
const ROWS = 'jsonb_array_elements($1::json::jsonb)'

/** The batch's rows as a table. */
function items({ elements }: BatchStatement): string {
  const columns = Object.entries(elements).map(
    ([name, type], i) => `(value ->> ${i})${type === 'text' ? '' : `::${TYPES[type]}`} AS ${name}`,
  )
  return `item AS MATERIALIZED (SELECT ${columns.join(', ')} FROM ${ROWS})`
}

function constantPlaces({ constants }: BatchStatement): Record<string, string> {
  return Object.fromEntries(
    Object.entries(constants).map(([name, type], i) => [name, `$${i + 2}::${TYPES[type]}`]),
  )
}

/**
 * Locks the rows that an update will change, in the order of their keys. The update itself takes them in whatever order
 * its plan has, so two of the same rows might wait for each other.
 */
export function lockStatement({ table, key, elements }: BatchStatement): string {
  const place = Object.keys(elements).indexOf(key)
  return `SELECT count(*) FROM (
    SELECT ${key} FROM ${table}
    WHERE ${key} IN (SELECT value ->> ${place} FROM ${ROWS})
    ORDER BY ${key} FOR UPDATE
  ) AS locked`
}

/** One statement for all rows: `$1` is the JSON array of arrays, the constants follow it. */
export function batchStatement(batch: BatchStatement): string {
  return batch.insert === undefined ? updateStatement(batch) : upsertStatement(batch)
}

function updateStatement(batch: BatchStatement): string {
  const { table, key, elements } = batch
  const at = constantPlaces(batch)
  for (const name of Object.keys(elements)) at[name] = `item.${name}`
  const when = batch.when?.(at)
  return `WITH ${items(batch)}
    UPDATE ${table} SET ${setClause(batch.update(at))} FROM item
    WHERE ${table}.${key} = item.${key} ${when === undefined ? '' : `AND (${when})`}`
}

/**
 * Rows go in by the order of their keys, so that two batches of the same names do not wait for each other.
 * `ON CONFLICT` knows the row as it would have been stored, not the element it was made from; the elements that an
 * update asks for are therefore gathered in an object by key, which is searched in logarithmic time.
 */
function upsertStatement(batch: BatchStatement): string {
  const { table, key, elements } = batch
  const constants = constantPlaces(batch)
  const own = Object.fromEntries(Object.keys(elements).map((name) => [name, `item.${name}`]))
  const inserted = batch.insert?.({ ...constants, ...own }) ?? {}

  const gathered = new Set<string>()
  const at = { ...constants }
  for (const [name, type] of Object.entries(elements)) {
    Object.defineProperty(at, name, {
      get() {
        gathered.add(name)
        return `((SELECT ${name} FROM given) ->> excluded.${key})::${TYPES[type]}`
      },
    })
  }
  const set = setClause(batch.update(at))
  const when = batch.when?.(at)
  const objects = [...gathered].map(
    (name) => `jsonb_object_agg(${key}, ${name}) FILTER (WHERE ${name} IS NOT NULL) AS ${name}`,
  )
  const given = objects.length === 0 ? '' : `, given AS MATERIALIZED (SELECT ${objects.join(', ')} FROM item)`

  return `WITH ${items(batch)}${given}
    INSERT INTO ${table} (${Object.keys(inserted).join(', ')})
    SELECT ${Object.values(inserted).join(', ')} FROM item ORDER BY item.${key} COLLATE "C"
    ON CONFLICT (${key}) DO UPDATE SET ${set} ${when === undefined ? '' : `WHERE ${when}`}`
}
