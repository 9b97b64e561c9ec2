import type { Cursor } from '../storage/database/changes/change.ts'

/** A change that readers get. */
export interface LoggedEvent {
  readonly cursor: Cursor
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Names of channels, as clients write them before the colon in `to`; `webhook` is that of `url`. */
export const CHANNEL_NAMES = ['webhook', 'telegram', 'ntfy', 'discord', 'slack', 'mailto'] as const
export type ChannelName = (typeof CHANNEL_NAMES)[number]

/** What to report. `gap`: changes were missed. `test`: the owner checks that messages arrive. */
export type Notice<E extends LoggedEvent> =
  | {
      readonly kind: 'changes'
      readonly events: readonly E[]
      /** Number of further events, which the message only counts. */
      readonly omitted: number
    }
  | { readonly kind: 'gap' | 'test'; readonly at: number }

/** Where messages are sent. */
export interface Destination {
  readonly channel: ChannelName
  readonly address: string
}

/** One message to one destination. All its attempts have the same id and body. */
export interface Delivery {
  readonly id: string
  readonly body: string
  readonly address: string
  /** Each signs webhooks. */
  readonly secrets: readonly string[]
}

export type Outcome =
  | { readonly kind: 'delivered'; readonly code: number | undefined }
  /** `code` is undefined without a response. `error` is a Spanish message for the owner. */
  | {
      readonly kind: 'failed'
      readonly code: number | undefined
      readonly error: string
      readonly retryAfterMs: number
    }
  | HeldDelivery
  /** The receiver wants no more deliveries, or does not exist any more. */
  | { readonly kind: 'gone'; readonly code: number; readonly error: string }

/** Nothing was sent: the delivery has to wait, which does not count as a failure. */
export interface HeldDelivery {
  readonly kind: 'held'
  readonly code: undefined
  readonly until: number
  readonly error: string
}

export type ParsedAddress =
  | { readonly ok: true; readonly address: string }
  /** The requirement that the address breaks, in Spanish, to follow the name of the parameter. */
  | { readonly ok: false; readonly takes: string }
  /** The operator has not configured what this address needs. */
  | { readonly ok: 'unconfigured' }

/** How events are gathered into one message. */
export interface Batching {
  /** Maximum number of events in a message. */
  readonly max: number
  /** What happens to events beyond it: the next message contains them, or this one counts them. */
  readonly beyond: 'next' | 'counted'
  /** Events that follow the first one within this time belong to the same message. */
  readonly windowMs: number
}

/** A way to send messages to people or programs. */
export interface Transport {
  readonly batching: Batching
  parseAddress(text: string): ParsedAddress
  /** Returns the address as members of the group may see it, without what is secret. */
  showAddress(address: string): string
  /** The host that receives a delivery to this address, with its port. Limits are per host. */
  hostOf(address: string): string
  /** Makes one attempt. Never rejects, and resolves soon after `signal` aborts. */
  send(delivery: Delivery, signal: AbortSignal): Promise<Outcome>
  close?(): void
}

export function failure(error: string, code?: number, retryAfterMs = 0): Outcome {
  return { kind: 'failed', code, error, retryAfterMs }
}
