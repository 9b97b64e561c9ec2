import { FOR_PEOPLE, type Channel } from './channel.ts'
import { chatOutcome, readChatResponse } from './chat-response.ts'
import { post, type HttpChannelOptions } from './http-post.ts'
import { parseUrl, showOrigin } from './secret-url.ts'
import { characters, layOut } from '../messages/layout.ts'
import { discordMarkdown } from '../messages/markup.ts'
import { messageOf } from '../messages/message.ts'

/** Characters of `content`. */
const MAX_CONTENT = 2_000
/** Shows no preview of links. */
const SUPPRESS_EMBEDS = 1 << 2
/** JSON error codes: unknown webhook, invalid webhook token. */
const GONE = [10_015, 50_027]

/** Sends messages by a webhook of a Discord channel (Execute Webhook). */
export function discordChannel(options: HttpChannelOptions): Channel {
  const { clock, isAllowedAddress, links } = options
  return {
    batching: FOR_PEOPLE,
    parseAddress: (text) => parseUrl(text, isAllowedAddress),
    showAddress: showOrigin,
    hostOf: (address) => new URL(address).host,
    render: (watch, notice) =>
      JSON.stringify({
        content: layOut(messageOf(watch, notice, links), discordMarkdown, {
          sizeOf: characters,
          max: MAX_CONTENT,
        }),
        // Nobody is pinged, whatever a note contains.
        allowed_mentions: { parse: [] },
        flags: SUPPRESS_EMBEDS,
      }),
    async send({ address, body }, signal) {
      const url = new URL(address)
      // Without it the service answers before it knows whether the message could be sent.
      url.searchParams.set('wait', 'true')
      return post({ url: url.href, body, readsBody: true }, options, signal, (response) => {
        const answer = readChatResponse(response, clock.now())
        return chatOutcome('Discord', answer, ({ json }) => GONE.some((code) => json['code'] === code))
      })
    },
  }
}
