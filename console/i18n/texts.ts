import { app } from './texts/app.ts'
import { domains } from './texts/domains.ts'
import { facets } from './texts/facets.ts'
import { figures } from './texts/figures.ts'
import { home } from './texts/home.ts'
import { images } from './texts/images.ts'
import { importing } from './texts/importing.ts'
import { owner } from './texts/owner.ts'
import { sheet } from './texts/sheet.ts'
import { triage } from './texts/triage.ts'
import { usage } from './texts/usage.ts'
import { watches } from './texts/watches.ts'

/** One for each screen or part of one; a key is in one of them only. */
export const PARTS = [
  app,
  domains,
  facets,
  figures,
  home,
  images,
  importing,
  owner,
  sheet,
  triage,
  usage,
  watches,
] as const

export const es = {
  ...app.es,
  ...domains.es,
  ...facets.es,
  ...figures.es,
  ...home.es,
  ...images.es,
  ...importing.es,
  ...owner.es,
  ...sheet.es,
  ...triage.es,
  ...usage.es,
  ...watches.es,
}
export type TextKey = keyof typeof es

export const en: Readonly<Record<TextKey, string>> = {
  ...app.en,
  ...domains.en,
  ...facets.en,
  ...figures.en,
  ...home.en,
  ...images.en,
  ...importing.en,
  ...owner.en,
  ...sheet.en,
  ...triage.en,
  ...usage.en,
  ...watches.en,
}
