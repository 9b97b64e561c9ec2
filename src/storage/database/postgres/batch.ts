import { setClause, type BatchStatement, type ValueType } from '../batch.ts'

const TYPES: Readonly<Record<ValueType, string>> = { text: 'text', integer: 'bigint' }

/**
 * The batch's rows: `$1` is the JSON array of arrays. jsonb is parsed once per row, json once per element, which costs
 * twice as much.
 */
const ROWS = 'jsonb_array_elements($1::json::jsonb)'

/** The batch's rows as a common table expression. */
function items({ elements }: BatchStatement): string {
  const columns = Object.entries(elements).map(
    ([name, type], i) => `(value ->> ${i})${type === 'text' ? '' : `::${TYPES[type]}`} AS ${name}`,
  )
  return `item AS MATERIALIZED (SELECT ${columns.join(', ')} FROM ${ROWS})`
}

function constantExpressions({ constants }: BatchStatement): Record<string, string> {
  return Object.fromEntries(
    Object.entries(constants).map(([name, type], i) => [name, `$${i + 2}::${TYPES[type]}`]),
  )
}

/**
 * Locks the rows to update in the order of their keys. The update itself visits them in the order of its plan, so two
 * updates of the same rows could deadlock.
 */
export function lockStatement({ table, key, elements }: BatchStatement): string {
  const place = Object.keys(elements).indexOf(key)
  return `SELECT count(*) FROM (
    SELECT ${key} FROM ${table}
    WHERE ${key} IN (SELECT value ->> ${place} FROM ${ROWS})
    ORDER BY ${key} FOR UPDATE
  ) AS locked`
}

/** Returns one statement for all rows: `$1` is the JSON array of arrays, the constants follow. */
export function batchStatement(batch: BatchStatement): string {
  return batch.insert === undefined ? updateStatement(batch) : upsertStatement(batch)
}

function updateStatement(batch: BatchStatement): string {
  const { table, key, elements } = batch
  const at = constantExpressions(batch)
  for (const name of Object.keys(elements)) at[name] = `item.${name}`
  const when = batch.when?.(at)
  return `WITH ${items(batch)}
    UPDATE ${table} SET ${setClause(batch.update(at))} FROM item
    WHERE ${table}.${key} = item.${key} ${when === undefined ? '' : `AND (${when})`}`
}

/**
 * Inserts rows in the order of their keys, so that two batches with the same names do not deadlock. `ON CONFLICT` knows
 * the row as it would have been stored, not the element it came from. The elements that the update needs are therefore
 * collected in an object by key, which is searched in logarithmic time.
 */
function upsertStatement(batch: BatchStatement): string {
  const { table, key, elements } = batch
  const constants = constantExpressions(batch)
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
