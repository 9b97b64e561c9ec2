export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

export const languageName = (language: Language): string => (language === 'es' ? 'Español' : 'English')

/**
 * Returns the first language of the console in a list of language tags, most wanted first (`en-GB`, `es-419`, …).
 * Spanish by default.
 */
export function preferredLanguage(tags: readonly string[]): Language {
  for (const tag of tags) {
    const [primary] = tag.toLowerCase().split('-')
    if (primary === 'es' || primary === 'en') return primary
  }
  return 'es'
}
