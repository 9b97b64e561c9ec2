import type { Channel, Channels } from './channel.ts'
import type { ChannelName } from '../../../deliveries/transport.ts'
import { emailChannel, type EmailSettings } from './email.ts'
import type { HttpChannelOptions } from './channel.ts'
import {
  discordChannel,
  slackChannel,
  ntfyChannel,
  type NtfySettings,
  telegramChannel,
  type TelegramSettings,
} from './chat-services.ts'
import { webhookChannel } from './webhook.ts'

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
