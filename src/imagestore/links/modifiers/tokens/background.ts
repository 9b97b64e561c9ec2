import type { Modifier } from '../modifier.ts'

export const background: Modifier = {
  key: 'bg',
  settles: ['background'],
  takes: '3, 6 u 8 dígitos hexadecimales',
  parse: (value) => {
    if (value === undefined || !/^(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(value)) return undefined
    const digits = value.toLowerCase()
    const full = digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits
    return { background: full.padEnd(8, 'f') }
  },
}
