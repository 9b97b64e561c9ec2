/** Type of a constant or of an element of a row: an engine behind a socket has to be told. */
export type ValueType = 'text' | 'integer'

/** Where a statement finds a constant, or an element of the row in turn: a piece of SQL. */
export type Places<Name extends string> = Readonly<Record<Name, string>>

/** Columns and the expressions that they take. */
export type Assignments = Readonly<Record<string, string>>

/**
 * What is done with each row of a large batch, said once for every engine: one runs a prepared statement a row,
 * another a single statement over all of them. Rows must not repeat a key.
 */
export interface BatchStatement<Constant extends string = string, Element extends string = string> {
  readonly table: string
  /** The element that is the table's primary key, and the name of that column. */
  readonly key: NoInfer<Element>
  /** The same for all rows, in the order they are passed. */
  readonly constants: Readonly<Record<Constant, ValueType>>
  /** A row's elements, in their order. */
  readonly elements: Readonly<Record<Element, ValueType>>
  /** The columns of a new row. Without it, keys that the table does not have are passed over. */
  insert?(at: Places<Constant | Element>): Assignments
  /**
   * What changes in a row that is there already. Its columns are named with the table's name before them; what
   * `insert` would have stored is `excluded.column`.
   */
  update(at: Places<Constant | Element>): Assignments
  /** A condition on the row that is there already; where it does not hold, the row is left alone. */
  when?(at: Places<Constant | Element>): string
}

/** Checks the names used in a statement. */
export function defineBatch<Constant extends string, Element extends string>(
  statement: BatchStatement<Constant, Element>,
): BatchStatement {
  return statement
}

export function setClause(assignments: Assignments): string {
  return Object.entries(assignments)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ')
}
