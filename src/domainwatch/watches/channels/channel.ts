import type { DomainEvent } from '../../events/event.ts'

/** Names of channels, as clients write them before the colon in `to`; `webhook` is that of `url`. */
export const CHANNEL_NAMES = ['webhook'] as const
export type ChannelName = (typeof CHANNEL_NAMES)[number]

/** What messages show of their watch. */
export interface NotifiedWatch {
  readonly id: string
  readonly name: string
}

/** What to tell. `gap`: changes were missed. `test`: the owner wants to see that a message arrives. */
export type Notice =
  | { readonly kind: 'changes'; readonly events: readonly DomainEvent[] }
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
  /** The receiver wants no more deliveries, or does not exist any more. */
  | { readonly kind: 'gone'; readonly code: number; readonly error: string }

/** A way to send messages to people or programs. */
export interface Channel {
  /** Maximum number of events per delivery. */
  readonly maxEvents: number
  /** The host that receives a delivery to this address, with its port. Limits are per host. */
  hostOf(address: string): string
  /** Returns the body of a delivery, which is stored before the first attempt. */
  render(watch: NotifiedWatch, notice: Notice): string
  /** Makes one attempt. Never rejects, and resolves soon after `signal` aborts. */
  send(delivery: Delivery, signal: AbortSignal): Promise<Outcome>
}

/** The channels that can be used, by name. */
export type Channels = ReadonlyMap<string, Channel>

export function failure(error: string, code?: number, retryAfterMs = 0): Outcome {
  return { kind: 'failed', code, error, retryAfterMs }
}
