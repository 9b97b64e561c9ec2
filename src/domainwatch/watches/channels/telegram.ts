import type { Channel } from './channel.ts'
import { chatChannel, type ChatResponse } from './chat.ts'
import type { HttpChannelOptions } from './http-post.ts'
import { characters, layOut, telegramHtml } from '../messages/layout.ts'

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
export function telegramChannel({ token, url }: TelegramSettings, options: HttpChannelOptions): Channel {
  const { host } = new URL(url)
  return chatChannel(
    {
      name: 'Telegram',
      parseAddress: (text) =>
        CHAT_ID.test(text) ? { ok: true, address: text } : { ok: false, takes: TAKES },
      showAddress: (address) => address,
      hostOf: () => host,
      bodyOf: (message, address) => ({
        chat_id: address,
        text: layOut(message, telegramHtml, { sizeOf: characters, max: MAX_TEXT }),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
      }),
      requestTo: () => ({ url: `${url}/bot${token}/sendMessage`, isOperators: true }),
      isDelivered: ({ code, json }) => code !== 200 || json['ok'] === true,
      isGone,
    },
    options,
  )
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
