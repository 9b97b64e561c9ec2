import { FOR_PEOPLE, type Channel } from './channel.ts'
import { chatOutcome, readChatResponse } from './chat-response.ts'
import { post, type HttpChannelOptions, type PostOptions } from './http-post.ts'
import { parseUrl, showOrigin } from './secret-url.ts'
import { bytes, layOut } from '../messages/layout.ts'
import { plainText } from '../messages/markup.ts'
import { messageOf } from '../messages/message.ts'

/** Bytes of a message; the server makes a file of a longer one. */
const MAX_MESSAGE = 4_096
const TOPIC = /^[-\w]{1,64}$/
const TAKES =
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
export function ntfyChannel(
  { url, token }: NtfySettings,
  operatorPost: PostOptions,
  options: HttpChannelOptions,
): Channel {
  const { clock, isAllowedAddress, links } = options
  /** Where JSON is published, which is not the topic. */
  const serverOf = (address: string) => (TOPIC.test(address) ? `${url}/` : new URL('.', address).href)
  return {
    batching: FOR_PEOPLE,
    parseAddress(text) {
      if (TOPIC.test(text)) return url === '' ? { ok: 'unconfigured' } : { ok: true, address: text }
      const parsed = parseUrl(text, isAllowedAddress)
      if (parsed.ok !== true) return parsed
      return TOPIC.test(topicOf(parsed.address)) ? parsed : { ok: false, takes: TAKES }
    },
    showAddress: (address) => (TOPIC.test(address) ? address : showOrigin(address)),
    hostOf: (address) => new URL(serverOf(address)).host,
    render(watch, notice, address) {
      const message = messageOf(watch, notice, links)
      const limits = { sizeOf: bytes, max: MAX_MESSAGE }
      return JSON.stringify({
        topic: topicOf(address),
        title: message.title,
        // The title has a field of its own.
        message: layOut({ ...message, title: '' }, plainText, limits).trimStart(),
        click: message.link.url,
      })
    },
    async send({ address, body }, signal) {
      const isOurs = TOPIC.test(address)
      const headers = isOurs && token !== '' ? { authorization: `Bearer ${token}` } : {}
      const request = { url: serverOf(address), body, headers, readsBody: true }
      return post(request, isOurs ? operatorPost : options, signal, (response) =>
        chatOutcome('ntfy', readChatResponse(response, clock.now()), () => false),
      )
    },
  }
}

const topicOf = (address: string): string =>
  TOPIC.test(address) ? address : (new URL(address).pathname.split('/').at(-1) ?? '')
