import { attempt, delayAfter, newDeliveryId, type AttemptContext } from '../../deliveries/delivery-attempt.ts'
import { waitUntil } from '../../deliveries/destination-notifier.ts'
import type { DestinationToNotify } from '../../deliveries/queries-destinations.ts'
import type { Outcome } from '../../deliveries/transport.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Channel, Channels } from './channels/channel.ts'
import { LINK_DAYS, type MailRecipients } from './mail-recipients.ts'
import { noteAsked, recipientOf, setAsked, type AskedRecipient } from './queries-mail.ts'
import { languageOf } from '../texts.ts'

const LINK_MS = LINK_DAYS * 24 * 60 * 60 * 1000

/** What to store of an attempt. A link that could not be sent expires immediately, so that the address may be asked again. */
function resultOf(outcome: Outcome, failed: number, now: number): AskedRecipient {
  if (outcome.kind === 'delivered') return { expiresAt: now + LINK_MS, attempts: failed, nextAt: 0 }
  if (outcome.kind === 'held') return { expiresAt: null, attempts: failed, nextAt: outcome.until }
  const attempts = failed + 1
  const delay = outcome.kind === 'gone' ? undefined : delayAfter(attempts, Math.random())
  return delay === undefined
    ? { expiresAt: now, attempts, nextAt: 0 }
    : { expiresAt: null, attempts, nextAt: now + delay }
}

interface AskContext extends AttemptContext<Channel> {
  readonly channels: Channels
  readonly database: Database
  readonly recipients: MailRecipients
}

/**
 * Sends an address the link to confirm, once: until `signal` aborts, the mail server takes it, or it was given up. An attempt
 * whose result is lost is repeated with another link.
 */
export async function askRecipient(
  context: AskContext,
  { channel: name, address: given, account_id, language }: DestinationToNotify,
  signal: AbortSignal,
): Promise<void> {
  const { channels, clock, database, recipients } = context
  const channel = channels.get(name)
  const address = given.toLowerCase()
  while (!signal.aborted && channel?.renderConfirmation !== undefined) {
    const known = await database.first(recipientOf(address))
    const attempts = known?.attempts ?? 0
    if (typeof (known?.confirmed_at ?? known?.expires_at) === 'number') return
    if (!(await waitUntil(known?.next_at ?? 0, clock, signal))) return
    const now = clock.now()
    const token = await recipients.newLink(account_id, address)
    const body = channel.renderConfirmation(languageOf(language), token)
    const delivery = { id: newDeliveryId(), body }
    const target = { account_id, address: given }
    const attempted = await attempt(context, channel, target, delivery, signal, 'confirmation')
    if (attempted === undefined) return
    const { outcome } = attempted
    const result = resultOf(outcome, attempts, now)
    await database.transaction(async (tx) => {
      await tx.run(noteAsked(address, outcome, result.expiresAt === now, now))
      await tx.run(setAsked(address, result))
    }, account_id)
  }
}
