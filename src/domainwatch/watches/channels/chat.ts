import { isObject, parseJson } from '../../../lib/json.ts'
import { cleaned } from '../../texts.ts'
import {
  toMessage,
  type Message,
  characters,
  layOut,
  telegramHtml,
  bytes,
  plainText,
  discordMarkdown,
  slackText,
  FOR_PEOPLE,
  type Channel,
  type HttpChannelOptions,
} from '../message.ts'
import { failure, type Outcome } from '../../../deliveries/transport.ts'
import {
  boundedDelayMs,
  post,
  retryAfterMs,
  type PostRequest,
  type PostResponse,
} from '../../../deliveries/http-post.ts'
import { parseReceiver, showOrigin } from '../../../deliveries/connect.ts'

/** Characters of a service's own description of an error that owners see. */
const MAX_DESCRIPTION = 200

/** What a chat service answered, as far as all of them agree. */
export interface ChatResponse {
  readonly code: number
  /** Its description of the error, on one line. Empty if there is none. */
  readonly description: string
  /** The response as an object; empty if it is not one. */
  readonly json: Readonly<Record<string, unknown>>
  /** When to try again, by the header or by the number of seconds in the body. */
  readonly retryAfterMs: number
}

/** What distinguishes a chat service from others. */
export interface ChatService extends Pick<Channel, 'parseAddress' | 'showAddress' | 'hostOf'> {
  readonly name: string
  /** Returns what is sent as JSON. */
  bodyOf(message: Message, address: string): object
  /** `isOperators`: the operator chose the server, which may be in a private network. */
  requestTo(address: string): Pick<PostRequest, 'url' | 'headers'> & { readonly isOperators?: boolean }
  /** Whether it says that the destination does not exist, or wants no messages any more. */
  isGone(response: ChatResponse): boolean
  /** Whether a response with a code of success is one. */
  isDelivered?(response: ChatResponse): boolean
}

/** Sends messages to people by a service that takes JSON over HTTP. */
function chatChannel(service: ChatService, options: HttpChannelOptions): Channel {
  const { clock, links } = options
  return {
    ...service,
    batching: FOR_PEOPLE,
    render: (watch, notice, address) =>
      JSON.stringify(service.bodyOf(toMessage(watch, notice, links), address)),
    send({ address, body }, signal) {
      const { isOperators = false, ...request } = service.requestTo(address)
      const allowed = isOperators ? { ...options, isAllowedAddress: () => true } : options
      return post({ ...request, body, readsBody: true }, allowed, signal, (response) =>
        outcomeOf(service, readResponse(response, clock.now())),
      )
    },
  }
}

function outcomeOf(service: ChatService, response: ChatResponse): Outcome {
  const { code, description } = response
  if (code >= 200 && code < 300) {
    if (service.isDelivered?.(response) !== false) return { kind: 'delivered', code }
    return failure(`${service.name} respondió algo que no se entiende`, code)
  }
  const error = `${service.name} respondió ${code}${description === '' ? '' : `: ${description}`}`
  if (code === 410 || service.isGone(response)) return { kind: 'gone', code, error }
  return failure(error, code, response.retryAfterMs)
}

/** Nothing in the response is trusted. */
function readResponse({ code, headers, text }: PostResponse, now: number): ChatResponse {
  const parsed = parseJson(text)
  const json = isObject(parsed) ? parsed : {}
  const nested = json['parameters']
  const seconds = [json['retry_after'], isObject(nested) ? nested['retry_after'] : undefined].find(
    (value) => typeof value === 'number',
  )
  const described = [json['description'], json['message'], json['error']].find(
    (value) => typeof value === 'string',
  )
  return {
    code,
    json,
    // Slack answers with a word, not with JSON.
    description: cleaned(described ?? (/^[\w ]{1,80}$/.test(text) ? text : ''), MAX_DESCRIPTION),
    retryAfterMs: Math.max(
      retryAfterMs(headers['retry-after'] ?? '', now),
      boundedDelayMs((seconds ?? 0) * 1000),
    ),
  }
}

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
  const toServer = (address: string) =>
    TOPIC.test(address) ? `${url}/` : new URL(`.${new URL(address).search}`, address).href
  return chatChannel(
    {
      name: 'ntfy',
      parseAddress(text) {
        if (TOPIC.test(text)) return url === '' ? { ok: 'unconfigured' } : { ok: true, address: text }
        const parsed = parseReceiver(text, options.isAllowedAddress)
        if (parsed.ok !== true) return parsed
        return TOPIC.test(toTopic(parsed.address)) ? parsed : { ok: false, takes: TAKES_TOPIC }
      },
      showAddress: (address) => (TOPIC.test(address) ? address : showOrigin(address)),
      hostOf: (address) => new URL(toServer(address)).host,
      bodyOf: (message, address) => ({
        topic: toTopic(address),
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
        return { url: toServer(address), headers, isOperators }
      },
      isGone: () => false,
    },
    options,
  )
}

const toTopic = (address: string): string =>
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
