import { cleaned } from '../messages/message.ts'
import { failure, type Outcome } from './channel.ts'
import { boundedDelayMs, retryAfterMs, type PostResponse } from './http-post.ts'

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

/** Reads the response of a chat service. Nothing in it is trusted. */
export function readChatResponse({ code, headers, text }: PostResponse, now: number): ChatResponse {
  const json = objectIn(text)
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

/**
 * Returns the outcome of an attempt.
 * @param isGone whether the service says that the destination does not exist, or wants no messages any more
 */
export function chatOutcome(
  service: string,
  response: ChatResponse,
  isGone: (response: ChatResponse) => boolean,
): Outcome {
  const { code, description } = response
  if (code >= 200 && code < 300) return { kind: 'delivered', code }
  const error = `${service} respondió ${code}${description === '' ? '' : `: ${description}`}`
  if (code === 410 || isGone(response)) return { kind: 'gone', code, error }
  return failure(error, code, response.retryAfterMs)
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
