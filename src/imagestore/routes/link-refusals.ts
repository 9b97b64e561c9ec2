import { HttpError } from '../../lib/errors.ts'
import type { Wanted } from '../link-reader.ts'
import type { ModifierFault } from '../links/modifiers/index.ts'
import { NO_IMAGE } from './get.ts'

const EXPIRED = 'El enlace venció'
const FORGED = 'La firma del enlace no es válida'
export const UNSIGNED = 'La imagen solo se entrega por enlaces firmados'
export const TOO_HEAVY =
  'La imagen es demasiado pesada para este modificador: pida un solo cuadro (frame_0) o menos tamaño'
const PRESETS_ONLY = 'La imagen solo se entrega sin modificar o en un tamaño con nombre'

/** What a client is told of a link that comes to nothing. */
export function refusalFor(wanted: Exclude<Wanted, { kind: 'image' }>): HttpError {
  switch (wanted.kind) {
    case 'no-format':
      return new HttpError(404, NO_IMAGE)
    case 'fault':
      return new HttpError(400, describe(wanted.fault))
    case 'no-watermark':
      return new HttpError(
        400,
        `El modificador wm_${wanted.name} no es válido: su imagen no es de la misma aplicación`,
      )
    case 'refused':
      switch (wanted.access.kind) {
        case 'expired':
          return new HttpError(410, EXPIRED)
        case 'forged':
          return new HttpError(403, FORGED)
        case 'unsigned':
          return new HttpError(403, UNSIGNED)
        case 'no-preset':
          return new HttpError(403, PRESETS_ONLY)
      }
  }
}

function describe(fault: ModifierFault): string {
  switch (fault.kind) {
    case 'unknown':
      return `El modificador ${fault.token} no existe`
    case 'repeated':
      return `El modificador ${fault.token} está repetido`
    case 'range':
      return `El modificador ${fault.token} no es válido: ${fault.takes}`
    case 'last':
      return `El modificador ${fault.token} no es válido: va al final`
  }
}
