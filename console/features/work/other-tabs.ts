import { getAccount, onUser } from '../../api/scope.ts'
import { SERVICE_URL } from '../../base/server.ts'
import { createStore } from '../../base/store.ts'

/** Tabs answer within milliseconds, unless they are busy. */
const ANSWER_MS = 300
/** Known tabs are asked again and again: one that crashed does not say so. */
const ASK_EVERY_MS = 3_000
const MAX_UNANSWERED = 2

/** What a tab says; it asks the others for their state if it has none of them yet. */
interface Message<T> {
  readonly tab: string
  readonly account: string | undefined
  readonly state: T | undefined
  readonly isQuestion: boolean
}

interface Heard<T> {
  readonly account: string
  readonly state: T
  readonly unanswered: number
}

// `crypto.randomUUID` needs HTTPS.
const OWN_ID = `${Date.now()} ${Math.random()}`

/**
 * What the tabs of one browser tell each other about their work, per account of domainwatch. Not by Web Locks, which
 * browsers offer over HTTPS only.
 */
export class OtherTabs<T> {
  /** The states of the other tabs of this account; undefined until they had the time to answer. */
  readonly states = createStore<readonly T[] | undefined>(undefined)
  readonly #channel: BroadcastChannel | undefined
  readonly #heard = new Map<string, Heard<T>>()
  #own: T | undefined
  #isReady = false
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(topic: string) {
    this.#channel = openChannel(`catalejo.${topic} ${SERVICE_URL.pathname}`)
    if (this.#channel !== undefined)
      this.#channel.onmessage = ({ data }: MessageEvent<Message<T>>) => this.#hear(data)
    onUser(() => {
      this.#send(this.#own)
      this.#publish()
    })
    addEventListener('pagehide', () => this.#send(undefined))
    addEventListener('pageshow', ({ persisted }) => persisted && this.#send(this.#own, true))
    this.#send(undefined, true)
    setTimeout(() => {
      this.#isReady = true
      this.#publish()
    }, ANSWER_MS)
  }

  /** Tells the other tabs the state of this one; undefined if it has none any more. */
  announce(state: T | undefined): void {
    if (JSON.stringify(state) === JSON.stringify(this.#own)) return
    this.#own = state
    this.#send(state)
  }

  #send(state: T | undefined, isQuestion = false): void {
    this.#channel?.postMessage({ tab: OWN_ID, account: getAccount('domainwatch'), state, isQuestion })
  }

  #hear({ tab, account, state, isQuestion }: Message<T>): void {
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
    if (!this.#isReady && this.#heard.size === 0) return
    const own = getAccount('domainwatch')
    const states = [...this.#heard.values()]
      .filter(({ account }) => account === own)
      .map(({ state }) => state)
    if (JSON.stringify(states) !== JSON.stringify(this.states.get())) this.states.set(states)
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
