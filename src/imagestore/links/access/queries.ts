import type { Service } from '../../../http/auth/authenticator.ts'
import { sql } from '../../../storage/database/sql.ts'
import type { DeliveryMode } from './modes.ts'

export interface DeliveryRow {
  readonly account_id: number
  readonly name: string
  readonly service: Service
  /** null where nothing was settled. */
  readonly mode: DeliveryMode | null
  readonly secret: string | null
}

export const deliveryOf = (account: string) => sql<DeliveryRow>`
  SELECT accounts.id AS account_id, accounts.name, accounts.service, delivery.mode, delivery.secret
  FROM accounts LEFT JOIN delivery ON delivery.account_id = accounts.id
  WHERE accounts.name = ${account}`

export const allDeliveries = () => sql<DeliveryRow>`
  SELECT accounts.id AS account_id, accounts.name, accounts.service, delivery.mode, delivery.secret
  FROM accounts LEFT JOIN delivery ON delivery.account_id = accounts.id
  WHERE accounts.service = 'imagestore' ORDER BY accounts.name`

export const putDelivery = (accountId: number, mode: DeliveryMode, secret: string | null) => sql`
  INSERT INTO delivery (account_id, mode, secret) VALUES (${accountId}, ${mode}, ${secret})
  ON CONFLICT (account_id) DO UPDATE SET mode = excluded.mode, secret = excluded.secret`
