import type { Modifier } from './modifier.ts'
import { emptyPlan, MAX_SIDE, outputFormats, type OutputFormat, type Plan } from './plan.ts'
import { preset } from './presets.ts'
import { modifiers } from './registry.ts'

/** `token` is as written, cut to a length that can be shown. */
export type ModifierFault =
  | { readonly kind: 'unknown'; readonly token: string }
  | { readonly kind: 'repeated'; readonly token: string }
  | { readonly kind: 'range'; readonly token: string; readonly takes: string }

export type ParsedModifier =
  { readonly ok: true; readonly plan: Plan } | { readonly ok: false; readonly fault: ModifierFault }

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

/**
 * Reads the text of `m=`. `format` is what the link's own extension asks for; an `f_` token takes precedence over it.
 * An empty text is the empty plan.
 */
export function parseModifiers(text: string, format?: OutputFormat): ParsedModifier {
  const fail = (fault: ModifierFault): ParsedModifier => ({
    ok: false,
    fault: { ...fault, token: fault.token.slice(0, MAX_SHOWN) },
  })
  if (text.length > MAX_LENGTH) return fail({ kind: 'unknown', token: text })
  const base: Plan = format === undefined ? emptyPlan : { ...emptyPlan, format }
  if (text === '') return { ok: true, plan: base }

  let defaults: Partial<Plan> | undefined
  let fields: Partial<Plan> = {}
  const settled = new Set<keyof Plan>()
  for (const token of splitTokens(text)) {
    const named = readPreset(token)
    if (named !== undefined) {
      if (defaults !== undefined) return fail({ kind: 'repeated', token })
      defaults = named
      continue
    }
    const read = readToken(token)
    if (isFault(read)) return fail(read)
    if (read.settles.some((field) => settled.has(field))) return fail({ kind: 'repeated', token })
    for (const field of read.settles) settled.add(field)
    fields = { ...fields, ...read.fields }
  }
  const plan: Plan = { ...base, ...defaults, ...fields }
  const side = Math.max(plan.width ?? 0, plan.height ?? 0) * plan.dpr
  if (side > MAX_SIDE)
    return fail({ kind: 'range', token: `dpr_${plan.dpr}`, takes: `hasta ${MAX_SIDE} píxeles` })
  return { ok: true, plan }
}

/** An extension at the end is one more token. */
function splitTokens(text: string): string[] {
  const dot = text.lastIndexOf('.')
  const extension = dot < 0 ? undefined : formatOfExtension(text.slice(dot + 1))
  if (extension === undefined) return text.split(',')
  const rest = text.slice(0, dot)
  return [...(rest === '' ? [] : rest.split(',')), `f_${extension}`]
}

const readPreset = (token: string): Partial<Plan> | undefined =>
  preset(token.startsWith('p_') ? token.slice(2) : token)

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
