import { usualPresets, type Presets } from './presets.ts'

/** The names that a link may use beside the tokens. */
export interface Grammar {
  readonly presets: Presets
  readonly watermarks: { has(name: string): boolean }
}

/** Without a settings file. */
export const usualGrammar: Grammar = { presets: usualPresets, watermarks: new Set<string>() }
