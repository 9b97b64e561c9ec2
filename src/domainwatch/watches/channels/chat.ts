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
  post,
  retryAfterMs,
  type PostRequest,
  type PostResponse,
  parseReceiver,
  showOrigin,
} from '../../../deliveries/http-client.ts'

/** Characters of a service's own description of an error that owners see. */
const MAX_DESCRIPTION = 200

/** What distinguishes a chat service from others. */
export interface ChatService extends Pick<Channel, 'parseAddress' | 'showAddress' | 'hostOf'> {
  readonly name: string
  /** Returns what is sent as JSON. */
  bodyOf(message: Message, address: string): object
  /** `isOperators`: the operator chose the server, which may be in a private network. */
  requestTo(address: string): Pick<PostRequest, 'url' | 'headers'> & { readonly isOperators?: boolean }
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
        toOutcome(service.name, response, isOperators, clock.now()),
      )
    },
  }
}

/** One rule for all services: the status says whether the destination is gone, and `Retry-After` when to try again. */
function toOutcome(
  name: string,
  { code, headers, text }: PostResponse,
  isOperators: boolean,
  now: number,
): Outcome {
  if (code >= 200 && code < 300) return { kind: 'delivered', code }
  const description = toDescription(text)
  const error = `${name} respondió ${code}${description === '' ? '' : `: ${description}`}`
  // A 404 of a server that the operator chose may come from its settings.
  if (code === 410 || (code === 404 && !isOperators)) return { kind: 'gone', code, error }
  return failure(error, code, retryAfterMs(headers['retry-after'] ?? '', now))
}

/** Returns a service's own description of an error, on one line; empty if there is none. Nothing in the response is trusted. */
function toDescription(text: string): string {
  const parsed = parseJson(text)
  const json = isObject(parsed) ? parsed : {}
  const described = [json['description'], json['message'], json['error']].find(
    (value) => typeof value === 'string',
  )
  // Slack answers with a word, not with JSON.
  return cleaned(described ?? (/^[\w ]{1,80}$/.test(text) ? text : ''), MAX_DESCRIPTION)
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
    },
    options,
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

/** Characters of `text` that Slack recommends; it cuts after 40,000. */
const MAX_SLACK = 4_000

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
    },
    options,
  )
}
