import type { Database, Transaction } from '../../../storage/database/database.ts'
import type { DeliveryMode } from './modes.ts'
import * as queries from './queries.ts'
import { newSecret } from './signature.ts'

export interface DeliverySettings {
  readonly accountId: number
  readonly account: string
  readonly mode: DeliveryMode
  /** Whether there is a secret to sign with. */
  readonly signs: boolean
}

export type DeliveryOutcome =
  | { readonly kind: 'settled'; readonly mode: DeliveryMode; readonly secret: string | null }
  | { readonly kind: 'unknown' }
  /** The account is of the other service. */
  | { readonly kind: 'no-images' }

export interface DeliveryChange {
  readonly mode?: DeliveryMode | undefined
  readonly secret?: 'new' | 'kept' | undefined
}

/**
 * Settles how an application's images may be asked for; links follow from the commit on.
 * @param change `mode`: undefined leaves it; `secret`: `new` makes all links invalid that were signed before, `kept` makes one only
 *   where there is none
 */
export function settleDelivery(
  database: Database,
  account: string,
  change: DeliveryChange,
): Promise<DeliveryOutcome> {
  return database.transaction((tx) => settleDeliveryIn(tx, account, change))
}

/** The same in the caller's transaction. */
export async function settleDeliveryIn(
  tx: Transaction,
  account: string,
  change: DeliveryChange,
): Promise<DeliveryOutcome> {
  const row = await tx.first(queries.deliveryOf(account))
  if (row === undefined) return { kind: 'unknown' }
  if (row.service !== 'imagestore') return { kind: 'no-images' }
  const mode = change.mode ?? row.mode ?? 'open'
  const secret =
    change.secret === 'new' || (change.secret === 'kept' && row.secret === null) ? newSecret() : row.secret
  if (mode !== (row.mode ?? 'open') || secret !== row.secret) {
    await tx.run(queries.putDelivery(row.account_id, mode, secret))
  }
  return { kind: 'settled', mode, secret }
}

export async function deliveries(database: Database): Promise<DeliverySettings[]> {
  const rows = await database.all(queries.allDeliveries())
  return rows.map(({ account_id, name, mode, secret }) => ({
    accountId: Number(account_id),
    account: name,
    mode: mode ?? 'open',
    signs: secret !== null,
  }))
}
