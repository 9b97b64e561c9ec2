import { addTexts } from './dictionary.ts'
import type { adding } from './texts/adding.ts'
import { app } from './texts/app.ts'
import { columns } from './texts/columns.ts'
import { domains } from './texts/domains.ts'
import { filters } from './texts/filters.ts'
import type { stats } from './texts/stats.ts'
import type { home } from './texts/home.ts'
import type { images } from './texts/images.ts'
import type { importing } from './texts/importing.ts'
import type { admin } from './texts/admin.ts'
import type { palette } from './texts/palette.ts'
import { query } from './texts/query.ts'
import type { sheet } from './texts/sheet.ts'
import type { shortcuts } from './texts/shortcuts.ts'
import type { signIn } from './texts/sign-in.ts'
import type { triage } from './texts/triage.ts'
import type { usage } from './texts/usage.ts'
import { views } from './texts/views.ts'
import type { watches } from './texts/watches.ts'

/**
 * One for each screen or part of one. Keys are unique across all of them. Texts of rare screens are loaded with
 * their screens.
 */
export const PARTS = [app, columns, domains, filters, query, views] as const

type KeyOf<Part> = Part extends unknown ? keyof Part : never

export type TextKey = KeyOf<
  | (typeof PARTS)[number]
  | typeof adding
  | typeof stats
  | typeof home
  | typeof images
  | typeof importing
  | typeof admin
  | typeof palette
  | typeof sheet
  | typeof shortcuts
  | typeof signIn
  | typeof triage
  | typeof usage
  | typeof watches
>

for (const part of PARTS) addTexts(part)
