/** The languages of messages and Atom feeds of watches. */
export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** Reads a stored language. A newer version may know more. */
export const languageOf = (text: string): Language => LANGUAGES.find((one) => one === text) ?? 'es'
