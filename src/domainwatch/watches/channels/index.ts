import type { Channel, Channels, HttpChannelOptions, DomainNotice, NotifiedWatch } from '../message.ts'
import type { ChannelName } from '../../../deliveries/transport.ts'
import { emailChannel, type EmailSettings } from './email.ts'
import {
  discordChannel,
  slackChannel,
  ntfyChannel,
  type NtfySettings,
  telegramChannel,
  type TelegramSettings,
} from './chat.ts'
import type { PostOptions } from '../../../deliveries/http-post.ts'
import { webhookTransport } from '../../../deliveries/webhook.ts'
import type { Clock } from '../../../lib/clock.ts'
import { recordIn, toJson, type DomainEvent } from '../../events/event.ts'
import { textsIn } from '../../texts.ts'

/** What the operator has configured. What is undefined cannot be used. */
export interface ChannelSettings {
  readonly telegram: TelegramSettings | undefined
  readonly ntfy: NtfySettings
  readonly email: EmailSettings | undefined
}

/** Opens every channel that can be used. */
export function openChannels(settings: ChannelSettings, options: HttpChannelOptions): Channels {
  const { email, ntfy, telegram } = settings
  return new Map<ChannelName, Channel>([
    ['webhook', webhookChannel(options)],
    ...(telegram === undefined ? [] : [['telegram', telegramChannel(telegram, options)] as const]),
    ['ntfy', ntfyChannel(ntfy, options)],
    ['discord', discordChannel(options)],
    ['slack', slackChannel(options)],
    ...(email === undefined ? [] : [['mailto', emailChannel(email, options)] as const]),
  ])
}

/** Sends the changes of a watch as they are in event streams. */
function webhookChannel(options: PostOptions & { readonly clock: Clock }): Channel {
  return { ...webhookTransport(options), render: payload }
}

function payload(watch: NotifiedWatch, notice: DomainNotice): string {
  switch (notice.kind) {
    case 'changes':
      return changesPayload(watch, notice.events)
    case 'gap':
      return messagePayload('domains.gap', watch, textsIn(watch.language).webhookGap, notice.at)
    case 'test':
      return messagePayload('watch.test', watch, textsIn(watch.language).webhookTest, notice.at)
  }
}

/** Serialises events as in event streams. The timestamp is that of the newest one. */
function changesPayload({ id, name, findBrand }: NotifiedWatch, events: readonly DomainEvent[]): string {
  const timestamp = new Date(Math.max(...events.map(({ at }) => at))).toISOString()
  const watch = JSON.stringify({ id, name })
  const changes = events.map((event) => toJson(event, findBrand?.(recordIn(event)?.name ?? ''))).join(',')
  return (
    `{"type":"domains.changed","timestamp":"${timestamp}",` +
    `"data":{"watch":${watch},"count":${events.length},"changes":[${changes}]}}`
  )
}

function messagePayload(type: string, { id, name }: NotifiedWatch, msg: string, at: number): string {
  const timestamp = new Date(at).toISOString()
  return JSON.stringify({ type, timestamp, data: { watch: { id, name }, msg } })
}
