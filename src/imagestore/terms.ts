import type { Database } from '../storage/database/database.ts'
import { DELIVERY_MODES, type DeliveryMode } from './links/access/modes.ts'
import { deliveries, settleDeliveryIn } from './links/access/settings.ts'
import { changeLimits } from './limits.ts'
import { allLimits, type Limits } from './queries-quotas.ts'

/** What the owner of the service settles for an application. */
export interface Terms extends Limits {
  readonly delivery: DeliveryMode
}

export interface TermsOffice {
  readonly modes: readonly DeliveryMode[]
  /** Of every application, by the name of its account. */
  readonly all: () => Promise<ReadonlyMap<string, Terms>>
  /**
   * What is left out stays; all of it is settled or nothing. Uploads and links follow from the commit on.
   * @returns undefined where the account holds no images
   */
  readonly change: (
    account: { readonly id: number; readonly name: string },
    change: Partial<Terms>,
  ) => Promise<Terms | undefined>
}

export function createTermsOffice(database: Database): TermsOffice {
  return {
    modes: DELIVERY_MODES,
    async all() {
      const [modes, limits] = await Promise.all([deliveries(database), database.all(allLimits())])
      const limitOf = new Map(limits.map((row) => [Number(row.account_id), row]))
      return new Map(
        modes.map(({ accountId, account, mode }) => {
          const { max_images, max_bytes } = limitOf.get(accountId) ?? NO_LIMITS
          return [account, { max_images, max_bytes, delivery: mode }]
        }),
      )
    },
    change: ({ id, name }, { delivery, ...limits }) =>
      database.transaction(async (tx) => {
        // Whoever closes an application's images can sign links to them at once.
        const secret = delivery === 'signed' ? 'kept' : undefined
        const settled = await settleDeliveryIn(tx, name, { mode: delivery, secret })
        if (settled.kind !== 'settled') return undefined
        const { max_images, max_bytes } = await changeLimits(tx, database.dialect, id, limits)
        return { max_images, max_bytes, delivery: settled.mode }
      }),
  }
}

const NO_LIMITS: Limits = { max_images: null, max_bytes: null }
