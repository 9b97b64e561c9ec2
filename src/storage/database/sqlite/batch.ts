import { setClause, type BatchStatement } from '../batch.ts'
import { sqliteDomainsAdded } from '../migrations/002-changes.ts'

/** Rows that one statement adds where they are bound to it one by one: more gain nothing. */
export const GROUP = 100

/** How a batch is stored. The rows of a statement are JSON, an array of arrays, in the parameter behind the constants. */
export interface BatchPlan {
  /** Where in a row its key is. */
  readonly key: number
  /** Changes what is there. */
  readonly update: string
  /** Adds the rest; without it, that is passed over. */
  readonly insert: string | undefined
  /** Adds many that are new, quicker than the trigger lets it. */
  readonly added: AddedPlan | undefined
}

export interface AddedPlan {
  /** Stands in the way: it is taken off for the transaction, where it is what this version knows. */
  readonly trigger: string
  readonly triggerText: string
  /** Which keys of a JSON array are there. */
  readonly known: string
  /** Adds `GROUP` rows: the constants, then the elements of one after the other. */
  readonly insert: string
  /** Does for a JSON array of keys what the trigger would have done. */
  readonly instead: string
}

/** The batch's rows as a table: the JSON array of arrays is the parameter behind the constants. */
function given({ constants, elements }: BatchStatement): string {
  const columns = Object.keys(elements).map((name, i) => `value ->> ${i} AS ${name}`)
  return `(SELECT ${columns.join(', ')} FROM json_each(?${Object.keys(constants).length + 1}))`
}

/** The same of rows that are bound one by one. */
function boundItems({ elements }: BatchStatement): string {
  const names = Object.keys(elements)
  const columns = names.map((name, i) => `column${i + 1} AS ${name}`)
  const row = `(${names.map(() => '?').join(',')})`
  return `(SELECT ${columns.join(', ')} FROM (VALUES ${Array(GROUP).fill(row).join(',')})) AS item`
}

const constantPlaces = ({ constants }: BatchStatement) =>
  Object.fromEntries(Object.keys(constants).map((name, i) => [name, `?${i + 1}`]))

/** An element's place among the columns of `excluded`, beside what would be stored. */
const givenName = (name: string) => `given_${name}`

/**
 * Statements to be run one after the other: what is there changes, the rest is added. `ON CONFLICT DO UPDATE` would not
 * know the elements that a row was made from. One statement for many rows: with a trigger on the table each statement costs
 * as much again as the row it stores.
 */
export function batchPlan(batch: BatchStatement): BatchPlan {
  const { table, key, elements } = batch
  const constants = constantPlaces(batch)
  const at = { ...constants }
  const item = { ...constants }
  for (const name of Object.keys(elements)) {
    at[name] = `excluded.${givenName(name)}`
    item[name] = `item.${name}`
  }
  const inserted = batch.insert?.(item)
  const columns = [
    ...Object.entries(inserted ?? {}).map(([column, value]) => `${value} AS ${column}`),
    ...Object.keys(elements).map((name) => `item.${name} AS ${givenName(name)}`),
  ]
  // The planner must not visit the table and parse the JSON once per row. A unary plus disqualifies the indexes of the
  // condition, and a materialized CTE is cheap to visit whatever statistics an ANALYZE left.
  const when = batch.when?.(at)
  const update = `WITH item AS MATERIALIZED ${given(batch)}
    UPDATE ${table} SET ${setClause(batch.update(at))}
    FROM (SELECT ${columns.join(', ')} FROM item) AS excluded
    WHERE ${table}.${key} = excluded.${givenName(key)} ${when === undefined ? '' : `AND +(${when})`}`
  const plan = { key: Object.keys(elements).indexOf(key), update }
  if (inserted === undefined) return { ...plan, insert: undefined, added: undefined }
  const insert = (from: string, or = '') => `INSERT ${or} INTO ${table} (${Object.keys(inserted).join(', ')})
    SELECT ${Object.values(inserted).join(', ')} FROM ${from}`
  return {
    ...plan,
    insert: `${insert(`${given(batch)} AS item`)} WHERE 1 = 1 ON CONFLICT (${key}) DO NOTHING`,
    added: table === 'domains' ? addedPlan(batch, insert(boundItems(batch), 'OR ROLLBACK')) : undefined,
  }
}

function addedPlan({ table, key }: BatchStatement, insert: string): AddedPlan {
  const { trigger, text, forMany } = sqliteDomainsAdded
  return {
    trigger,
    triggerText: text,
    known: `SELECT value FROM json_each(?1) WHERE EXISTS (SELECT 1 FROM ${table} WHERE ${key} = value)`,
    insert,
    instead: forMany,
  }
}
