import { isIP } from 'node:net'
import { HttpError } from '../lib/errors.ts'
import { jsonTypeOf } from '../lib/json-type.ts'
import { hasAtMostCharacters, isStorable } from '../lib/text.ts'
import type { ImageInfo } from './queries.ts'
import type { Full } from './quota.ts'

const MAX_NAME_LENGTH = 1_024
const MAX_MIME_LENGTH = 255
/** The last second of the year 9999. */
const MAX_SECONDS = 253_402_300_799

export const EXPIRES_TAKES = 'debe ser un momento futuro, en segundos desde 1970'

/** What is said of an image beside its bytes; undefined when it lacks something. `expires` is not checked here. */
export function readInfo(
  given: Readonly<Record<string, unknown>>,
  defaults: {
    readonly name?: string | undefined
    readonly mime?: string | undefined
    readonly ip?: string
  } = {},
): (Omit<ImageInfo, 'expires'> & { readonly expires: unknown }) | undefined {
  const name = given['name'] ?? defaults.name
  const mime = given['mime'] ?? defaults.mime
  const ip = given['ip'] ?? defaults.ip
  if (!isText(name, MAX_NAME_LENGTH) || !isText(mime, MAX_MIME_LENGTH)) return undefined
  if (ip !== defaults.ip && (typeof ip !== 'string' || isIP(ip) === 0)) return undefined
  return typeof ip === 'string' ? { name, ip, expires: given['expires'] ?? null } : undefined
}

/**
 * A moment to come, or null where none is given.
 * @param now seconds since 1970
 * @throws HttpError 400
 */
export function readExpires(given: unknown, now: number): number | null {
  if (given === null) return null
  if (isSeconds(given) && given > now) return given
  const expected = typeof given === 'number' ? EXPIRES_TAKES : `debe ser un número, no ${jsonTypeOf(given)}`
  throw new HttpError(400, `El parámetro expires ${expected}`)
}

/** Whole seconds since 1970. */
export function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_SECONDS
}

export function fullRefusal({ of, max, used }: Full): HttpError {
  return of === 'images'
    ? new HttpError(403, `La aplicación ya tiene el máximo de ${max} imágenes`)
    : new HttpError(413, `La imagen no cabe: la aplicación ocupa ${used} de un máximo de ${max} bytes`)
}

function isText(value: unknown, maxLength: number): value is string {
  return (
    typeof value === 'string' && value !== '' && hasAtMostCharacters(value, maxLength) && isStorable(value)
  )
}
