import type { Watch } from '../../api/schema.ts'
import { language, t, type TextKey } from '../../i18n/index.ts'

export type { Watch }

/** Delivery errors of the service, which are in Spanish only. */
const ERRORS: readonly (readonly [RegExp, TextKey])[] = [
  [/^El receptor respondió (?<code>\d+)$/, 'watch.error.code'],
  [/^El receptor no respondió a tiempo$/, 'watch.error.timeout'],
  [/^La dirección del receptor no está permitida$/, 'watch.error.address'],
  [/^La dirección está por confirmar/, 'watch.error.unconfirmed'],
  [/^La dirección ya recibió (?<code>\d+) mensajes en un día$/, 'watch.error.fullAddress'],
  [/^La cuenta ya envió (?<code>\d+) correos en un día$/, 'watch.error.fullAccount'],
  [/^No se (ha podido|pudo) conectar con el receptor( \((?<code>\w+)\))?$/, 'watch.error.connection'],
]

/** Returns the error of a delivery, translated if possible. */
export function deliveryErrorText(error: string): string {
  if (language.get() === 'es') return error
  for (const [pattern, key] of ERRORS) {
    const found = pattern.exec(error)
    if (found !== null) return t(key, { code: found.groups?.['code'] ?? '' }).replace(' ()', '')
  }
  return error
}
