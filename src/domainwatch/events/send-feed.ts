import { hash } from 'node:crypto'
import type { HttpReply, HttpRequest } from '../../http/server.ts'
import { matches } from '../../http/conditional.ts'
import { ATOM_TYPE } from './atom.ts'

/** A feed, unless the reader has it already. */
export function sendFeed(request: HttpRequest, reply: HttpReply, feed: string): string | null {
  const etag = `"${hash('sha256', feed, 'base64url').slice(0, 27)}"`
  reply.headers({ etag, 'cache-control': 'no-store', 'content-type': ATOM_TYPE })
  if (!matches(request.headers['if-none-match'], etag)) return feed
  reply.code(304)
  // The framework wants a text for HEAD, and says of any text how long it is.
  return request.method === 'HEAD' ? '' : null
}
