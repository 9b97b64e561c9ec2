import type { Clock } from '../../lib/clock.ts'
import { randomId } from '../../lib/random-id.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { domainErrors } from '../errors.ts'
import { lockAccount } from '../jobs/queries.ts'
import * as queries from './queries.ts'
import type { ViewProperties, ViewRow } from './queries.ts'

/** Views of an account. */
export const MAX_VIEWS = 100
export const MAX_VIEW_NAME_CHARACTERS = 60

/** Filters that accounts keep under a name. Only the owner changes a view, also one that the group sees. */
export class Views {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Returns the views of an account and those that others share, oldest first. */
  async list(account: number): Promise<readonly ViewRow[]> {
    const rows = await this.#database.all(queries.viewsFor(account))
    return rows.map(({ created_at: _at, ...view }) => view)
  }

  /** @throws HttpError 409 if the account has its maximum */
  create(account: number, view: ViewProperties): Promise<string> {
    return this.#database.transaction(async (tx) => {
      // Concurrent requests of an account cannot exceed the limit together.
      await tx.all(lockAccount(this.#database.dialect, account))
      const { count = 0 } = (await tx.first(queries.countViews(account))) ?? {}
      if (count >= MAX_VIEWS) throw domainErrors.too_many_views(MAX_VIEWS)
      const id = randomId()
      await tx.run(queries.insertView(id, account, view, this.#clock.now()))
      return id
    })
  }

  /** @param edit the properties to change @throws HttpError 403 if the view is another account's, 404 */
  edit(account: number, id: string, edit: Partial<ViewProperties>): Promise<void> {
    return this.#database.transaction(async (tx) => {
      await tx.all(lockAccount(this.#database.dialect, account))
      await tx.run(queries.updateView(id, { ...(await ownView(tx, account, id)), ...edit }))
    })
  }

  /** @throws HttpError 403 if the view is another account's, 404 */
  remove(account: number, id: string): Promise<void> {
    return this.#database.transaction(async (tx) => {
      await ownView(tx, account, id)
      await tx.run(queries.deleteView(id))
    })
  }
}

async function ownView(tx: Transaction, account: number, id: string): Promise<ViewProperties> {
  const view = await tx.first(queries.visibleView(id, account))
  if (view === undefined) throw domainErrors.view_not_found()
  if (view.account_id !== account) throw domainErrors.view_owner_only()
  return view
}
