import { flag, integer, type Modifier } from '../modifier.ts'

const MAX_PAD = 2048

export const rotate: Modifier = {
  key: 'r',
  settles: ['rotate'],
  takes: '90, 180 o 270',
  parse: (value) => {
    const rotate = ([90, 180, 270] as const).find((angle) => String(angle) === value)
    return rotate === undefined ? undefined : { rotate }
  },
}

export const flip: Modifier = flag('flip', 'flip')
export const flop: Modifier = flag('flop', 'flop')
export const trim: Modifier = flag('trim', 'trim')

export const pad: Modifier = {
  key: 'pad',
  settles: ['pad'],
  takes: `un entero de 1 a ${MAX_PAD}`,
  parse: (value) => {
    const pad = integer(value, 1, MAX_PAD)
    return pad === undefined ? undefined : { pad }
  },
}
