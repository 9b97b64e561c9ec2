import { createdKey, type Audit } from '../http/auth/audit.ts'
import type { Service } from '../http/auth/key-limits.ts'
import { networkMatcher } from '../http/client.ts'
import { PRIVATE_HEADERS } from '../http/headers.ts'
import { httpErrors } from '../http/errors.ts'
import type { HttpServer } from '../http/server.ts'
import { declareErrors } from '../lib/errors.ts'

/** Errors of the sign-in by a proxy. */
const sessionErrors = declareErrors({
  sign_in_refused: [403, 'La sesión solo se abre desde la consola y a través del proxy configurado'],
  account_not_allowed: [403, (account: string) => `La cuenta ${account} no puede entrar a la consola`],
})

/** Every page load opens a session: an entry for each would hide the others. */
const RECORDED_EVERY_MS = 12 * 3_600_000

interface Session {
  readonly id: string
  readonly key: string
  readonly account: string
  readonly service: Service
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

export interface SessionOptions {
  /** The header in which a proxy names the account, in lower case; empty if no proxy signs in. */
  readonly authHeader: string
  readonly trustedProxies: readonly string[]
  /** Returns undefined if the account may not sign in. */
  readonly openSession: (account: string) => Promise<Session | undefined>
  readonly audit: Audit
}

/** Registers the sign-in of the console by a proxy that has authenticated the user. */
export function sessionRoute(app: HttpServer, options: SessionOptions): void {
  const { authHeader, openSession, audit } = options
  if (authHeader === '') return
  const isTrusted = networkMatcher(options.trustedProxies)
  app.route({
    method: 'POST',
    url: '/console/session',
    schema: { hide: true },
    config: { hasCors: 'never' },
    handler: async ({ raw }, reply) => {
      // The console alone may open a session: a page of another origin would make the browser send the user's credentials.
      if (!isTrusted(raw.socket.remoteAddress ?? '') || raw.headers['sec-fetch-site'] !== 'same-origin')
        throw sessionErrors.sign_in_refused()
      const [value = '', ...others] = raw.headersDistinct[authHeader] ?? []
      // Node reads headers as Latin-1.
      const name = Buffer.from(value, 'latin1').toString().trim()
      if (name === '' || others.length > 0)
        throw httpErrors.bad_header(authHeader, 'debe venir exactamente una vez, con el nombre de la cuenta')
      const session = await openSession(name)
      if (session === undefined) throw sessionErrors.account_not_allowed(name)
      const { id, key, account, service, expiresAt } = session
      if (!(await audit.hasRecent(account, 'session.open', RECORDED_EVERY_MS)))
        await audit.record({ account, keyId: id }, 'session.open', createdKey(account, service, id))
      const expires = Math.floor(expiresAt / 1_000)
      return reply.headers(PRIVATE_HEADERS).send({ status: 200, key, account, service, expires })
    },
  })
}
