import { app } from './texts/app.ts'
import { domains } from './texts/domains.ts'
import { facets } from './texts/facets.ts'
import { figures } from './texts/figures.ts'
import { home } from './texts/home.ts'
import { images } from './texts/images.ts'
import type { importing } from './texts/importing.ts'
import type { owner } from './texts/owner.ts'
import { sheet } from './texts/sheet.ts'
import { triage } from './texts/triage.ts'
import { usage } from './texts/usage.ts'
import type { watches } from './texts/watches.ts'

/** One for each screen or part of one; a key is in one of them only. Those of rarer screens come with their screens. */
export const PARTS = [app, domains, facets, figures, home, images, sheet, triage, usage] as const

const core = {
  ...app.es,
  ...domains.es,
  ...facets.es,
  ...figures.es,
  ...home.es,
  ...images.es,
  ...sheet.es,
  ...triage.es,
  ...usage.es,
}
export type TextKey =
  keyof typeof core | keyof typeof importing.es | keyof typeof owner.es | keyof typeof watches.es

type Texts = Partial<Record<TextKey, string>>

export const es: Texts = core

export const en: Texts = {
  ...app.en,
  ...domains.en,
  ...facets.en,
  ...figures.en,
  ...home.en,
  ...images.en,
  ...sheet.en,
  ...triage.en,
  ...usage.en,
}

/** Adds the texts of a screen that is fetched when it is opened. */
export function addTexts(part: { readonly es: Texts; readonly en: Texts }): void {
  Object.assign(es, part.es)
  Object.assign(en, part.en)
}
