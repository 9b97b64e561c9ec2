import type { TextKey } from '../i18n/index.ts'

/** Labels of API parameters, which messages show instead of their names. Filters add theirs. */
const labels = new Map<string, TextKey>([
  ['account', 'app.account'],
  ['service', 'admin.service'],
  ['max_images', 'admin.maxImages'],
  ['max_bytes', 'admin.maxMegabytes'],
])

export function labelParameter(name: string, label: TextKey): void {
  labels.set(name, label)
}

export const parameterLabel = (name: string): TextKey | undefined => labels.get(name)
