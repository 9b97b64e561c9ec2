import { callApi } from '../../api/client.ts'
import { getAccount, onUser } from '../../api/scope.ts'
import { CLAIM_MINUTES } from '../../base/constants.ts'
import type { DomainRecord } from '../domains/records.ts'
import type { Filters } from '../filters/filters.ts'
import { t } from '../../i18n/index.ts'
import { SERVICE_URL } from '../../base/server.ts'
import { createStore } from '../../base/store.ts'
import '../../i18n/texts/triage.ts'

/** Duration of a claim. */
export const CLAIM_MS = CLAIM_MINUTES * 60_000

/** The default view: free names. The service adds that they are undecided. */
export const toView = (filters: Filters): Filters =>
  Object.keys(filters).length === 0 ? { status: '0' } : filters

/** The filters for the queue: a flag for marked records must override the default that excludes them. */
export function queueQuery(filters: Filters): Filters {
  const { rev, dis, ...others } = filters
  return {
    order: 'deleted',
    ...others,
    ...(rev === undefined ? {} : { revision: '1' }),
    ...(dis === undefined ? {} : { discarded: '1' }),
  }
}

interface Claimed {
  readonly records: readonly DomainRecord[]
  /** Matches that no one else holds. */
  readonly remaining: number
}

/** The service must get claims and releases in order: otherwise a late release ends a newer claim of the same names. */
let last: Promise<unknown> = Promise.resolve()
/** Limit on the wait for an answer. */
const MAX_WAIT_MS = 15_000

function inOrder<T>(work: () => Promise<T>): Promise<T> {
  const before = last
  const late = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))
  const done = Promise.race([before, late]).then(work)
  last = done.catch(() => undefined)
  return done
}

/**
 * Claims the next records for this account, and extends the claims that it holds.
 * @param signal if it aborts before the request is sent, nothing is claimed; afterwards, the response names what to release
 */
export const claim = (filters: Filters, limit: number, signal: AbortSignal): Promise<Claimed> =>
  inOrder(() => claimNow(filters, limit, signal))

async function claimNow(filters: Filters, limit: number, signal: AbortSignal): Promise<Claimed> {
  signal.throwIfAborted()
  const query = { ...queueQuery(filters), limit, fields: 'all' }
  const { data } = await callApi('POST /api/v1/domainwatch/queue', { query })
  if (signal.aborted) {
    const names = (data.data[0] ?? []).map(({ name }) => name)
    await releaseNow(names)
    throw signal.reason
  }
  // What the queue excludes by default.
  const seen = Number(filters['seen'] ?? 0)
  const records = (data.data[0] ?? []).map((record) => ({ seen, ...record }))
  return { records, remaining: data.remaining }
}

/** Releases these names, also while the page is being closed. */
export function release(names: readonly string[]): void {
  // While the page is being closed, there is no later.
  const sent = releaseNow(names)
  void inOrder(() => sent)
}

/** Those that cannot be released expire. */
async function releaseNow(names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const query = { data: JSON.stringify(names) }
  await callApi('DELETE /api/v1/domainwatch/queue', { query, outlivesPage: true }).catch(() => undefined)
}

/** Why the record on top is not this account's to decide any more. */
export type LostClaim =
  | { readonly kind: 'expired' | 'taken' }
  | { readonly kind: 'held'; readonly account: string; readonly until: string }
  | { readonly kind: 'decided'; readonly account: string }

/**
 * The state of a record whose claim ended, if it is known.
 * @param shown as the person sees it
 * @param otherwise the message if no one decided on it or holds it
 */
export function findLostClaim(
  record: DomainRecord,
  shown: DomainRecord,
  otherwise: 'expired' | 'taken',
): LostClaim {
  const { seen, seen_by: decider, claimed_by: holder, claimed_until: until } = record
  const own = getAccount('domainwatch')
  const isDecided = seen === 1 && shown.seen !== 1
  if (isDecided && typeof decider === 'string' && decider !== own)
    return { kind: 'decided', account: decider }
  if (typeof holder === 'string' && holder !== own)
    return { kind: 'held', account: holder, until: until ?? '' }
  return { kind: otherwise }
}

export function lostClaimText(lost: LostClaim): string {
  switch (lost.kind) {
    case 'held':
      return t('triage.held', {
        account: lost.account,
        until: lost.until.slice('YYYY-MM-DD '.length, -':SS'.length),
      })
    case 'decided':
      return t('triage.decided', { account: lost.account })
    default:
      return t(`triage.${lost.kind}`)
  }
}

/** What a tab shows, so that another of the same account, which holds the same claims, shows something else. */
interface TriageTab {
  readonly shown: string | undefined
  /** When it was shown: of two tabs that come to one name together, the first keeps it. */
  readonly since: number
  /** Names whose decision may not be stored yet. */
  readonly decided: readonly string[]
  /** Names that it shows, or will. */
  readonly held: readonly string[]
}

/** Known tabs are asked again and again: one that crashed does not say so. */
const ASK_EVERY_MS = 3_000
const MAX_UNANSWERED = 2

/** What a tab says; it asks the others for their state if it has none of them yet. */
interface Message {
  readonly tab: string
  readonly account: string | undefined
  readonly state: TriageTab | undefined
  readonly isQuestion: boolean
}

interface Heard {
  readonly account: string
  readonly state: TriageTab
  readonly unanswered: number
}

// `crypto.randomUUID` needs HTTPS.
const OWN_ID = `${Date.now()} ${Math.random()}`

/**
 * The other tabs of this browser in triage of this account. They tell each other what they show by messages, not by Web
 * Locks, which browsers offer over HTTPS only.
 */
class TriageTabs {
  readonly #others = createStore<readonly TriageTab[]>([])
  readonly #channel = openChannel(`catalejo.triage ${SERVICE_URL.pathname}`)
  readonly #heard = new Map<string, Heard>()
  #own: TriageTab | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor() {
    if (this.#channel !== undefined)
      this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data)
    onUser(() => {
      this.#send(this.#own)
      this.#publish()
    })
    addEventListener('pagehide', () => this.#send(undefined))
    addEventListener('pageshow', ({ persisted }) => persisted && this.#send(this.#own, true))
    this.#send(undefined, true)
  }

  subscribe(listener: () => void): () => void {
    return this.#others.subscribe(listener)
  }

  get count(): number {
    return this.#others.get().length
  }

  /** Returns the tab that shows a name or has decided on it. */
  find(name: string): TriageTab | undefined {
    return this.#others.get().find(({ shown, decided }) => shown === name || decided.includes(name))
  }

  decided(): ReadonlySet<string> {
    return new Set(this.#others.get().flatMap(({ decided }) => decided))
  }

  held(): ReadonlySet<string> {
    return new Set(this.#others.get().flatMap(({ held }) => held))
  }

  /** Returns the number of names at the start of the account's claims that this tab does not show. */
  busyCount(): number {
    return this.#others.get().reduce((sum, { decided }) => sum + decided.length + 1, 0)
  }

  /** Tells the other tabs what this one shows; undefined if it leaves triage. */
  announce(state: TriageTab | undefined): void {
    if (JSON.stringify(state) === JSON.stringify(this.#own)) return
    this.#own = state
    this.#send(state)
  }

  #send(state: TriageTab | undefined, isQuestion = false): void {
    this.#channel?.postMessage({ tab: OWN_ID, account: getAccount('domainwatch'), state, isQuestion })
  }

  #hear({ tab, account, state, isQuestion }: Message): void {
    if (isQuestion && this.#own !== undefined) this.#send(this.#own)
    if (state === undefined || account === undefined) this.#heard.delete(tab)
    else this.#heard.set(tab, { account, state, unanswered: 0 })
    this.#publish()
  }

  #publish(): void {
    if (this.#heard.size > 0) this.#timer ??= setInterval(() => this.#ask(), ASK_EVERY_MS)
    else {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    const own = getAccount('domainwatch')
    const others = [...this.#heard.values()].filter(({ account }) => account === own)
    const states = others.map(({ state }) => state)
    if (JSON.stringify(states) !== JSON.stringify(this.#others.get())) this.#others.set(states)
  }

  /** Forgets tabs that answer no more, and asks the others. */
  #ask(): void {
    for (const [tab, one] of this.#heard) {
      if (one.unanswered < MAX_UNANSWERED) this.#heard.set(tab, { ...one, unanswered: one.unanswered + 1 })
      else this.#heard.delete(tab)
    }
    this.#publish()
    this.#send(this.#own, true)
  }
}

/** Browsers that forbid storage forbid it, too. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name)
  } catch {
    return undefined
  }
}

export const triageTabs = new TriageTabs()
