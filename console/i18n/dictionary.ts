/** Texts of a part of the console by their keys, in Spanish and in English. */
export type Texts = Readonly<Record<string, readonly [es: string, en: string]>>

const loaded: Record<string, readonly [es: string, en: string]> = {}

/** Adds the texts of a part, and returns them. Parts that only one screen needs are loaded with that screen. */
export function addTexts<const Part extends Texts>(part: Part): Part {
  Object.assign(loaded, part)
  return part
}

/** All texts loaded so far. */
export const allTexts = (): Texts => loaded
