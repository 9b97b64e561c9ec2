import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listen } from './listen.ts'

/** A request to a chat service. */
export interface ChatRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

export interface ChatAnswer {
  readonly code: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** A loopback server that checks requests as a service documents them, and answers as it does. */
export class ChatReceiver {
  readonly url: string
  readonly received: ChatRequest[] = []
  /** Replaces the normal answer, for errors. */
  answer: ((request: ChatRequest) => ChatAnswer | undefined) | undefined
  readonly #close: () => void

  private constructor(url: string, close: () => void) {
    this.url = url
    this.#close = close
  }

  static async start(check: (request: ChatRequest) => ChatAnswer): Promise<ChatReceiver> {
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk) => (text += String(chunk)))
      request.on('end', () => {
        const parsed: ChatRequest = {
          path: request.url ?? '',
          headers: request.headers,
          body: JSON.parse(text),
        }
        const { code, headers, body } = receiver.answer?.(parsed) ?? checked(parsed)
        receiver.received.push(parsed)
        response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body)
      })
    })
    const checked = (request: ChatRequest): ChatAnswer => {
      try {
        assert.equal(request.headers['content-type'], 'application/json')
        return check(request)
      } catch (error) {
        return { code: 400, body: JSON.stringify({ message: String(error).slice(0, 150) }) }
      }
    }
    const port = await listen(server)
    const receiver = new ChatReceiver(`http://127.0.0.1:${port}`, () => {
      server.close()
      server.closeAllConnections()
    })
    return receiver
  }

  [Symbol.dispose](): void {
    this.#close()
  }
}

const textOf = (value: unknown, max: number): string => {
  assert.ok(typeof value === 'string' && value.length > 0 && value.length <= max, 'text of a permitted size')
  return value
}

function onlyFields(body: Readonly<Record<string, unknown>>, allowed: readonly string[]): void {
  assert.deepEqual(
    Object.keys(body).filter((name) => !allowed.includes(name)),
    [],
    'only documented fields',
  )
}

/** Telegram Bot API, `sendMessage` with `parse_mode` HTML. */
export function checkTelegram(token: string) {
  return ({ path, body }: ChatRequest): ChatAnswer => {
    if (path !== `/bot${token}/sendMessage`)
      return { code: 401, body: '{"ok":false,"error_code":401,"description":"Unauthorized"}' }
    onlyFields(body, ['chat_id', 'text', 'parse_mode', 'link_preview_options'])
    textOf(body['chat_id'], 32)
    const text = textOf(body['text'], 4_096)
    assert.equal(body['parse_mode'], 'HTML')
    const left = text.replaceAll(/<(b|code)>([^<>]*)<\/\1>|<a href="[^"<>]*">([^<>]*)<\/a>/g, '$2$3')
    assert.doesNotMatch(left, /[<>]|&(?!(lt|gt|amp|quot);)/, "can't parse entities")
    return { code: 200, body: '{"ok":true,"result":{"message_id":1}}' }
  }
}

/** ntfy, publishing as JSON to the root of a server. */
export function checkNtfy({ path, body }: ChatRequest): ChatAnswer {
  assert.equal(path, '/')
  onlyFields(body, ['topic', 'title', 'message', 'click'])
  assert.match(textOf(body['topic'], 64), /^[-\w]+$/)
  assert.ok(Buffer.byteLength(textOf(body['message'], 4_096)) <= 4_096)
  textOf(body['title'], 250)
  assert.ok(URL.canParse(textOf(body['click'], 2_048)))
  return { code: 200, body: '{"id":"a","event":"message"}' }
}

/** Discord, Execute Webhook with `wait=true`. */
export function checkDiscord({ path, body }: ChatRequest): ChatAnswer {
  assert.match(path, /^\/api\/webhooks\/\d+\/[\w-]+\?wait=true$/)
  onlyFields(body, ['content', 'allowed_mentions', 'flags'])
  textOf(body['content'], 2_000)
  assert.deepEqual(body['allowed_mentions'], { parse: [] })
  assert.equal(body['flags'], 4)
  return { code: 200, body: '{"id":"1"}' }
}

/** Slack, incoming webhook. */
export function checkSlack({ path, body }: ChatRequest): ChatAnswer {
  assert.match(path, /^\/services\/T\w+\/B\w+\/\w+$/)
  onlyFields(body, ['text', 'mrkdwn', 'unfurl_links', 'unfurl_media'])
  const text = textOf(body['text'], 4_000)
  assert.equal(body['mrkdwn'], false)
  const left = text.replaceAll(/<https?:\/\/[^<>|]*\|[^<>|]*>/g, '')
  assert.doesNotMatch(left, /[<>]|&(?!(lt|gt|amp);)/, 'invalid_payload')
  return { code: 200, body: 'ok' }
}
