import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError, isErrorCode, OverloadError } from '../lib/errors.ts'
import { toHttpError, httpErrors } from './errors.ts'
import { JSON_TYPE, PRIVATE_HEADERS } from './headers.ts'
import { requestLog } from './observability/request-log.ts'

/** Sends 404 for an unknown path, 405 for a known one with another method. */
export type AnswerUnknown = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

/**
 * Makes every error response `{status, msg, code}`: from an `HttpError` itself, from framework errors by status, and from anything else a
 * generic 500 whose details are only logged.
 */
export function answerErrors(app: FastifyInstance): AnswerUnknown {
  app.setErrorHandler((error, request, reply) => {
    // The handler may have set headers for caching before it failed.
    reply.removeHeader('cache-control').removeHeader('etag')
    send(reply, error instanceof HttpError ? error : translate(error, request))
  })

  const methodsByPath = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    methodsByPath.set(url, methods)
  })

  function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = request.raw.url?.split('?', 1)[0] ?? ''
    const methods = methodsByPath.get(path) ?? patternMatch(methodsByPath, path)
    if (methods === undefined) return send(reply, httpErrors.path_not_found())
    const allow = [...methods].sort().join(', ')
    return send(reply, httpErrors.method_not_allowed(allow).with({ headers: { allow } }))
  }

  app.setNotFoundHandler(answerUnknown)
  return answerUnknown
}

/** Sends an error, also before a route was found. */
export function send(reply: FastifyReply, error: HttpError): FastifyReply {
  return (
    reply
      .code(error.status)
      // By default caches may store a 404 or 410 (RFC 9111, section 4.2.2), and so hide what is created later.
      .headers({ ...PRIVATE_HEADERS, ...error.headers })
      .type(JSON_TYPE)
      .send(JSON.stringify(error.body()))
  )
}

/** Finds the route with a wildcard or a parameter that matches the path: `/i/*`, `/w/:token.atom`. */
function patternMatch(methodsByPath: Map<string, Set<string>>, path: string): Set<string> | undefined {
  for (const [pattern, methods] of methodsByPath) {
    const [before = '', part, after = ''] = pattern.split(/(\*$|:[a-z]+)/)
    if (part === undefined || path.length < before.length + after.length) continue
    const given = path.slice(before.length, path.length - after.length)
    const isMatch = part === '*' || (given !== '' && !given.includes('/'))
    if (path.startsWith(before) && path.endsWith(after) && isMatch) return methods
  }
  return undefined
}

function translate(error: unknown, request: FastifyRequest): HttpError {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  // The client left before a stream had sent anything, so nobody reads the answer.
  const hasLeft = isErrorCode(error, 'ERR_STREAM_PREMATURE_CLOSE')
  if (hasLeft || isOutOfFiles(error)) return new OverloadError()
  const httpError = toHttpError(status)
  if (httpError.status >= 500) requestLog(request).error({ err: error }, 'unexpected error')
  return httpError
}

/** Returns whether the process or the system has too many open files, which is temporary. */
function isOutOfFiles(error: unknown): boolean {
  return isErrorCode(error, 'EMFILE', 'ENFILE')
}
