import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError, OVERLOADED, OverloadError, isErrorCode } from '../lib/errors.ts'
import { JSON_TYPE, PRIVATE_HEADERS } from './headers.ts'
import { requestLog } from './observability/request-log.ts'

/** Sends 404 for an unknown path, 405 for a known one with another method. */
export type AnswerUnknown = (request: FastifyRequest, reply: FastifyReply) => FastifyReply

/**
 * Makes every error response `{status, msg}`: from an `HttpError` itself, from framework errors by status, and from anything else a
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
    if (methods === undefined) return send(reply, httpErrorOf(404))
    const allow = [...methods].sort().join(', ')
    return send(reply, new HttpError(405, `El método debe ser ${allow}`, { headers: { allow } }))
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

/** One message for each status whose cause needs no details. */
const MESSAGES: Readonly<Record<number, string>> = {
  400: 'La solicitud no es válida',
  404: 'La dirección no existe',
  408: 'La solicitud tardó demasiado',
  414: 'La dirección es demasiado larga',
  415: 'El tipo de contenido debe ser application/x-www-form-urlencoded, multipart/form-data o application/json',
  431: 'Las cabeceras de la solicitud son demasiado grandes',
  503: OVERLOADED,
}

export function httpErrorOf(status: number, headers: Record<string, string> = {}): HttpError {
  const message = MESSAGES[status]
  return message === undefined
    ? new HttpError(500, 'Error interno del servicio')
    : new HttpError(status, message, { headers })
}

/** @param limit largest body of the endpoint, in bytes */
export const bodyTooLarge = (limit: number): HttpError =>
  new HttpError(413, `El cuerpo de la solicitud supera el máximo de ${limit} bytes`)

/** The body does not match its type. */
export const UNREADABLE_BODY = 'El cuerpo de la solicitud no se puede leer'

function translate(error: unknown, request: FastifyRequest): HttpError {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  const httpError = isOutOfFiles(error) ? new OverloadError() : httpErrorOf(status)
  if (httpError.status >= 500) requestLog(request).error({ err: error }, 'unexpected error')
  return httpError
}

/** Returns whether the process or the system has too many open files, which is temporary. */
function isOutOfFiles(error: unknown): boolean {
  return isErrorCode(error, 'EMFILE', 'ENFILE')
}
