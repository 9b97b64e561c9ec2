import type { PostOptions } from '../../../deliveries/http-post.ts'
import type { Batching, ChannelName, Notice, Transport } from '../../../deliveries/transport.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { ConsoleLinks } from '../../console-links.ts'
import type { DomainEvent } from '../../events/event.ts'
import type { Language } from '../../texts.ts'

/** What messages show of their watch. */
export interface NotifiedWatch {
  readonly id: string
  readonly name: string
  readonly filters: Readonly<Record<string, string>>
  readonly language: Language
  /** Returns the name that one resembles, if the watch is about lookalikes. */
  readonly findBrand?: (name: string) => string | undefined
}

export type DomainNotice = Notice<DomainEvent>

/** A way to send messages of watches. */
export interface Channel extends Transport {
  /** Returns the body of a delivery to this address, which is stored before the first attempt. */
  render(watch: NotifiedWatch, notice: DomainNotice, address: string): string
  /**
   * Returns the body of a message that asks the reader of an address to confirm it. Channels that have it send nothing else to an
   * address before, and a limited number of messages a day.
   * @param token the secret part of the link
   */
  renderConfirmation?(language: Language, token: string): string
}

/** The channels that can be used, by name. */
export type Channels = ReadonlyMap<ChannelName, Channel>

/** What every channel over HTTP needs. */
export interface HttpChannelOptions extends PostOptions {
  readonly clock: Clock
  readonly links: ConsoleLinks
}

/** A message for people: soon, but one for everything that a bulk change brings. */
export const FOR_PEOPLE: Batching = { max: 1_000, beyond: 'counted', windowMs: 1_000 }
