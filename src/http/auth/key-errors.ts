import { HttpError } from '../../lib/errors.ts'

/** Errors about the key of a request, in the order of the checks. */
export const missingKey = () => new HttpError(401, 'Falta la clave de API')
export const unknownKey = () => new HttpError(401, 'La clave de API no es válida')
export const keyOfOtherService = () => new HttpError(403, 'La clave de API no da acceso a este servicio')
export const expiredKey = () => new HttpError(401, 'La clave de API expiró')
export const outOfScope = () => new HttpError(403, 'La clave de API no permite esta operación')
