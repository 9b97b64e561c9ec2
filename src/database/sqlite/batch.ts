import { setClause, type BatchStatement } from '../batch.ts'

/** The batch's rows as a table: the JSON array of arrays is the parameter behind the constants. */
function items({ constants, elements }: BatchStatement): string {
  const columns = Object.keys(elements).map((name, i) => `value ->> ${i} AS ${name}`)
  return `(SELECT ${columns.join(', ')} FROM json_each(?${Object.keys(constants).length + 1})) AS item`
}

const constantPlaces = ({ constants }: BatchStatement) =>
  Object.fromEntries(Object.keys(constants).map((name, i) => [name, `?${i + 1}`]))

/** An element's place among the columns of `excluded`, beside what would be stored. */
const given = (name: string) => `given_${name}`

/**
 * Statements for all rows, to be run one after the other: what is there changes, the rest is added. `ON CONFLICT DO UPDATE`
 * would not know the elements that a row was made from. One statement for many rows: with a trigger on the table each
 * statement costs as much again as the row it stores.
 */
export function batchStatements(batch: BatchStatement): readonly string[] {
  const { table, key, elements } = batch
  const constants = constantPlaces(batch)
  const at = { ...constants }
  const item = { ...constants }
  for (const name of Object.keys(elements)) {
    at[name] = `excluded.${given(name)}`
    item[name] = `item.${name}`
  }
  const inserted = batch.insert?.(item)
  const columns = [
    ...Object.entries(inserted ?? {}).map(([column, value]) => `${value} AS ${column}`),
    ...Object.keys(elements).map((name) => `item.${name} AS ${given(name)}`),
  ]
  const when = batch.when?.(at)
  const update = `UPDATE ${table} SET ${setClause(batch.update(at))}
    FROM (SELECT ${columns.join(', ')} FROM ${items(batch)}) AS excluded
    WHERE ${table}.${key} = excluded.${given(key)} ${when === undefined ? '' : `AND (${when})`}`
  if (inserted === undefined) return [update]
  return [
    update,
    `INSERT INTO ${table} (${Object.keys(inserted).join(', ')})
    SELECT ${Object.values(inserted).join(', ')} FROM ${items(batch)} WHERE 1 = 1
    ON CONFLICT (${key}) DO NOTHING`,
  ]
}

/** Where in a row its key is. */
export const keyPlace = ({ elements, key }: BatchStatement): number => Object.keys(elements).indexOf(key)
