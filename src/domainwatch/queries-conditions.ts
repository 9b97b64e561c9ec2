import type { Dialect } from '../storage/database/dialect.ts'
import { sql, raw, type Sql } from '../storage/database/sql.ts'

type Build = (dialect: Dialect) => Sql

/** The condition of a filter on a row of `domains`. Without `record`, `name` is the whole condition. */
export type SqlCondition =
  | {
      readonly record: Build
      /** The same in terms of the name alone: an index by date then decides it without fetching the row. */
      readonly name?: Build
      /** The date that it bounds: an index by it can use the condition as a range. */
      readonly rangeOf?: 'date_reg' | 'date_mod' | 'deleted_at'
    }
  | { readonly record?: never; readonly name: Build; readonly rangeOf?: never }

type Comparison = '=' | '>=' | '<='

export const lengthIs = (comparison: Comparison, length: number): SqlCondition => ({
  record: () => sql`length ${raw(comparison)} ${length}`,
  name: () => sql`length(name) ${raw(comparison)} ${length}`,
})

export const isAt = (
  column: 'date_reg' | 'date_mod' | 'deleted_at',
  comparison: Comparison,
  date: string,
): SqlCondition => ({
  record: () => sql`${raw(column)} ${raw(comparison)} ${date}`,
  rangeOf: column,
})

/** A literal, not a parameter: a partial index serves no parameter. */
export const bitIs = (column: 'status' | 'reserved' | 'revision', value: number): SqlCondition => ({
  record: () => sql`${raw(column)} = ${raw(value === 1 ? '1' : '0')}`,
})

/** Whether a time is there (1) or not (0). */
export const isSet = (column: 'discarded_at' | 'seen_at', value: number): SqlCondition => ({
  record: () => sql`${raw(column)} ${raw(value === 1 ? 'IS NOT NULL' : 'IS NULL')}`,
})

/** There is one more space than words. */
export const wordCountIs = (count: number): SqlCondition => ({
  record: () => sql`length(words) - length(replace(words, ' ', '')) = ${count + 1}`,
})

export const hasWord = (word: string): SqlCondition => ({
  record: (dialect) => sql`(words IS NOT NULL AND ${dialect.contains(sql`words`, ` ${word} `)})`,
})

export const hasTag = (tag: string): SqlCondition => ({
  record: (dialect) => sql`(tags IS NOT NULL AND ${dialect.contains(sql`tags`, ` ${tag} `)})`,
})

export const agentContains = (text: string): SqlCondition => ({
  record: (dialect) => dialect.contains(sql`agent_folded`, text),
})

/** @param value 1 if the name must be so, 0 if it must not */
export const nameIs = (value: number, test: (dialect: Dialect, name: Sql) => Sql): SqlCondition => {
  const condition = (dialect: Dialect) => isSo(test(dialect, sql`name`), value)
  return { record: condition, name: condition }
}

/** Names with letters beyond ASCII have an A-label. */
export const isIdn = (value: number): SqlCondition => ({
  record: () => isSo(sql`ascii IS NOT NULL`, value),
  name: () => isSo(sql`length(name) < octet_length(name)`, value),
})

/**
 * @param text what to find in the name
 * @param ascii what to find in the A-label, as an alternative
 */
export function nameMatches(
  { text, ascii }: { readonly text: string; readonly ascii?: string },
  test: (dialect: Dialect, column: Sql, text: string) => Sql,
): SqlCondition {
  const inName = (dialect: Dialect) => test(dialect, sql`name`, text)
  if (ascii === undefined) return { name: inName }
  return { record: (dialect) => sql`(${inName(dialect)} OR ${test(dialect, sql`ascii`, ascii)})` }
}

const isSo = (condition: Sql, value: number) => (value === 1 ? condition : sql`NOT (${condition})`)
