import type { Dialect } from '../../storage/database/dialect.ts'
import { sql } from '../../storage/database/sql.ts'

export type DefinitionKind = 'preset' | 'watermark'

export interface DefinitionRow {
  readonly kind: DefinitionKind
  readonly name: string
  /** Modifiers of a preset, JSON of a watermark. */
  readonly value: string
}

export const allDefinitions = () => sql<DefinitionRow>`
  SELECT kind, name, value FROM image_definitions ORDER BY kind, name`

export const countOthers = (kind: DefinitionKind, name: string) => sql<{ count: number }>`
  SELECT count(*) AS count FROM image_definitions WHERE kind = ${kind} AND name <> ${name}`

export const setDefinition = ({ kind, name, value }: DefinitionRow) => sql`
  INSERT INTO image_definitions (kind, name, value) VALUES (${kind}, ${name}, ${value})
  ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value`

export const removeDefinition = (kind: DefinitionKind, name: string) => sql`
  DELETE FROM image_definitions WHERE kind = ${kind} AND name = ${name}`

/** A change of the topic that links depend on: all nodes read the definitions again. */
export const announceDefinition = ({ now }: Dialect, name: string) => sql`
  INSERT INTO changes (at, topic, kind, key) SELECT ${now}, 'account', 'changed', CAST(${name} AS TEXT)`
