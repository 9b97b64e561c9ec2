import type { Stage } from '../decoder/stage.ts'
import type { Step } from './modifier.ts'
import {
  FIELDS,
  UNCHANGED,
  MAX_SIDE_PIXELS,
  modifiers,
  OUTPUT_FORMATS,
  type Changes,
  type Field,
  type OutputFormat,
  type ResolvedTransformation,
  type Transformation,
} from './table.ts'

export * from './table.ts'
export { COMPASS_POINTS, isName, NAME_TAKES, type CompassPoint, type Gravity, type Step } from './modifier.ts'

/** Named sets of modifiers. An explicit token takes precedence over what a preset sets. */
export type Presets = ReadonlyMap<string, Changes>

/** The names that a link may use besides tokens. */
export interface Grammar {
  readonly presets: Presets
  readonly watermarks: { has(name: string): boolean }
}

const square = (side: number): Changes => ({ width: side, height: side, fit: 'fill' })
const within = (side: number): Changes => ({ width: side, height: side })

export const defaultPresets: Presets = new Map([
  ['s', square(90)],
  ['b', square(160)],
  ['t', within(160)],
  ['thumb', within(160)],
  ['m', within(320)],
  ['l', within(640)],
  ['h', within(1024)],
])

export const defaultGrammar: Grammar = { presets: defaultPresets, watermarks: new Set<string>() }

/** Tokens about the link itself, whatever it makes of the image. */
export const linkTokens = {
  expires: {
    key: 'exp',
    expected: 'segundos desde 1970',
    /** Whole seconds, up to the year 5138. */
    pattern: /^[1-9]\d{0,10}$/,
    examples: ['exp_4000000000'],
  },
  signature: {
    key: 'sig',
    expected: 'los 22 caracteres de una firma',
    /** 128 bits in base64url. */
    pattern: /^[\w-]{22}$/,
    examples: [`sig_${'A'.repeat(22)}`],
  },
} as const

/** What a modifier text says. */
export interface ParsedText {
  readonly transformation: Transformation
  /** The part of the transformation that is set by tokens, not by the preset. */
  readonly changes: Changes
  readonly preset: string | undefined
  /** Seconds since 1970 until which the link is valid. */
  readonly expires: number | undefined
  readonly signature: string | undefined
}

/** `token` is as written, cut to a length that can be shown. */
export type ModifierFault =
  /** `last`: a signature that is not at the end. */
  | { readonly kind: 'unknown' | 'repeated' | 'last'; readonly token: string }
  | { readonly kind: 'range'; readonly token: string; readonly takes: string }

export type ParsedModifiers =
  ({ readonly ok: true } & ParsedText) | { readonly ok: false; readonly fault: ModifierFault }

const WATERMARK_TAKES = 'el nombre de una marca de agua que exista'
export const MAX_MODIFIER_CHARACTERS = 512
const MAX_SHOWN_CHARACTERS = 40
const BARE_SIZE = /^\d+x\d+$/

/** `s_300x200` and `300x200` set both sides. */
const SIZE = { key: 's', expected: `ANCHOxALTO, cada uno ${modifiers.width.expected}` }

const fieldOfKey: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [modifiers[field].key, field]))

/** Keys that a preset cannot have as a name: those of modifiers, and those that look like one. */
export const isKey = (text: string): boolean =>
  text === SIZE.key || fieldOfKey.has(text) || BARE_SIZE.test(text)

/** The format of a file extension; undefined for one that cannot be made. */
export function formatOfExtension(extension: string): OutputFormat | undefined {
  const name = extension.toLowerCase()
  return name === 'jpeg' ? 'jpg' : OUTPUT_FORMATS.find((format) => format === name)
}

export const unknownModifier = (token: string): ModifierFault => ({
  kind: 'unknown',
  token: token.slice(0, MAX_SHOWN_CHARACTERS),
})

/**
 * Parses the text of `m=`. An empty text leaves the image as it is.
 * @param format of the link's extension; an `f_` token takes precedence over it
 */
export function parseModifiers(
  text: string,
  format?: OutputFormat,
  { presets, watermarks }: Grammar = defaultGrammar,
): ParsedModifiers {
  const fail = (fault: ModifierFault): ParsedModifiers => ({
    ok: false,
    fault: { ...fault, token: fault.token.slice(0, MAX_SHOWN_CHARACTERS) },
  })
  if (text.length > MAX_MODIFIER_CHARACTERS) return fail({ kind: 'unknown', token: text })
  let preset: string | undefined
  let expires: string | undefined
  let signature: string | undefined
  const changes: Changes = {}
  const { tokens, extension } = splitTokens(text)
  for (const token of tokens) {
    const name = token.startsWith('p_') ? token.slice(2) : token
    if (presets.has(name)) {
      if (preset !== undefined) return fail({ kind: 'repeated', token })
      preset = name
      continue
    }
    // The signature covers the tokens before it. An extension counts as one of them.
    if (signature !== undefined && token !== extension)
      return fail({ kind: 'last', token: `sig_${signature}` })
    const read = readToken(token)
    if ('kind' in read) return fail(read)
    if ('expires' in read) {
      if (expires !== undefined) return fail({ kind: 'repeated', token })
      expires = read.expires
    } else if ('signature' in read) signature = read.signature
    else {
      if (FIELDS.some((field) => field in read.changes && field in changes))
        return fail({ kind: 'repeated', token })
      Object.assign(changes, read.changes)
      const { watermark } = read.changes
      if (typeof watermark === 'string' && !watermarks.has(watermark))
        return fail({ kind: 'range', token: `wm_${watermark}`, takes: WATERMARK_TAKES })
    }
  }
  const fromPreset = preset === undefined ? {} : presets.get(preset)
  const transformation = { ...UNCHANGED, format: format ?? null, ...fromPreset, ...changes }
  const { width, height, dpr } = transformation
  if (Math.max(width ?? 0, height ?? 0) * dpr > MAX_SIDE_PIXELS)
    return fail({ kind: 'range', token: `dpr_${dpr}`, takes: `hasta ${MAX_SIDE_PIXELS} píxeles` })
  const until = expires === undefined ? undefined : Number(expires)
  return { ok: true, transformation, changes, preset, expires: until, signature }
}

/** An extension at the end is one more token. */
function splitTokens(text: string): { readonly tokens: string[]; readonly extension: string | undefined } {
  const dot = text.lastIndexOf('.')
  const format = dot < 0 ? undefined : formatOfExtension(text.slice(dot + 1))
  const rest = format === undefined ? text : text.slice(0, dot)
  const tokens = rest === '' ? [] : rest.split(',')
  if (format === undefined) return { tokens, extension: undefined }
  const extension = `f_${format}`
  return { tokens: [...tokens, extension], extension }
}

type Token = { readonly changes: Changes } | { readonly expires: string } | { readonly signature: string }

function readToken(token: string): Token | ModifierFault {
  if (BARE_SIZE.test(token)) return readSize(token, token)
  const cut = token.indexOf('_')
  const key = cut < 0 ? token : token.slice(0, cut)
  const value = cut < 0 ? undefined : token.slice(cut + 1)
  if (key === SIZE.key) return readSize(token, value ?? '')
  const linkToken = cut < 0 ? undefined : Object.values(linkTokens).find((one) => one.key === key)
  if (linkToken !== undefined && value !== undefined) {
    if (!linkToken.pattern.test(value)) return { kind: 'range', token, takes: linkToken.expected }
    return linkToken === linkTokens.expires ? { expires: value } : { signature: value }
  }
  const field = fieldOfKey.get(key)
  if (field === undefined) return { kind: 'unknown', token }
  const changes: Changes = {}
  return parseInto(changes, field, value)
    ? { changes }
    : { kind: 'range', token, takes: modifiers[field].expected }
}

function readSize(token: string, value: string): Token | ModifierFault {
  const [left, right, ...rest] = value.split('x')
  const changes: Changes = {}
  return parseInto(changes, 'width', left) && parseInto(changes, 'height', right) && rest.length === 0
    ? { changes }
    : { kind: 'range', token, takes: SIZE.expected }
}

function parseInto<Name extends Field>(changes: Changes, field: Name, text: string | undefined): boolean {
  const value = modifiers[field].parse(text)
  if (value === undefined) return false
  changes[field] = value
  return true
}

/** A parameter of a link; `value` is empty if there is none. */
export interface Parameter {
  readonly name: string
  readonly value: string
}

const M_MISSPELT = /^\s*m\s*(?:\[\d*\])?$/i
const SWITCHED_ON = /^(?:1|true|on)$/i
const isToken = (text: string): boolean => !('kind' in readToken(text))

/**
 * Finds a parameter that was meant as a modifier but is not in `m=`: `M=w_50`, `w=50`, or `w_50` and `thumb` without
 * `m=`. Ignoring it, like other unknown parameters, would serve another image than was requested.
 * @returns the parameter as it was written
 */
export function findMisplaced(others: readonly Parameter[], { presets }: Grammar): string | undefined {
  const found = others.find(({ name, value }) => {
    if (M_MISSPELT.test(name)) return true
    const [first = ''] = value.toLowerCase().split(',')
    const key = name.toLowerCase()
    if (value !== '') return isToken(`${key}_${first}`) || (SWITCHED_ON.test(value) && isToken(key))
    return key.split(',').some((token) => isToken(token) || presets.has(token.replace(/^p_/, '')))
  })
  return found && (found.value === '' ? found.name : `${found.name}=${found.value}`)
}

type Either = Transformation | ResolvedTransformation
type Effect = (stage: Stage) => Stage | Promise<Stage>

function isSet<Name extends Field>(field: Name, value: Transformation[Name]): boolean {
  const { initial } = modifiers[field]
  // Most are not: comparing them as text would take most of the time of a link.
  return value !== initial && JSON.stringify(value) !== JSON.stringify(initial)
}

const writeToken = <Name extends Field>(field: Name, value: Transformation[Name]): string | undefined =>
  isSet(field, value) ? modifiers[field].format(value) : undefined

/** The modifiers in a fixed order without initial values: equal transformations have equal texts, so it is a cache key. */
export function canonical(transformation: Either): string {
  const { accepted } = transformation
  const tokens = FIELDS.map((field) => writeToken(field, transformation[field]))
  if (accepted !== null) tokens.push(`accepted_${accepted.join('-')}`)
  return tokens.filter((token) => token !== undefined).join(',')
}

/** Whether the transformation leaves the image as it is. */
export const isIdentity = (transformation: Either): boolean => canonical(transformation) === ''

function findEffect<Name extends Field>(field: Name, value: Transformation[Name], step: Step): Effect[] {
  const { effect } = modifiers[field]
  return effect?.step === step && isSet(field, value) ? [(stage) => effect.apply(stage, value)] : []
}

/** Returns what the transformation does to pixels in a step, in canonical order. */
export const findEffects = (transformation: Either, step: Step): Effect[] =>
  FIELDS.flatMap((field) => findEffect(field, transformation[field], step))

const needsStillFor = <Name extends Field>(field: Name, value: Transformation[Name]): boolean =>
  isSet(field, value) && modifiers[field].needsStill?.(value) === true

/** Whether an animation becomes a still image. */
export const needsStill = (transformation: Either): boolean =>
  FIELDS.some((field) => needsStillFor(field, transformation[field]))

/** Whether a copy of the output is in memory while it is rendered. */
export const copiesOutput = (transformation: Either): boolean =>
  FIELDS.some((field) => modifiers[field].copiesOutput === true && isSet(field, transformation[field]))
