import { decimal, flag, integer, type Modifier } from '../modifier.ts'
import { MAX_SIDE } from '../plan.ts'

/** Smallest standard deviation that the blur takes. */
const MIN_BLUR = 0.3
const MAX_BLUR = 100
const MAX_BLOCK = 512

export const blur: Modifier = {
  key: 'blur',
  settles: ['blur'],
  takes: `un número de ${MIN_BLUR} a ${MAX_BLUR}`,
  parse: (value) => {
    const blur = decimal(value, MIN_BLUR, MAX_BLUR)
    return blur === undefined ? undefined : { blur }
  },
}

export const sharpen: Modifier = flag('sharpen', 'sharpen')
export const gray: Modifier = flag('gray', 'gray')

export const pixelate: Modifier = {
  key: 'pixelate',
  settles: ['pixelate'],
  takes: `un entero de 2 a ${MAX_BLOCK}`,
  parse: (value) => {
    const pixelate = integer(value, 2, MAX_BLOCK)
    return pixelate === undefined ? undefined : { pixelate }
  },
}

export const radius: Modifier = {
  key: 'rad',
  settles: ['radius'],
  takes: `un entero de 1 a ${MAX_SIDE}, o max`,
  parse: (value) => {
    const radius = value === 'max' ? value : integer(value, 1, MAX_SIDE)
    return radius === undefined ? undefined : { radius }
  },
}
