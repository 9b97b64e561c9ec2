import { hash, randomBytes } from 'node:crypto'
import type { Identity } from '../http/auth/authenticator.ts'
import type { Clock } from '../lib/clock.ts'
import type { Client } from '../lib/client.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import { imageErrors } from './errors.ts'
import { uploaderOf } from './image-records.ts'
import * as queries from './queries-settings.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Staging } from '../storage/blobs/staging.ts'
import { lockAccount } from '../storage/database/dialect.ts'

export const MAX_TICKET_SECONDS = 86_400
export const MAX_TICKET_USES = 1_000
/** A ticket is spent after this many refusals. */
const MAX_REFUSALS = 20
/** An ended ticket is known for this long, so that its visitors learn that it has ended. */
const ENDED_KEPT_MS = 86_400_000
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

export interface TicketsOptions {
  readonly database: Database
  readonly clock: Clock
  /** Files that every node can read. */
  readonly files: BlobStore
  readonly staging: Pick<Staging, 'write'>
}

/** Tickets let visitors upload without a key. Only their digests are stored. */
export class Tickets {
  readonly #database: Database
  readonly #clock: Clock

  constructor({ database, clock }: Pick<TicketsOptions, 'database' | 'clock'>) {
    this.#database = database
    this.#clock = clock
  }

  /** @param seconds until it expires */
  async create(
    identity: Identity,
    { uses, seconds }: { readonly uses: number; readonly seconds: number },
    terms: TicketTerms,
  ) {
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

  async sweep(): Promise<void> {
    await this.#database.transaction((tx) => tx.run(queries.deleteOldTickets(this.#endedBefore())))
  }

  #endedBefore(): number {
    return this.#clock.now() - ENDED_KEPT_MS
  }
}

function toTicket({ digest, account_id, terms: json }: queries.TicketTermsRow): Ticket {
  const { uploader, ...terms }: TicketTerms & { readonly uploader?: string } = JSON.parse(json)
  return { digest, accountId: account_id, uploader, terms }
}

/** @throws HttpError 403 if the ticket is spent */
async function takeUse(tx: Transaction, digest: string): Promise<void> {
  if ((await tx.run(queries.takeUse(digest, MAX_REFUSALS))) === 0) throw imageErrors.ticket_spent()
}

const MAX_UNFINISHED = 3
/** Maximum size of all unfinished uploads of an application, as announced. */
const MAX_UNFINISHED_BYTES = 1024 ** 3
/** An upload to which nothing is added is removed after this time, which is also how long its answer is kept. */
const KEPT_MS = 3_600_000
/** Maximum number of parts of an upload: each is a file. */
const MAX_PARTS = 1_000
const SWEEP_BATCH = 100
/** Files are in the store of others' files too. */
const FILE_PREFIX = 'upload-'
/** No file of an upload is older: it is removed an hour after its ticket at the latest, except for the interval of the sweep. */
const MAX_FILE_AGE_MS = MAX_TICKET_SECONDS * 1_000 + 2 * KEPT_MS

type Part = readonly [key: string, size: number]

export interface UploadAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export interface TicketUpload {
  readonly id: string
  readonly ticket: Ticket
  readonly length: number
  /** Name of the file, as the visitor gave it. */
  readonly name: string | undefined
  readonly received: number
  readonly parts: readonly Part[]
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Undefined until the upload has ended. */
  readonly answer: UploadAnswer | undefined
  readonly ticketExpiresAt: number
}

/**
 * Uploads of visitors that arrive in parts, each of which any node may receive. A part is stored as a file before the row, whose
 * count of received bytes decides which of two parts for the same place is kept.
 */
export class TicketUploads {
  readonly #options: TicketsOptions

  constructor(options: TicketsOptions) {
    this.#options = options
  }

  /**
   * Begins an upload, which takes a use of the ticket until it ends.
   * @throws HttpError 403 if the ticket is spent, 429 if too many uploads are unfinished
   */
  async create(
    { accountId, digest }: Ticket,
    { length, name }: { readonly length: number; readonly name: string | undefined },
  ): Promise<{ readonly id: string; readonly expiresAt: number }> {
    const { database, clock } = this.#options
    const id = randomBytes(12).toString('base64url')
    const expiresAt = clock.now() + KEPT_MS
    await database.transaction(async (tx) => {
      // Concurrent requests cannot exceed the limits together.
      await tx.first(lockAccount(database.dialect, accountId))
      await takeUse(tx, digest)
      const open = await tx.first(queries.unfinished(accountId, digest, clock.now()))
      if (open === undefined || open.uploads >= MAX_UNFINISHED || open.bytes + length > MAX_UNFINISHED_BYTES)
        throw imageErrors.too_many_uploads().with({ headers: { 'retry-after': '60' } })
      const row = { id, ticket: digest, account_id: accountId, length, name: name ?? null }
      await tx.run(queries.insertUpload({ ...row, expires_at: expiresAt }))
    }, accountId)
    return { id, expiresAt }
  }

  /** @throws HttpError 404 if the upload is unknown, or was removed with its ticket's key */
  async find(ticket: string, id: string, client: Client): Promise<TicketUpload> {
    const reader = this.#options.database.readerOf(client)
    const row = await reader.first(queries.uploadById(hash('sha256', ticket), id))
    if (row === undefined || row.expires_at <= this.#options.clock.now()) throw imageErrors.upload_not_found()
    return {
      id,
      ticket: toTicket({ digest: row.ticket, account_id: row.account_id, terms: row.terms }),
      length: row.length,
      name: row.name ?? undefined,
      received: row.received,
      parts: JSON.parse(row.parts),
      expiresAt: row.expires_at,
      answer: row.answer === null ? undefined : JSON.parse(row.answer),
      ticketExpiresAt: row.ticket_expires_at,
    }
  }

  /**
   * Appends what `bytes` yields until it ends.
   * @returns the upload after it
   * @throws HttpError 409 if another request has appended meanwhile, 400 if there are too many parts
   */
  async append(upload: TicketUpload, bytes: AsyncIterable<Uint8Array>): Promise<TicketUpload> {
    const { clock, database, files, staging } = this.#options
    const { id, received, ticket } = upload
    if (upload.parts.length === MAX_PARTS) throw imageErrors.upload_parts()
    await using staged = await staging.write(bytes)
    if (staged.size === 0) return upload
    const key = `${FILE_PREFIX}${id}.${randomBytes(6).toString('hex')}`
    await files.put(key, staged)
    const after = {
      received: received + staged.size,
      parts: [...upload.parts, [key, staged.size] as const],
      expiresAt: Math.min(clock.now(), upload.ticketExpiresAt) + KEPT_MS,
    }
    const appended = await database.transaction(
      (tx) => tx.run(queries.appendPart(id, received, { ...after, parts: JSON.stringify(after.parts) })),
      ticket.accountId,
    )
    if (appended > 0) return { ...upload, ...after }
    await files.remove(key)
    throw imageErrors.upload_offset()
  }

  /** Reads all bytes of a complete upload. @throws if a part is lost */
  async read({ parts, length }: TicketUpload): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length)
    let at = 0
    for (const [key, size] of parts) {
      const part = await this.#options.files.read(key, size)
      if (part === undefined) throw new Error(`part ${key} of an upload is lost`)
      bytes.set(part, at)
      at += size
    }
    return bytes
  }

  /** Ends an upload, unless it has ended, and returns its answer. A refusal gives the use of the ticket back. */
  async end(upload: TicketUpload, answer: UploadAnswer): Promise<UploadAnswer> {
    const { clock, database } = this.#options
    const { id, ticket } = upload
    const isFirst = await database.transaction(async (tx) => {
      const ended = await tx.run(queries.endUpload(id, JSON.stringify(answer), clock.now() + KEPT_MS))
      if (ended > 0 && answer.status !== 200) await tx.run(queries.giveUseBack(ticket.digest, 1))
      return ended > 0
    }, ticket.accountId)
    await this.#removeFiles(upload.parts)
    if (isFirst) return answer
    const other = await database.first(queries.uploadById(ticket.digest, id))
    const kept = other?.answer ?? undefined
    return kept === undefined ? answer : JSON.parse(kept)
  }

  /** Removes an upload that has not ended, and gives the use of the ticket back. @throws HttpError 404 if it has ended */
  async cancel({ id, ticket, parts }: TicketUpload): Promise<void> {
    const removed = await this.#options.database.transaction(async (tx) => {
      const count = await tx.run(queries.deleteUnendedUpload(id))
      if (count > 0) await tx.run(queries.giveUseBack(ticket.digest, 1))
      return count
    }, ticket.accountId)
    if (removed === 0) throw imageErrors.upload_not_found()
    await this.#removeFiles(parts)
  }

  /** Removes uploads that were left and answers that are old, with their files and those that a crash left. */
  async sweep(): Promise<void> {
    const { clock, database, files } = this.#options
    const old = await database.all(queries.oldUploads(clock.now(), SWEEP_BATCH))
    for (const { id, ticket, parts, answer, account_id: accountId } of old) {
      const removed = await database.transaction(async (tx) => {
        const count = await tx.run(queries.deleteOldUpload(id, clock.now()))
        if (count > 0 && answer === null) await tx.run(queries.giveUseBack(ticket, 1))
        return count
      }, accountId)
      if (removed > 0) await this.#removeFiles(JSON.parse(parts))
    }
    for await (const { key, writtenAt } of files.keys())
      if (key.startsWith(FILE_PREFIX) && writtenAt < clock.now() - MAX_FILE_AGE_MS) await files.remove(key)
  }

  async #removeFiles(parts: readonly Part[]): Promise<void> {
    for (const [key] of parts) await this.#options.files.remove(key)
  }
}
