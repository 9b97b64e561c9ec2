import { hash, randomBytes } from 'node:crypto'
import type { Identity } from '../../http/auth/authenticator.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Client } from '../../lib/client.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { imageErrors } from '../errors.ts'
import { uploaderOf } from '../uploaders.ts'
import * as queries from './queries.ts'

export const MAX_TICKET_SECONDS = 86_400
export const MAX_TICKET_USES = 1_000
/** A ticket is spent after this many refusals. */
const MAX_REFUSALS = 20
/** An ended ticket is known for this long, so that its visitors learn that it has ended. */
const KEPT_MS = 86_400_000
const TICKET = /^[\w-]{32}$/

/** What a ticket fixes. */
export interface TicketTerms {
  /** Name of the images; by default that of the uploaded file. */
  readonly name?: string | undefined
  /** When the images expire, in seconds since 1970. */
  readonly imageExpires?: number | undefined
  readonly maxBytes?: number | undefined
  /** Types that the images may have. */
  readonly types?: readonly string[] | undefined
  /** Tags of the images, a JSON array. */
  readonly tags?: string | undefined
  /** Lists of modifiers whose derivatives are made after each upload. */
  readonly eager?: readonly string[] | undefined
}

/** A ticket of which an upload has taken a use. */
export interface Ticket {
  readonly digest: string
  readonly accountId: number
  /** The key that the images belong to, if it sees only its own. */
  readonly uploader: string | undefined
  readonly terms: TicketTerms
}

interface NewTicket {
  readonly ticket: string
  /** Seconds since 1970. */
  readonly expires: number
}

/** Tickets let visitors upload without a key. Only their digests are stored. */
export class Tickets {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** @param seconds until it expires */
  async create(
    identity: Identity,
    { uses, seconds }: { readonly uses: number; readonly seconds: number },
    terms: TicketTerms,
  ): Promise<NewTicket> {
    const ticket = randomBytes(24).toString('base64url')
    const expires = Math.ceil(this.#clock.now() / 1_000) + seconds
    const row = {
      digest: hash('sha256', ticket),
      account_id: identity.accountId,
      key_id: identity.keyId,
      expires_at: expires * 1_000,
      uses_left: uses,
      terms: JSON.stringify({ ...terms, uploader: uploaderOf(identity) }),
    }
    await this.#database.transaction((tx) => tx.run(queries.insertTicket(row)), identity.accountId)
    return { ticket, expires }
  }

  /** @throws HttpError 404 if the ticket is unknown, 403 if it has expired */
  async find(ticket: string, client: Client): Promise<Ticket> {
    const row = TICKET.test(ticket)
      ? await this.#database.readerOf(client).first(queries.ticketOf(hash('sha256', ticket)))
      : undefined
    if (row === undefined || row.expires_at < this.#endedBefore()) throw imageErrors.ticket_not_found()
    if (row.expires_at <= this.#clock.now()) throw imageErrors.ticket_expired()
    return toTicket(row)
  }

  /**
   * Takes a use of a ticket, which the upload keeps or gives back.
   * @throws HttpError 404 if the ticket is unknown, 403 if it has expired or is spent
   */
  async take(ticket: string, client: Client): Promise<Ticket> {
    const found = await this.find(ticket, client)
    await this.#database.transaction((tx) => takeUse(tx, found.digest), found.accountId)
    return found
  }

  /** @param isRefusal whether the upload was refused; else it failed for a reason that is not the client's */
  async giveBack({ digest, accountId }: Ticket, isRefusal: boolean): Promise<void> {
    await this.#database.transaction(
      (tx) => tx.run(queries.giveUseBack(digest, isRefusal ? 1 : 0)),
      accountId,
    )
  }

  async hasEnded(): Promise<boolean> {
    return (await this.#database.first(queries.anyOldTicket(this.#endedBefore()))) !== undefined
  }

  /** Removes tickets that ended long ago. */
  async sweep(): Promise<void> {
    await this.#database.transaction((tx) => tx.run(queries.deleteOldTickets(this.#endedBefore())))
  }

  #endedBefore(): number {
    return this.#clock.now() - KEPT_MS
  }
}

export function toTicket({ digest, account_id, terms: json }: queries.TicketTermsRow): Ticket {
  const { uploader, ...terms }: TicketTerms & { readonly uploader?: string } = JSON.parse(json)
  return { digest, accountId: account_id, uploader, terms }
}

/** @throws HttpError 403 if the ticket is spent */
export async function takeUse(tx: Transaction, digest: string): Promise<void> {
  if ((await tx.run(queries.takeUse(digest, MAX_REFUSALS))) === 0) throw imageErrors.ticket_spent()
}
