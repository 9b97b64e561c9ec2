import { usualGrammar, type Grammar } from './grammar.ts'
import type { Modifier } from './modifier.ts'
import { emptyPlan, MAX_SIDE, outputFormats, type OutputFormat, type Plan } from './plan.ts'
import { modifiers } from './registry.ts'
import { NO_TERMS, readTerm, type Term, type Terms } from './terms.ts'

/** `token` is as written, cut to a length that can be shown. */
export type ModifierFault =
  | { readonly kind: 'unknown'; readonly token: string }
  | { readonly kind: 'repeated'; readonly token: string }
  | { readonly kind: 'range'; readonly token: string; readonly takes: string }
  /** A signature that is not at the end. */
  | { readonly kind: 'last'; readonly token: string }

export type ParsedModifier =
  | { readonly ok: true; readonly plan: Plan; readonly terms: Terms }
  | { readonly ok: false; readonly fault: ModifierFault }

const WATERMARK_TAKES = 'el nombre de una marca de agua que exista'
const MAX_LENGTH = 512
const MAX_SHOWN = 40

/** The format that a file extension asks for; undefined for one that cannot be made. */
export function formatOfExtension(extension: string): OutputFormat | undefined {
  const name = extension.toLowerCase()
  return name === 'jpeg' ? 'jpg' : outputFormats.find((format) => format === name)
}

interface Token {
  readonly text: string
  readonly settles: readonly (keyof Plan)[]
  readonly fields: Partial<Plan>
}

const isFault = (read: Token | ModifierFault): read is ModifierFault => 'kind' in read

/** @param token cut to a length that can be shown */
export const unknownModifier = (token: string): ModifierFault => ({
  kind: 'unknown',
  token: token.slice(0, MAX_SHOWN),
})

/**
 * Reads the text of `m=`. `format` is what the link's own extension asks for; an `f_` token takes precedence over it.
 * An empty text is the empty plan.
 */
export function parseModifiers(
  text: string,
  format?: OutputFormat,
  { presets, watermarks }: Grammar = usualGrammar,
): ParsedModifier {
  const fail = (fault: ModifierFault): ParsedModifier => ({
    ok: false,
    fault: { ...fault, token: fault.token.slice(0, MAX_SHOWN) },
  })
  if (text.length > MAX_LENGTH) return fail({ kind: 'unknown', token: text })
  const base: Plan = format === undefined ? emptyPlan : { ...emptyPlan, format }
  if (text === '') return { ok: true, plan: base, terms: NO_TERMS }

  let preset: string | undefined
  let terms: Partial<Term> = {}
  let fields: Partial<Plan> = {}
  const settled = new Set<keyof Plan>()
  const { tokens, extension } = splitTokens(text)
  for (const token of tokens) {
    const name = token.startsWith('p_') ? token.slice(2) : token
    if (presets.has(name)) {
      if (preset !== undefined) return fail({ kind: 'repeated', token })
      preset = name
      continue
    }
    // Whatever follows a signature is not signed. An extension counts as a token before it.
    if (terms.signature !== undefined && token !== extension)
      return fail({ kind: 'last', token: `sig_${terms.signature}` })
    const term = readTerm(token)
    if (term !== undefined) {
      if ('takes' in term) return fail({ kind: 'range', token, takes: term.takes })
      if (Object.keys(term).some((name) => name in terms)) return fail({ kind: 'repeated', token })
      terms = { ...terms, ...term }
      continue
    }
    const read = readToken(token)
    if (isFault(read)) return fail(read)
    if (read.settles.some((field) => settled.has(field))) return fail({ kind: 'repeated', token })
    for (const field of read.settles) settled.add(field)
    fields = { ...fields, ...read.fields }
    if (typeof fields.watermark === 'string' && !watermarks.has(fields.watermark))
      return fail({ kind: 'range', token: `wm_${fields.watermark}`, takes: WATERMARK_TAKES })
  }
  const plan: Plan = { ...base, ...(preset === undefined ? {} : presets.get(preset)), ...fields }
  const side = Math.max(plan.width ?? 0, plan.height ?? 0) * plan.dpr
  if (side > MAX_SIDE)
    return fail({ kind: 'range', token: `dpr_${plan.dpr}`, takes: `hasta ${MAX_SIDE} píxeles` })
  return { ok: true, plan, terms: { ...NO_TERMS, ...terms, preset, settled } }
}

/** An extension at the end is one more token. */
function splitTokens(text: string): { readonly tokens: string[]; readonly extension: string | undefined } {
  const dot = text.lastIndexOf('.')
  const format = dot < 0 ? undefined : formatOfExtension(text.slice(dot + 1))
  if (format === undefined) return { tokens: text.split(','), extension: undefined }
  const rest = text.slice(0, dot)
  const extension = `f_${format}`
  return { tokens: [...(rest === '' ? [] : rest.split(',')), extension], extension }
}

/** Whether a text is one valid token, presets aside. */
export function isToken(text: string): boolean {
  const term = readTerm(text)
  return term === undefined ? !isFault(readToken(text)) : !('takes' in term)
}

function readToken(text: string): Token | ModifierFault {
  const bareSize = /^\d+x\d+$/.test(text)
  const cut = bareSize ? -1 : text.indexOf('_')
  const key = bareSize ? 's' : cut < 0 ? text : text.slice(0, cut)
  const value = bareSize ? text : cut < 0 ? undefined : text.slice(cut + 1)
  const modifier: Modifier | undefined = modifiers.get(key)
  if (modifier === undefined) return { kind: 'unknown', token: text }
  const fields = modifier.parse(value)
  if (fields === undefined) return { kind: 'range', token: text, takes: modifier.takes }
  return { text, settles: modifier.settles, fields }
}
