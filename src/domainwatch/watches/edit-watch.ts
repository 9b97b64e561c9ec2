import { isStorable } from '../../lib/text.ts'
import type { Sql } from '../../storage/database/sql.ts'
import type { Cursor } from '../../storage/database/changes/change.ts'
import { type Database, type Reader, type Transaction, randomId } from '../../storage/database/database.ts'
import { domainErrors } from '../errors.ts'
import type { Language } from '../texts.ts'
import type { Channels } from './message.ts'
import type { Destination } from '../../deliveries/transport.ts'
import { newSecret } from '../../deliveries/webhook.ts'
import {
  assertAccountLimit,
  assertFewDestinations,
  parseDestinations,
  parseWebhookAddress,
} from './destinations.ts'
import { forgetUnconfirmed, beginReminders } from './queries.ts'
import { toDigest, newToken } from './mail-recipients.ts'
import * as queries from './queries.ts'
import * as destinations from '../../deliveries/queries.ts'
import type { Changes } from '../events/event.ts'
import { parseSavedFilters, serializeFilters, type SavedFilters } from '../filters.ts'
import { registeredUntil, remindedDays } from './watch-filters.ts'
import { lockAccount, lockInstance, type Dialect } from '../../storage/database/dialect.ts'

/** Shared watches of all accounts, which every member lists. */
export const MAX_SHARED = 200

/**
 * Serialises the sharing of watches until the transaction ends, so that concurrent requests cannot exceed the limit together.
 * @throws HttpError 409 if the group already has `MAX_SHARED`
 */
async function lockSharing(tx: Transaction, dialect: Dialect): Promise<void> {
  await tx.all(lockInstance(dialect))
  const { count = 0 } = (await tx.first(queries.countShared())) ?? {}
  if (count >= MAX_SHARED) throw domainErrors.too_many_shared_watches(MAX_SHARED)
}

/**
 * Finds a watch that an account may see and edit.
 * @param lock keeps it as it is until the transaction ends
 * @throws HttpError 404
 */
export async function getWatch(
  reader: Reader,
  accountId: number,
  id: string,
  lock?: Sql,
): Promise<queries.EditableWatch> {
  const watch = isStorable(id) ? await reader.first(queries.accessibleWatch(accountId, id, lock)) : undefined
  if (watch === undefined) throw domainErrors.watch_not_found()
  return watch
}

/**
 * Where a watch sends, who sees it and its secret belong to the account that created it.
 * @throws HttpError 403 for another account
 */
export function assertOwner(watch: Pick<queries.EditableWatch, 'account_id'>, accountId: number): void {
  if (watch.account_id !== accountId) throw domainErrors.owner_only()
}

const concernsOwner = ({ webhook, to, hasAtomFeed, isShared }: WatchEdit): boolean =>
  [webhook, to, hasAtomFeed, isShared].some((property) => property !== undefined)

/** What to change. Undefined leaves a property as it is, or as a new watch has it. */
export interface WatchEdit {
  readonly name: string | undefined
  /** Replaces all filters. */
  readonly filters: SavedFilters | undefined
  /** Whether names are looked up again regularly: 0 or 1. */
  readonly dns: number | undefined
  /** Days before the end of the time for objections at which names are reported once more; 0 for never. */
  readonly remind: number | undefined
  readonly changes: Changes | undefined
  /** Address of the webhook, as the client writes it; null removes it. */
  readonly webhook: string | null | undefined
  readonly hasAtomFeed: boolean | undefined
  readonly isShared: boolean | undefined
  readonly isPaused: boolean | undefined
  /** The destinations but the webhook, as clients write them. */
  readonly to: string | undefined
  readonly language: Language | undefined
  /** HH:MM; null for immediate messages. */
  readonly digest: string | null | undefined
}

/** What an edit, or the creation of a watch, created and is shown only once. */
export interface EditedWatch {
  readonly secret: string | undefined
  readonly atomToken: string | undefined
}

export interface EditContext {
  readonly channels: Channels
  /** The newest change, from which new destinations and a resumed watch start. */
  readonly head: Cursor
  readonly now: number
  /** Now in the time zone of the service. */
  readonly localNow: string
}

/**
 * Edits a watch. It still belongs to the account that created it, and counts for the limits of that account.
 * Destinations that stay keep their pending delivery.
 * @throws HttpError 400 if nothing would be notified; 403 if only the owner may make this edit; 404; 409 above a limit
 */
export async function editWatch(
  { dialect, transaction }: Pick<Database, 'dialect' | 'transaction'>,
  context: EditContext,
  accountId: number,
  id: string,
  edit: WatchEdit,
): Promise<EditedWatch> {
  return transaction(async (tx) => {
    const known = await getWatch(tx, accountId, id)
    if (concernsOwner(edit)) assertOwner(known, accountId)
    // In the order in which a creation locks them.
    await tx.all(lockAccount(dialect, known.account_id))
    return applyEdit(tx, dialect, context, await getWatch(tx, accountId, id, dialect.forUpdate), edit)
  }, accountId)
}

/** Applies an edit to a watch of the transaction, which holds the lock of its account. */
export async function applyEdit(
  tx: Transaction,
  dialect: Dialect,
  context: EditContext,
  watch: queries.EditableWatch,
  edit: WatchEdit,
): Promise<EditedWatch> {
  const { id } = watch
  const { channels, head } = context
  if (edit.webhook === null) await tx.run(destinations.deleteWebhook(id))
  else if (edit.webhook !== undefined) {
    await editWebhook(tx, id, parseWebhookAddress(edit.webhook, channels), head)
  }
  if (edit.to !== undefined) await editDestinations(tx, id, edit.to, context)
  const remaining = await tx.all(destinations.destinationsIn(id))
  assertFewDestinations(remaining)
  const hasWebhook = remaining.some(({ channel }) => channel === 'webhook')
  const hasAtomFeed = edit.hasAtomFeed ?? watch.feed_digest !== null
  if (remaining.length === 0 && !hasAtomFeed) throw domainErrors.destination_missing()
  // Limits are checked after the input.
  await assertAccountLimit(tx, watch.account_id)
  if (edit.isShared === true && watch.shared === 0) await lockSharing(tx, dialect)
  const secret = hasWebhook && watch.secret === null ? newSecret() : undefined
  const atomToken = hasAtomFeed && watch.feed_digest === null ? newToken() : undefined
  const isPaused = edit.isPaused ?? watch.paused === 1
  const digest = edit.digest === undefined ? watch.digest : edit.digest
  const isResumed = watch.paused === 1 && !isPaused
  // The hour that passed during a pause is not made up for.
  if (digest !== watch.digest || isResumed) await tx.run(destinations.forgetDigests(id))

  const filters = editedFilters(watch.filters, edit)
  const days = remindedDays({ filters })
  if (days > 0) await tx.run(beginReminders(days, registeredUntil(days, context.localNow)))
  await tx.run(
    queries.updateWatch({
      id,
      name: edit.name ?? watch.name,
      filters,
      changes: edit.changes ?? watch.changes,
      shared: Number(edit.isShared ?? watch.shared === 1),
      paused: Number(isPaused),
      language: edit.language ?? watch.language,
      digest,
      secret: hasWebhook ? (secret ?? watch.secret) : null,
    }),
  )
  if (atomToken !== undefined) await tx.run(queries.addAtomFeed(id, toDigest(atomToken), head))
  else if (!hasAtomFeed) await tx.run(queries.removeAtomFeed(id))
  if (isResumed) {
    await tx.run(destinations.skipTo(id, head))
    await tx.run(queries.skipAtomFeedTo(id, head))
  }
  return { secret, atomToken }
}

/** `dns` and `remind` are stored with the filters but are none: they stay when those are replaced, and replace none. */
function editedFilters(filters: string, edit: WatchEdit): string {
  const { dns: looksUpDns, remind: reminds, ...others } = parseSavedFilters(filters)
  const { dns = looksUpDns, remind = reminds } = edit
  return JSON.stringify({ ...(edit.filters ?? others), ...serializeFilters({ dns, remind }) })
}

/** Deletes the destinations that `to` does not name any more, adds those that are new, and puts all in the order of `to`. */
async function editDestinations(
  tx: Transaction,
  watchId: string,
  to: string,
  { channels, head, now }: EditContext,
): Promise<void> {
  const known = (await tx.all(destinations.destinationsIn(watchId))).filter(
    ({ channel }) => channel !== 'webhook',
  )
  const wanted = parseDestinations(to, channels, known)
  // Before they are written: `to` can name thousands.
  assertFewDestinations(wanted)
  const isSame = (a: Destination, b: Destination) => a.channel === b.channel && a.address === b.address
  for (const one of known)
    if (!wanted.some((other) => isSame(one, other))) await tx.run(destinations.deleteDestination(one.id))
  for (const [i, one] of wanted.entries()) {
    const position = i + 1
    const same = known.find((other) => isSame(one, other))
    if (same !== undefined) await tx.run(destinations.moveDestination(same.id, position))
    else {
      const id = randomId()
      await tx.run(destinations.insertDestination({ ...one, id, watchId, position, cursor: head }))
      if (one.channel === 'mailto') await tx.run(forgetUnconfirmed(one.address.toLowerCase(), now))
    }
  }
}

/** A webhook whose address changes keeps its position and pending delivery, and is retried immediately. */
async function editWebhook(tx: Transaction, watchId: string, address: string, head: Cursor): Promise<void> {
  if ((await tx.run(destinations.moveWebhook(watchId, address))) > 0) return
  const id = randomId()
  await tx.run(
    destinations.insertDestination({ id, watchId, position: 0, channel: 'webhook', address, cursor: head }),
  )
}
