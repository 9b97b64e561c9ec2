import type { Channel } from './channel.ts'
import { chatChannel, type ChatResponse } from './chat.ts'
import type { HttpChannelOptions } from './channel.ts'
import { characters, layOut, telegramHtml, bytes, plainText, discordMarkdown, slackText } from '../message.ts'
import { parseReceiver, showOrigin } from '../../../deliveries/connect.ts'

/** Characters of `text` in `sendMessage`. The service counts them without markup, so this is on the safe side. */
const MAX_TELEGRAM = 4_096
/** A number, or the public name of a channel. */
const CHAT_ID = /^(-?\d{1,20}|@[A-Za-z]\w{3,31})$/
const TAKES_CHAT =
  'debe tener después de telegram: el número de un chat (-1001234567890) o el nombre de un canal (@canal)'

export interface TelegramSettings {
  readonly token: string
  /** Where the Bot API is. */
  readonly url: string
}

/** Sends messages by a bot (Telegram Bot API, `sendMessage`). */
export function telegramChannel({ token, url }: TelegramSettings, options: HttpChannelOptions): Channel {
  const { host } = new URL(url)
  return chatChannel(
    {
      name: 'Telegram',
      parseAddress: (text) =>
        CHAT_ID.test(text) ? { ok: true, address: text } : { ok: false, takes: TAKES_CHAT },
      showAddress: (address) => address,
      hostOf: () => host,
      bodyOf: (message, address) => ({
        chat_id: address,
        text: layOut(message, telegramHtml, { sizeOf: characters, max: MAX_TELEGRAM }),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
      }),
      requestTo: () => ({ url: `${url}/bot${token}/sendMessage`, isOperators: true }),
      isDelivered: ({ code, json }) => code !== 200 || json['ok'] === true,
      isGone: isTelegramGone,
    },
    options,
  )
}

/** The bot was blocked or removed, or the chat does not exist, was deleted, or moved to another id. */
function isTelegramGone({ code, description, json }: ChatResponse): boolean {
  if (code === 403) return true
  if (code !== 400) return false
  const parameters = Object(json['parameters'])
  return (
    'migrate_to_chat_id' in parameters ||
    /chat not found|group chat was deactivated|user is deactivated|PEER_ID_INVALID/i.test(description)
  )
}

/** Bytes of a message; the server makes a file of a longer one. */
const MAX_NTFY_BYTES = 4_096
const TOPIC = /^[-\w]{1,64}$/
const TAKES_TOPIC =
  'debe tener después de ntfy: un tema de 1 a 64 letras, cifras, guiones y guiones bajos, o su dirección https://'

export interface NtfySettings {
  /** Empty if only addresses with a server can be used. */
  readonly url: string
  readonly token: string
}

/**
 * Publishes to a topic of ntfy: of the operator's server, with the operator's token, or of any server by its address, without
 * a token.
 */
export function ntfyChannel({ url, token }: NtfySettings, options: HttpChannelOptions): Channel {
  /** Where JSON is published, which is not the topic. A query, such as `auth`, is kept. */
  const serverOf = (address: string) =>
    TOPIC.test(address) ? `${url}/` : new URL(`.${new URL(address).search}`, address).href
  return chatChannel(
    {
      name: 'ntfy',
      parseAddress(text) {
        if (TOPIC.test(text)) return url === '' ? { ok: 'unconfigured' } : { ok: true, address: text }
        const parsed = parseReceiver(text, options.isAllowedAddress)
        if (parsed.ok !== true) return parsed
        return TOPIC.test(topicOf(parsed.address)) ? parsed : { ok: false, takes: TAKES_TOPIC }
      },
      showAddress: (address) => (TOPIC.test(address) ? address : showOrigin(address)),
      hostOf: (address) => new URL(serverOf(address)).host,
      bodyOf: (message, address) => ({
        topic: topicOf(address),
        title: message.title,
        // The title has a separate field.
        message: layOut({ ...message, title: '' }, plainText, {
          sizeOf: bytes,
          max: MAX_NTFY_BYTES,
        }).trimStart(),
        click: message.link.url,
      }),
      requestTo(address) {
        const isOperators = TOPIC.test(address)
        const headers = isOperators && token !== '' ? { authorization: `Bearer ${token}` } : {}
        return { url: serverOf(address), headers, isOperators }
      },
      isGone: () => false,
    },
    options,
  )
}

const topicOf = (address: string): string =>
  TOPIC.test(address) ? address : (new URL(address).pathname.split('/').at(-1) ?? '')

/** Characters of `content` of Discord. */
const MAX_DISCORD = 2_000
/** Shows no preview of links. */
const SUPPRESS_EMBEDS = 1 << 2
/** JSON error codes of Discord: unknown webhook, invalid webhook token. */
const GONE_CODES = [10_015, 50_027]

/** Characters of `text` that Slack recommends; it cuts after 40,000. */
const MAX_SLACK = 4_000
/** Documented errors of a webhook of Slack that cannot be used any more. */
const GONE_ERRORS =
  /^(no_service|no_service_id|no_team|team_disabled|invalid_token|channel_not_found|channel_is_archived|user_not_found)$/

/** What services have in common whose destinations are secret addresses. */
const secretAddresses = ({ isAllowedAddress }: HttpChannelOptions) => ({
  parseAddress: (text: string) => parseReceiver(text, isAllowedAddress),
  showAddress: showOrigin,
  hostOf: (address: string) => new URL(address).host,
})

/** Sends messages by a webhook of a Discord channel (Execute Webhook). */
export function discordChannel(options: HttpChannelOptions): Channel {
  return chatChannel(
    {
      ...secretAddresses(options),
      name: 'Discord',
      bodyOf: (message) => ({
        content: layOut(message, discordMarkdown, { sizeOf: characters, max: MAX_DISCORD }),
        // Nobody is pinged, whatever a note contains.
        allowed_mentions: { parse: [] },
        flags: SUPPRESS_EMBEDS,
      }),
      requestTo(address) {
        const url = new URL(address)
        // Without it the service answers before it knows whether the message could be sent.
        url.searchParams.set('wait', 'true')
        return { url: url.href }
      },
      isGone: ({ json }) => GONE_CODES.some((code) => json['code'] === code),
    },
    options,
  )
}

/** Sends messages by an incoming webhook of Slack. */
export function slackChannel(options: HttpChannelOptions): Channel {
  return chatChannel(
    {
      ...secretAddresses(options),
      name: 'Slack',
      bodyOf: (message) => ({
        text: layOut(message, slackText, { sizeOf: characters, max: MAX_SLACK }),
        // Notes cannot format, because Slack has no escape for asterisks and backticks.
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
      }),
      requestTo: (url) => ({ url }),
      isGone: ({ description }) => GONE_ERRORS.test(description),
    },
    options,
  )
}
