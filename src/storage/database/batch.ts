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

/** A row as `runMany` takes it, in a JSON array: its values in the order of the statement's elements. */
export function rowValues<Constants extends Columns, Elements extends Columns>(
  { elements }: BatchStatement<Constants, Elements>,
  row: RowOf<BatchStatement<Constants, Elements>>,
): (string | number | null)[] {
  return Object.keys(elements).map((name) => row[name] ?? null)
}

export function setClause(assignments: Assignments): string {
  return Object.entries(assignments)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ')
}
