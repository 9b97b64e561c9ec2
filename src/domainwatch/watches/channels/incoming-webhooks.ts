import type { Channel } from './channel.ts'
import { chatChannel } from './chat.ts'
import type { HttpChannelOptions } from './http-post.ts'
import { characters, layOut, discordMarkdown, slackText } from '../messages/layout.ts'
import { parseReceiver, showOrigin } from '../../outgoing/connect.ts'

/** Characters of `content` of Discord. */
const MAX_CONTENT = 2_000
/** Shows no preview of links. */
const SUPPRESS_EMBEDS = 1 << 2
/** JSON error codes of Discord: unknown webhook, invalid webhook token. */
const GONE_CODES = [10_015, 50_027]

/** Characters of `text` that Slack recommends; it cuts after 40,000. */
const MAX_TEXT = 4_000
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
        content: layOut(message, discordMarkdown, { sizeOf: characters, max: MAX_CONTENT }),
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
        text: layOut(message, slackText, { sizeOf: characters, max: MAX_TEXT }),
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
