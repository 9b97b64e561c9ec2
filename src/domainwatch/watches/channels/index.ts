import type { Clock } from '../../../lib/clock.ts'
import type { Channels } from './channel.ts'
import type { PostOptions } from './http-post.ts'
import { webhookChannel } from './webhook.ts'

/** Opens every channel that the operator has configured. */
export function openChannels(options: PostOptions & { readonly clock: Clock }): Channels {
  return new Map([['webhook', webhookChannel(options)]])
}
