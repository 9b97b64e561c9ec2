import type { Sql } from './sql.ts'

/** Where the engines differ in what they are asked for: named abilities, so that no caller asks which engine it is. */
export interface Dialect {
  /** A condition: `column` contains `text`, compared byte by byte. */
  contains(column: Sql, text: string): Sql
}
