import { isObject, parseJson } from '../../../lib/json.ts'
import { cleaned, toMessage, type Message } from '../message.ts'
import { failure, type Outcome } from '../../../deliveries/transport.ts'
import { FOR_PEOPLE, type Channel } from './channel.ts'
import {
  boundedDelayMs,
  post,
  retryAfterMs,
  type PostRequest,
  type PostResponse,
} from '../../../deliveries/http-post.ts'
import type { HttpChannelOptions } from './channel.ts'

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
export function chatChannel(service: ChatService, options: HttpChannelOptions): Channel {
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
