import type { Channel } from './channel.ts'
import { chatChannel } from './chat.ts'
import type { HttpChannelOptions } from './http-post.ts'
import { bytes, layOut, plainText } from '../messages/layout.ts'
import { parseReceiver, showOrigin } from '../../outgoing/connect.ts'

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
        return TOPIC.test(topicOf(parsed.address)) ? parsed : { ok: false, takes: TAKES }
      },
      showAddress: (address) => (TOPIC.test(address) ? address : showOrigin(address)),
      hostOf: (address) => new URL(serverOf(address)).host,
      bodyOf: (message, address) => ({
        topic: topicOf(address),
        title: message.title,
        // The title has a field of its own.
        message: layOut({ ...message, title: '' }, plainText, {
          sizeOf: bytes,
          max: MAX_MESSAGE,
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
