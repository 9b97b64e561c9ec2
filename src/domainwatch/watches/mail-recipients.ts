import { randomUUID } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { Client } from '../../lib/client.ts'
import type { Database } from '../../storage/database/database.ts'
import type { HeldDelivery } from '../../deliveries/transport.ts'
import { lockAccount } from '../../deliveries/queries-watches.ts'
import * as queries from './queries-mail.ts'
import { digestOf, newToken } from './secret-links.ts'

const HOUR_MS = 60 * 60 * 1000
/** The time in which mails are counted. */
export const COUNTED_MS = 24 * HOUR_MS
/** Mails to one address within 24 hours, of all accounts. */
const MAX_MAILS_OF_ADDRESS = 50
/** Mails of one account within 24 hours. */
const MAX_MAILS_OF_ACCOUNT = 500
/** How long the link to confirm works. An address that does not confirm gets at most one in this time. */
export const LINK_DAYS = 7
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
      await tx.all(lockAccount(account, dialect.forUpdate))
      const recipient = await tx.first(queries.recipientOf(key, dialect.forUpdate))
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
    await this.#database.transaction((tx) => tx.run(queries.setLink(address, digestOf(token))), account)
    return token
  }

  /** Returns the address of a link; undefined if there is no such link, or it expired. */
  find(token: string, client: Client) {
    return this.#database.readerOf(client).first(queries.recipientByLink(digestOf(token), this.#clock.now()))
  }

  /** Returns false if there is no such link, or it expired. */
  async confirm(token: string): Promise<boolean> {
    const query = queries.confirmRecipient(digestOf(token), this.#clock.now())
    return (await this.#database.transaction((tx) => tx.run(query))) > 0
  }
}

const heldAfter = (at: number, error: string): HeldDelivery => ({
  kind: 'held',
  code: undefined,
  until: at + COUNTED_MS,
  error,
})
