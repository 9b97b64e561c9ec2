/** Type of a constant or of a column, which PostgreSQL needs. */
export type ValueType = 'text' | 'integer'
export type Columns = Readonly<Record<string, ValueType>>

/** The SQL expression of each constant and column. */
export type Expressions<Name extends PropertyKey> = Readonly<Record<Name, string>>

/** SQL expressions to store, by column. */
export type Assignments = Readonly<Record<string, string>>

/**
 * What to do with each row of a large batch, written once for both engines: SQLite runs a prepared statement for each row,
 * PostgreSQL one statement for all of them. Rows must not repeat a key.
 */
export interface BatchStatement<Constants extends Columns = Columns, Elements extends Columns = Columns> {
  readonly table: string
  /** The element that is the table's primary key, and the name of that column. */
  readonly key: NoInfer<keyof Elements & string>
  /** The same for all rows, in the order in which they are passed. */
  readonly constants: Constants
  /** The values of a row. */
  readonly elements: Elements
  /** The columns of a new row. Without it, rows whose key is not in the table are skipped. */
  insert?(at: Expressions<keyof Constants | keyof Elements>): Assignments
  /**
   * What changes in an existing row. Its columns are qualified with the table's name; what `insert` would have stored is
   * `excluded.column`.
   */
  update(at: Expressions<keyof Constants | keyof Elements>): Assignments
  /** A condition on the existing row. If it is false, the row is left alone. */
  when?(at: Expressions<keyof Constants | keyof Elements>): string
}

interface Values {
  text: string
  integer: number
}

/** The values of one row, by element. */
export type RowOf<Statement> =
  Statement extends BatchStatement<infer _, infer Elements>
    ? { readonly [Name in keyof Elements]: Values[Elements[Name]] | null }
    : never

/** Checks the names used in a statement. */
export function defineBatch<const Constants extends Columns, const Elements extends Columns>(
  statement: BatchStatement<Constants, Elements>,
): BatchStatement<Constants, Elements> {
  return statement
}

/** Returns rows as `runMany` takes them. */
export function encodeRows<Constants extends Columns, Elements extends Columns>(
  statement: BatchStatement<Constants, Elements>,
  rows: Iterable<RowOf<BatchStatement<Constants, Elements>>>,
): Uint8Array<ArrayBuffer> {
  return encodeJson(Array.from(rows, (row) => rowValues(statement, row)))
}

export const encodeJson = (rows: readonly unknown[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(JSON.stringify(rows)))

/** A row as `runMany` takes it, in a JSON array: its values in the order of the statement's elements. */
export function rowValues<Constants extends Columns, Elements extends Columns>(
  { elements }: BatchStatement<Constants, Elements>,
  row: RowOf<BatchStatement<Constants, Elements>>,
): (string | number | null)[] {
  return Object.keys(elements).map((name) => row[name] ?? null)
}

function setClause(assignments: Assignments): string {
  return Object.entries(assignments)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ')
}

/** The statement of a batch on SQLite, for one row. Its parameters are the constants, then the values of the row. */
export interface SqliteBatch {
  readonly text: string
  /** Position of the key in a row, if the rows are not sorted by it yet. */
  readonly key?: number
}

export function sqliteBatch(batch: BatchStatement): SqliteBatch {
  const { table, key, constants, elements } = batch
  const names = Object.keys(elements)
  const parameters = [...Object.keys(constants), ...names]
  const at = Object.fromEntries(parameters.map((name, i) => [name, `?${i + 1}`]))
  const set = setClause(batch.update(at))
  const when = batch.when?.(at)
  const inserted = batch.insert?.(at)
  const text =
    inserted === undefined
      ? `UPDATE ${table} SET ${set} WHERE ${key} = ${at[key]} ${when === undefined ? '' : `AND (${when})`}`
      : `INSERT INTO ${table} (${Object.keys(inserted).join(', ')}) VALUES (${Object.values(inserted).join(', ')})
      ON CONFLICT (${key}) DO UPDATE SET ${set} ${when === undefined ? '' : `WHERE ${when}`}`
  return { text, key: names.indexOf(key) }
}

/** A statement that inserts one row. */
export function sqliteInsert(table: string, columns: Columns): SqliteBatch {
  const names = Object.keys(columns)
  return { text: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})` }
}

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
export function postgresBatchLock({ table, key, elements }: BatchStatement): string {
  const place = Object.keys(elements).indexOf(key)
  const value = `value ->> ${place}`
  const wanted = elements[key] === 'integer' ? `(${value})::bigint` : value
  return `SELECT count(*) FROM (
    SELECT ${key} FROM ${table}
    WHERE ${key} IN (SELECT ${wanted} FROM ${ROWS})
    ORDER BY ${key} FOR UPDATE
  ) AS locked`
}

/** Returns one statement that inserts all rows, with their ids: `$1` is the JSON array of arrays. */
export function postgresInsert(table: string, columns: Columns): string {
  const values = Object.values(columns).map((type, i) => `(value ->> ${i})::${TYPES[type]}`)
  return `INSERT INTO ${table} (${Object.keys(columns).join(', ')}) OVERRIDING SYSTEM VALUE
    SELECT ${values.join(', ')} FROM ${ROWS}`
}

/** Returns one statement for all rows: `$1` is the JSON array of arrays, the constants follow. */
export function postgresBatch(batch: BatchStatement): string {
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

  const given = (name: string) => `(SELECT ${name} FROM given)`
  const at = { ...constants }
  for (const [name, type] of Object.entries(elements))
    at[name] = `(${given(name)} ->> excluded.${key})::${TYPES[type]}`
  const set = setClause(batch.update(at))
  const when = batch.when?.(at)
  const objects = Object.keys(elements)
    .filter((name) => `${set} ${when}`.includes(given(name)))
    .map((name) => `jsonb_object_agg(${key}, ${name}) FILTER (WHERE ${name} IS NOT NULL) AS ${name}`)
  const collected =
    objects.length === 0 ? '' : `, given AS MATERIALIZED (SELECT ${objects.join(', ')} FROM item)`

  return `WITH ${items(batch)}${collected}
    INSERT INTO ${table} (${Object.keys(inserted).join(', ')})
    SELECT ${Object.values(inserted).join(', ')} FROM item ORDER BY item.${key} COLLATE "C"
    ON CONFLICT (${key}) DO UPDATE SET ${set} ${when === undefined ? '' : `WHERE ${when}`}`
}
