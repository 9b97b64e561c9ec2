/**
 * Texts of one part of the console in both languages. Spanish is the first: its keys are the ones there are, and English
 * must have each of them and no other.
 */
export function inBoth<const Spanish extends Readonly<Record<string, string>>>(
  es: Spanish,
  en: Readonly<Record<keyof NoInfer<Spanish>, string>>,
) {
  return { es, en }
}

type Texts = Partial<Record<string, string>>

/** All texts loaded so far, by language. */
export const es: Texts = {}
export const en: Texts = {}

/** Adds the texts of one part. Parts that only one screen needs are loaded with that screen. */
export function addTexts(part: { readonly es: Texts; readonly en: Texts }): void {
  Object.assign(es, part.es)
  Object.assign(en, part.en)
}
