import { attempt } from './attempt.ts'
import { attemptOf } from './delivery-log.ts'
import type { DestinationContext } from './destination-notifier.ts'
import { writeOne } from './notification.ts'
import { logReplay, nextReplay } from './queries-deliveries.ts'
import { revive, type DestinationState } from './queries-destinations.ts'
import { secretsAt } from './webhook-secrets.ts'

/**
 * Sends the deliveries of one destination that members want sent again, one at a time, with one attempt each and within the
 * limits of all deliveries. A replay waits in the database until its result is stored, so after a crash it is sent again. If
 * it arrives, deliveries to a receiver that was given up resume.
 */
export async function notifyReplays(
  { channels, clock, database, slots }: DestinationContext,
  row: DestinationState,
  signal: AbortSignal,
): Promise<void> {
  const { id, address } = row
  const channel = channels.get(row.channel)
  if (channel === undefined) return
  const owner = { destination: id, account: String(row.account_id), host: channel.hostOf(address) }
  while (!signal.aborted) {
    const replay = await database.first(nextReplay(id))
    if (replay === undefined) return
    const { outcome, ms } = await slots.run(owner, false, signal, () => {
      const secrets = secretsAt(clock.now(), row)
      return attempt(channel, { ...replay, address, secrets }, signal)
    })
    if (outcome.kind === 'failed' && signal.aborted) return
    const isDelivered = outcome.kind === 'delivered'
    const result = attemptOf(outcome, isDelivered ? 'delivered' : 'failed', ms)
    if (!(await writeOne(database, logReplay(replay.id, result)))) return
    if (isDelivered) await writeOne(database, revive(id))
  }
}
