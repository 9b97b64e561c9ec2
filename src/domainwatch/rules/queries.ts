import { defineBatch } from '../../storage/database/batch.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { limit, sql, raw } from '../../storage/database/sql.ts'

export type RuleAction = 'hide' | 'tag'

export interface RuleProperties {
  readonly name: string
  readonly action: RuleAction
  /** The tag that the rule adds; null if it hides. */
  readonly tag: string | null
  /** JSON of the texts of the parameters. */
  readonly filters: string
  readonly paused: number
}

export interface RuleRow extends RuleProperties {
  readonly id: string
  readonly owner: string
  /** Milliseconds since 1970. */
  readonly created_at: number
}

/** What a rule that is not paused does. */
export type ActiveRule = Pick<RuleProperties, 'tag' | 'filters'>

export const rulesVersion = () => sql<{ version: number }>`SELECT rules_version AS version FROM instance`

/** The rules that are not paused, oldest first, each with the version of all rules; without any, one row that has nothing else. */
export const activeRules = () => sql<{ version: number; tag: string | null; filters: string | null }>`
  SELECT rules_version AS version, tag, filters FROM instance LEFT JOIN rules ON paused = 0
  ORDER BY created_at, rules.id`

/** Must run in each transaction that changes rules. */
export const countChange = () => sql`UPDATE instance SET rules_version = rules_version + 1`

/** Oldest first. */
export const allRules = () => sql<RuleRow>`
  SELECT rules.id AS id, accounts.name AS owner, rules.name AS name, action, tag, filters, paused, rules.created_at AS created_at
  FROM rules JOIN accounts ON accounts.id = account_id ORDER BY rules.created_at, rules.id`

export const ruleById = (id: string) => sql<RuleProperties>`
  SELECT name, action, tag, filters, paused FROM rules WHERE id = ${id}`

export const countRules = () => sql<{ count: number }>`SELECT count(*) AS count FROM rules`

export const insertRule = (id: string, account: number, rule: RuleProperties, now: number) => sql`
  INSERT INTO rules (id, account_id, name, action, tag, filters, paused, created_at)
  VALUES (${id}, ${account}, ${rule.name}, ${rule.action}, ${rule.tag}, ${rule.filters}, ${rule.paused}, ${now})`

export const updateRule = (id: string, { name, action, tag, filters, paused }: RuleProperties) => sql`
  UPDATE rules SET name = ${name}, action = ${action}, tag = ${tag}, filters = ${filters}, paused = ${paused} WHERE id = ${id}`

export const deleteRule = (id: string) => sql`DELETE FROM rules WHERE id = ${id}`

/** Changes of records by this transaction, after an id: what `toChange` reads. */
export const ownChanges = ({ isOwnChange }: Dialect, after: number, count: number) => sql`
  SELECT id, at, topic, kind, key, account_id, before, after FROM changes
  WHERE id > ${after} AND topic = 'domain' AND ${isOwnChange} ORDER BY id ${limit(count)}`

export const deleteOwnChanges = ({ isOwnChange }: Dialect, after: number) => sql`
  DELETE FROM changes WHERE id > ${after} AND topic = 'domain' AND ${isOwnChange}`

export const setTags = defineBatch({
  table: 'domains',
  key: 'name',
  constants: {},
  elements: { name: 'text', tags: 'text' },
  update: ({ tags }) => ({ tags }),
})

export const amendChanges = defineBatch({
  table: 'changes',
  key: 'id',
  constants: {},
  elements: { id: 'integer', after: 'text' },
  update: ({ after }) => ({ after }),
})

/** The first change with an id from this one on. */
export const changeFrom = (id: number) => sql<{ id: number; at: number }>`
  SELECT id, at FROM changes WHERE id >= ${id} ORDER BY id LIMIT 1`

/** Names recorded by changes after an id, with a space between them: a million rows would take seconds to copy. */
export const recordedAfter = (after: number, count: number) => sql<{
  last: number | null
  count: number
  names: string | null
}>`
  SELECT max(id) AS last, count(*) AS count, string_agg(key, ' ') AS names FROM (
    SELECT id, key FROM changes WHERE id > ${after} AND topic = 'domain' AND kind = 'added' ORDER BY id ${limit(count)}
  ) AS page`

export const newestChange = () => sql<{ id: number | null }>`SELECT max(id) AS id FROM changes`

export interface ViewProperties {
  readonly name: string
  /** A URL query. */
  readonly filters: string
  /** Whether the whole group sees it (1). */
  readonly shared: number
}

export interface ViewRow extends ViewProperties {
  readonly id: string
  readonly owner: string
}

const SHOWN = raw(`views.id AS id, views.name AS name, filters, shared, accounts.name AS owner,
  views.created_at AS created_at FROM views JOIN accounts ON accounts.id = account_id`)

/** Selects the views of an account and those that others share, oldest first. */
export const viewsFor = (account: number) => sql<ViewRow & { readonly created_at: number }>`
  SELECT ${SHOWN} WHERE account_id = ${account}
  UNION ALL SELECT ${SHOWN} WHERE shared = 1 AND account_id <> ${account}
  ORDER BY created_at, id`

export const countViews = (account: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM views WHERE account_id = ${account}`

/** Selects a view that an account sees. */
export const visibleView = (id: string, account: number) => sql<
  ViewProperties & { readonly account_id: number }
>`
  SELECT account_id, name, filters, shared FROM views WHERE id = ${id} AND (account_id = ${account} OR shared = 1)`

export const insertView = (id: string, account: number, view: ViewProperties, now: number) => sql`
  INSERT INTO views (id, account_id, name, filters, shared, created_at)
  VALUES (${id}, ${account}, ${view.name}, ${view.filters}, ${view.shared}, ${now})`

export const updateView = (id: string, { name, filters, shared }: ViewProperties) => sql`
  UPDATE views SET name = ${name}, filters = ${filters}, shared = ${shared} WHERE id = ${id}`

export const deleteView = (id: string) => sql`DELETE FROM views WHERE id = ${id}`
