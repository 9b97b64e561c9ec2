import { setClause, type BatchStatement } from '../batch.ts'

/** The statement for one row: `?1` … `?n` are the constants, the row's elements follow them. */
export function rowStatement(batch: BatchStatement): string {
  const names = [...Object.keys(batch.constants), ...Object.keys(batch.elements)]
  const at = Object.fromEntries(names.map((name, i) => [name, `?${i + 1}`]))
  const set = setClause(batch.update(at))
  const when = batch.when?.(at)
  const inserted = batch.insert?.(at)
  if (inserted === undefined) {
    return `UPDATE ${batch.table} SET ${set} WHERE ${batch.key} = ${at[batch.key]} ${when === undefined ? '' : `AND (${when})`}`
  }
  return `INSERT INTO ${batch.table} (${Object.keys(inserted).join(', ')})
    VALUES (${Object.values(inserted).join(', ')})
    ON CONFLICT (${batch.key}) DO UPDATE SET ${set} ${when === undefined ? '' : `WHERE ${when}`}`
}
