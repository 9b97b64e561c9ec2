import { failure, FOR_PEOPLE, type Channel } from './channel.ts'
import { chatOutcome, readChatResponse, type ChatResponse } from './chat-response.ts'
import { post, type HttpChannelOptions, type PostOptions } from './http-post.ts'
import { characters, layOut } from '../messages/layout.ts'
import { telegramHtml } from '../messages/markup.ts'
import { messageOf } from '../messages/message.ts'

/** Characters of `text` in `sendMessage`. The service counts them without markup, so this is on the safe side. */
const MAX_TEXT = 4_096
/** A number, or the public name of a channel. */
const CHAT_ID = /^(-?\d{1,20}|@[A-Za-z]\w{3,31})$/
const TAKES =
  'debe tener después de telegram: el número de un chat (-1001234567890) o el nombre de un canal (@canal)'

export interface TelegramSettings {
  readonly token: string
  /** Where the Bot API is. */
  readonly url: string
}

/** Sends messages by a bot (Telegram Bot API, `sendMessage`). */
export function telegramChannel(
  { token, url }: TelegramSettings,
  operatorPost: PostOptions,
  { clock, links }: HttpChannelOptions,
): Channel {
  const { host } = new URL(url)
  return {
    batching: FOR_PEOPLE,
    parseAddress: (text) => (CHAT_ID.test(text) ? { ok: true, address: text } : { ok: false, takes: TAKES }),
    showAddress: (address) => address,
    hostOf: () => host,
    render: (watch, notice, address) =>
      JSON.stringify({
        chat_id: address,
        text: layOut(messageOf(watch, notice, links), telegramHtml, { sizeOf: characters, max: MAX_TEXT }),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
      }),
    async send({ body }, signal) {
      const request = { url: `${url}/bot${token}/sendMessage`, body, readsBody: true }
      return post(request, operatorPost, signal, (response) => {
        const answer = readChatResponse(response, clock.now())
        if (answer.code === 200 && answer.json['ok'] !== true)
          return failure('Telegram respondió algo que no se entiende', answer.code)
        return chatOutcome('Telegram', answer, isGone)
      })
    },
  }
}

/** The bot was blocked or removed, or the chat does not exist, was deleted, or moved to another id. */
function isGone({ code, description, json }: ChatResponse): boolean {
  if (code === 403) return true
  if (code !== 400) return false
  const parameters = Object(json['parameters'])
  return (
    'migrate_to_chat_id' in parameters ||
    /chat not found|group chat was deactivated|user is deactivated|PEER_ID_INVALID/i.test(description)
  )
}
