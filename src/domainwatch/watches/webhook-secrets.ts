import { HttpError } from '../../lib/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { newSecret } from './channels/webhook.ts'
import { accessibleWatch, replaceSecret } from './queries.ts'

/** How long deliveries are signed with the previous secret, too. */
export const SECRETS_OVERLAP_HOURS = 24
const OVERLAP_MS = SECRETS_OVERLAP_HOURS * 60 * 60 * 1000

export const noWebhook = () => new HttpError(409, 'La vigilancia no tiene webhook')

export interface Secrets {
  readonly secret: string | null
  readonly previous_secret: string | null
  readonly previous_secret_until: number | null
}

/** Returns the secrets that sign at a time, the newest first. */
export function secretsAt(now: number, watch: Secrets): readonly string[] {
  const { secret, previous_secret: previous, previous_secret_until: until } = watch
  if (secret === null) return []
  return previous !== null && now < (until ?? 0) ? [secret, previous] : [secret]
}

export interface RotatedSecret {
  readonly secret: string
  /** When the previous secret stops signing. */
  readonly until: number
}

/**
 * Replaces the secret of a watch. Of two rotations within a day, the secret before the first one stops signing
 * immediately.
 * @returns undefined if the account has no access to such a watch
 * @throws HttpError 409 if the watch has no webhook
 */
export async function rotateSecret(
  database: Database,
  clock: Clock,
  accountId: number,
  id: string,
): Promise<RotatedSecret | undefined> {
  const rotated = { secret: newSecret(), until: clock.now() + OVERLAP_MS }
  return database.transaction(async (tx) => {
    const watch = await tx.first(accessibleWatch(accountId, id, database.dialect.forUpdate))
    if (watch === undefined) return undefined
    if (watch.secret === null) throw noWebhook()
    await tx.run(replaceSecret(id, rotated.secret, rotated.until))
    return rotated
  }, accountId)
}
