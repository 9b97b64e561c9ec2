import { FOR_PEOPLE, type Channel } from './channel.ts'
import { chatOutcome, readChatResponse } from './chat-response.ts'
import { post, type HttpChannelOptions } from './http-post.ts'
import { parseUrl, showOrigin } from './secret-url.ts'
import { characters, layOut } from '../messages/layout.ts'
import { slackText } from '../messages/markup.ts'
import { messageOf } from '../messages/message.ts'

/** Characters of `text` that the service recommends; it cuts after 40,000. */
const MAX_TEXT = 4_000
/** Documented errors of a webhook that cannot be used any more. */
const GONE =
  /^(no_service|no_service_id|no_team|team_disabled|invalid_token|channel_not_found|channel_is_archived|user_not_found)$/

/** Sends messages by an incoming webhook of Slack. */
export function slackChannel(options: HttpChannelOptions): Channel {
  const { clock, isAllowedAddress, links } = options
  return {
    batching: FOR_PEOPLE,
    parseAddress: (text) => parseUrl(text, isAllowedAddress),
    showAddress: showOrigin,
    hostOf: (address) => new URL(address).host,
    render: (watch, notice) =>
      JSON.stringify({
        text: layOut(messageOf(watch, notice, links), slackText, { sizeOf: characters, max: MAX_TEXT }),
        // Notes cannot format, because Slack has no escape for asterisks and backticks.
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
      }),
    async send({ address, body }, signal) {
      return post({ url: address, body, readsBody: true }, options, signal, (response) =>
        chatOutcome('Slack', readChatResponse(response, clock.now()), ({ description }) =>
          GONE.test(description),
        ),
      )
    },
  }
}
