import { commonErrors, declareErrors, type HttpError } from '../lib/errors.ts'

/** Errors of any endpoint. Clients rely on codes: one is never renamed, and `docs/api` lists them all. */
export const httpErrors = declareErrors({
  bad_request: [400, 'La solicitud no es válida'],
  bad_parameter: [400, (name: string, takes: string) => `El parámetro ${name} ${takes}`],
  unknown_parameter: [
    400,
    (name: string, nearest: string) => `El parámetro ${name} no existe: ¿quiso decir ${nearest}?`,
  ],
  bad_header: [400, (name: string, takes: string) => `La cabecera ${name} ${takes}`],
  missing_parameter: [400, (name: string) => `Falta el parámetro ${name}`],
  unreadable_body: [400, 'El cuerpo de la solicitud no se puede leer'],
  path_not_found: [404, 'La dirección no existe'],
  method_not_allowed: [405, (methods: string) => `El método debe ser ${methods}`],
  request_timeout: [408, 'La solicitud tardó demasiado'],
  body_too_large: [413, (limit: number) => `El cuerpo de la solicitud supera el máximo de ${limit} bytes`],
  url_too_long: [414, 'La dirección es demasiado larga'],
  unsupported_type: [
    415,
    'El tipo de contenido debe ser application/x-www-form-urlencoded, multipart/form-data o application/json',
  ],
  unsupported_encoding: [
    415,
    'El cuerpo de la solicitud debe venir sin comprimir, con Content-Encoding identity',
  ],
  headers_too_large: [431, 'Las cabeceras de la solicitud son demasiado grandes'],
  internal_error: [500, 'Error interno del servicio'],
  not_ready: [503, 'El servicio no está listo'],
})

/** A parameter is malformed or out of range. @param takes which values it takes: Spanish, follows its name in the message */
export const badParameter = (name: string, takes: string): HttpError =>
  httpErrors.bad_parameter(name, takes).with({ fields: { parameter: name } })

export const missingParameter = (name: string): HttpError =>
  httpErrors.missing_parameter(name).with({ fields: { parameter: name } })

/** The errors of statuses whose cause needs no details. */
const BY_STATUS: Readonly<Record<number, () => HttpError>> = {
  400: httpErrors.bad_request,
  404: httpErrors.path_not_found,
  408: httpErrors.request_timeout,
  414: httpErrors.url_too_long,
  415: httpErrors.unsupported_type,
  431: httpErrors.headers_too_large,
  503: commonErrors.overloaded,
}

export const toHttpError = (status: number): HttpError => (BY_STATUS[status] ?? httpErrors.internal_error)()
