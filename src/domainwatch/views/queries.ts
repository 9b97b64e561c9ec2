import { raw, sql } from '../../storage/database/sql.ts'

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
