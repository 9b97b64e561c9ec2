import { Agent, request } from 'node:http'

const SHARED = new Agent({ keepAlive: true, maxSockets: 16 })
const TIMEOUT_MS = 120_000

interface PostOptions {
  /** Rejects any other status. */
  readonly expected?: number
  readonly agent?: Agent
  readonly method?: 'POST' | 'DELETE'
}

/** Sends a body and resolves to the text of the response. */
export function post(
  url: string,
  contentType: string,
  body: Uint8Array,
  { expected = 200, agent = SHARED, method = 'POST' }: PostOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      agent,
      timeout: TIMEOUT_MS,
      headers: { 'content-type': contentType, 'content-length': body.byteLength },
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error('the request timed out')))
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === expected) resolve(text)
        else reject(new Error(`${response.statusCode}: ${text.slice(0, 300)}`))
      })
    })
    sent.end(body)
  })
}
