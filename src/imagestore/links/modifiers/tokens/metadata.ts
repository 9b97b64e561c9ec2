import type { Modifier } from '../modifier.ts'

export const metadata: Modifier = {
  key: 'meta',
  settles: ['keepMetadata'],
  takes: 'keep',
  parse: (value) => (value === 'keep' ? { keepMetadata: true } : undefined),
}
