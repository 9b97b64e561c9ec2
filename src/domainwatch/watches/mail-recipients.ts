import * as queries from './queries.ts'
import { randomUUID, hash, randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { Client } from '../../lib/client.ts'
import type { Database } from '../../storage/database/database.ts'
import type { HeldDelivery, Outcome } from '../../deliveries/transport.ts'
import { lockAccount } from '../../storage/database/dialect.ts'
import { attempt, delayAfter, newDeliveryId, type AttemptContext } from '../../deliveries/delivery-attempt.ts'
import { waitUntil } from '../../deliveries/destination-notifier.ts'
import type { DestinationToNotify } from '../../deliveries/queries.ts'
import type { Channel, Channels } from './message.ts'
import { languageOf } from '../texts.ts'

const HOUR_MS = 60 * 60 * 1000
/** The time in which mails are counted. */
export const COUNTED_MS = 24 * HOUR_MS
/** Mails to one address within 24 hours, of all accounts. */
const MAX_MAILS_OF_ADDRESS = 50
/** Mails of one account within 24 hours. */
const MAX_MAILS_OF_ACCOUNT = 500
/** How long the link to confirm works. An address that does not confirm gets at most one in this time. */
const LINK_DAYS = 7
/** How long an address that no watch has any more stays confirmed. */
export const UNUSED_RECIPIENT_MS = 30 * COUNTED_MS

const UNCONFIRMED = 'La dirección está por confirmar: falta abrir el enlace que se le envió'
const FULL_ADDRESS = `La dirección ya recibió ${MAX_MAILS_OF_ADDRESS} mensajes en un día`
const FULL_ACCOUNT = `La cuenta ya envió ${MAX_MAILS_OF_ACCOUNT} correos en un día`

/**
 * Keeps watches from mailing people who do not want it: the reader of an address confirms it by a link, and addresses and
 * accounts have a number of mails a day. All nodes count together.
 */
export class MailRecipients {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /**
   * Counts a mail that is about to be sent.
   * @param isConfirmation whether it asks the reader to confirm
   * @returns until when it has to wait, and why; undefined if it may be sent
   */
  admit(account: number, address: string, isConfirmation: boolean): Promise<HeldDelivery | undefined> {
    const { dialect } = this.#database
    const key = address.toLowerCase()
    return this.#database.transaction(async (tx) => {
      // Serialises the mails of an account and to an address, so that they cannot exceed a limit together.
      await tx.all(lockAccount(dialect, account))
      const recipient = await tx.first(queries.findRecipient(key, dialect.forUpdate))
      const now = this.#clock.now()
      if (!isConfirmation && (recipient?.confirmed_at ?? null) === null) {
        await tx.run(queries.forgetUnconfirmed(key, now))
        return { kind: 'held', code: undefined, until: now + HOUR_MS, error: UNCONFIRMED }
      }
      const since = now - COUNTED_MS
      const ofAddress = await tx.first(queries.mailOfAddress(key, since, MAX_MAILS_OF_ADDRESS))
      if (ofAddress !== undefined) return heldAfter(ofAddress.at, FULL_ADDRESS)
      const ofAccount = await tx.first(queries.mailOfAccount(account, since, MAX_MAILS_OF_ACCOUNT))
      if (ofAccount !== undefined) return heldAfter(ofAccount.at, FULL_ACCOUNT)
      await tx.run(queries.countMail(randomUUID(), account, key, now))
      return undefined
    }, account)
  }

  /** Makes a link to confirm an address, which replaces an earlier one. Returns its secret part. */
  async newLink(account: number, address: string): Promise<string> {
    const token = newToken()
    await this.#database.transaction((tx) => tx.run(queries.setLink(address, toDigest(token))), account)
    return token
  }

  /** Returns the address of a link; undefined if there is no such link, or it expired. */
  find(token: string, client: Client) {
    return this.#database.readerOf(client).first(queries.recipientByLink(toDigest(token), this.#clock.now()))
  }

  /** Returns false if there is no such link, or it expired. */
  async confirm(token: string): Promise<boolean> {
    const query = queries.confirmRecipient(toDigest(token), this.#clock.now())
    return (await this.#database.transaction((tx) => tx.run(query))) > 0
  }
}

const heldAfter = (at: number, error: string): HeldDelivery => ({
  kind: 'held',
  code: undefined,
  until: at + COUNTED_MS,
  error,
})

/** Generates the secret part of an address that needs no key. */
export const newToken = (): string => randomBytes(20).toString('base64url')

/** Tokens are random, so a plain hash suffices to make a leaked database useless. */
export const toDigest = (token: string): string => hash('sha256', token)

const LINK_MS = LINK_DAYS * 24 * 60 * 60 * 1000

/** What to store of an attempt. A link that could not be sent expires immediately, so that the address may be asked again. */
function toResult(outcome: Outcome, failed: number, now: number): queries.AskedRecipient {
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
    const known = await database.first(queries.findRecipient(address))
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
    const result = toResult(outcome, attempts, now)
    await database.transaction(async (tx) => {
      await tx.run(queries.noteAsked(address, outcome, result.expiresAt === now, now))
      await tx.run(queries.setAsked(address, result))
    }, account_id)
  }
}
