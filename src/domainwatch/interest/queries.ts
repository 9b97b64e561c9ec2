import { empty, limit, sql } from '../../storage/database/sql.ts'

export interface DecisionRow {
  readonly name: string
  readonly wanted: 0 | 1
  /** Each with a space before and after it; null if there is none. */
  readonly tags: string | null
  readonly decided_at: number
}

/** The last decisions of one kind. */
export const lastDecisions = (wanted: 0 | 1, count: number) => sql<DecisionRow>`
  SELECT name, wanted, tags, decided_at FROM decisions WHERE wanted = ${wanted}
  ORDER BY decided_at DESC ${limit(count)}`

/** Counts decisions of one kind after a time, up to `max`. */
const countedUpTo = (wanted: 0 | 1, max: number, after: number | undefined) => sql`
  (SELECT count(*) FROM (SELECT 1 FROM decisions
    WHERE wanted = ${wanted} ${after === undefined ? empty : sql`AND decided_at > ${after}`} ${limit(max)}) AS counted)`

/** How many decisions there are of each kind, up to `max`. @param after only later ones: milliseconds since 1970 */
export const countDecisions = (max: number, after?: number) => sql<{ wanted: number; unwanted: number }>`
  SELECT ${countedUpTo(1, max, after)} AS wanted, ${countedUpTo(0, max, after)} AS unwanted`

export interface ModelRow {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly trained_at: number
  /** When the last of the decisions was made that it was trained with. */
  readonly decided_until: number
}

export const newestModel = () => sql<ModelRow>`
  SELECT id, trained_at, decided_until FROM interest_models ORDER BY trained_at DESC, id LIMIT 1`

export const modelById = (id: string) =>
  sql<{ model: string }>`SELECT model FROM interest_models WHERE id = ${id}`

/** @param model JSON */
export const storeModel = ({ id, trained_at, decided_until }: ModelRow, model: string) => sql`
  INSERT INTO interest_models (id, trained_at, decided_until, model)
  VALUES (${id}, ${trained_at}, ${decided_until}, ${model})
  ON CONFLICT (id) DO UPDATE SET trained_at = excluded.trained_at, decided_until = excluded.decided_until`

export const deleteModels = (before?: number) => sql`
  DELETE FROM interest_models ${before === undefined ? empty : sql`WHERE trained_at < ${before}`}`

export const deleteDecisions = () => sql`DELETE FROM decisions`
