import type { Modifier } from '../modifier.ts'
import { isName } from '../names.ts'

export const watermark: Modifier = {
  key: 'wm',
  settles: ['watermark'],
  takes: 'el nombre de una marca de agua',
  parse: (value) => (value !== undefined && isName(value) ? { watermark: value } : undefined),
}
