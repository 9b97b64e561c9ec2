/* oxlint-disable typescript/consistent-type-imports -- each part is named once */
// What most screens show. Texts of the others are loaded with their screens. Keys are unique across all of them.
import './texts/app.ts'
import './texts/domains.ts'
import './texts/query.ts'

type Parts =
  | typeof import('./texts/activity.ts')
  | typeof import('./texts/adding.ts')
  | typeof import('./texts/admin.ts')
  | typeof import('./texts/app.ts')
  | typeof import('./texts/audit.ts')
  | typeof import('./texts/bulk.ts')
  | typeof import('./texts/campaigns.ts')
  | typeof import('./texts/dismissed.ts')
  | typeof import('./texts/domains.ts')
  | typeof import('./texts/help.ts')
  | typeof import('./texts/home.ts')
  | typeof import('./texts/images.ts')
  | typeof import('./texts/importing.ts')
  | typeof import('./texts/palette.ts')
  | typeof import('./texts/query.ts')
  | typeof import('./texts/rules.ts')
  | typeof import('./texts/sheet.ts')
  | typeof import('./texts/sign-in.ts')
  | typeof import('./texts/stats.ts')
  | typeof import('./texts/triage.ts')
  | typeof import('./texts/usage.ts')
  | typeof import('./texts/watches.ts')

type KeyOf<Part> = Part extends unknown ? keyof Part : never
type PartOf<Module> = Module extends unknown ? Module[keyof Module] : never
type CountedOf<Part> = Part extends unknown
  ? { [K in keyof Part]: Part[K] extends readonly [`${string} | ${string}`, string] ? K : never }[keyof Part]
  : never

/** Texts that depend on a number: for one, and for others. */
export type CountedKey = CountedOf<PartOf<Parts>>
export type TextKey = Exclude<KeyOf<PartOf<Parts>>, CountedKey>
