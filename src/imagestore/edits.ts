import { integer, jsonText, compileParameters, type Parameter } from '../http/parameters.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { hasAtMostCharacters, isDisplayName } from '../lib/text.ts'

const MAX_TAGS = 20
const MAX_TAG_CHARACTERS = 60
const MAX_META_BYTES = 1_024
const TAKES_TAG = `debe ser una etiqueta de 1 a ${MAX_TAG_CHARACTERS} caracteres, sin comas`

/** What an application adds to an image, as its columns hold it. What is absent stays as it is. */
export interface Edits {
  /** A JSON array. */
  readonly tags?: string | undefined
  /** A JSON object. */
  readonly meta?: string | undefined
  readonly focus?: string | null | undefined
  readonly public?: number | undefined
}

const isTag = (text: unknown): text is string =>
  typeof text === 'string' &&
  text !== '' &&
  !text.includes(',') &&
  isDisplayName(text) &&
  hasAtMostCharacters(text, MAX_TAG_CHARACTERS)

export const tagParameter = (description: string): Parameter<string> => ({
  required: false,
  description,
  schema: { type: 'string', minLength: 1, maxLength: MAX_TAG_CHARACTERS },
  example: 'portada',
  parse: (text) => {
    const tag = text.trim()
    return isTag(tag) ? { value: tag } : { takes: TAKES_TAG }
  },
})

/** Tags as the column holds them: a JSON array without repetitions. */
export const tagsParameter: Parameter<string> = {
  required: false,
  description: `Up to ${MAX_TAGS} tags of 1 to ${MAX_TAG_CHARACTERS} characters, separated by commas or as a JSON array; empty for none`,
  schema: jsonText({ type: 'array', items: { type: 'string' } }),
  example: 'portada,verano',
  parse: (text) => {
    const list = parseJson(text)
    const given = Array.isArray(list) ? list : text.split(',').filter((part) => part.trim() !== '')
    const tags = [...new Set(given.map((tag: unknown) => (typeof tag === 'string' ? tag.trim() : tag)))]
    return tags.length <= MAX_TAGS && tags.every(isTag)
      ? { value: JSON.stringify(tags) }
      : {
          takes: `debe tener hasta ${MAX_TAGS} etiquetas de 1 a ${MAX_TAG_CHARACTERS} caracteres, separadas por comas`,
        }
  },
}

const meta: Parameter<string> = {
  required: false,
  description: `What the application notes about the image, a JSON object of up to ${MAX_META_BYTES} bytes, in place of what it had; \`{}\` for nothing`,
  schema: jsonText({ type: 'object' }),
  example: '{"sku":"A-17"}',
  parse: (text) => {
    const value = parseJson(text)
    const json = isObject(value) ? JSON.stringify(value) : undefined
    return json !== undefined && Buffer.byteLength(json) <= MAX_META_BYTES
      ? { value: json }
      : { takes: `debe ser un objeto JSON de ${MAX_META_BYTES} bytes como máximo` }
  },
}

const SHARE = /^(?:[01]|[01]?\.\d{1,20})$/

const focus: Parameter<string | null> = {
  required: false,
  description:
    'Point `x,y` that `g_auto` keeps, in shares of width and height from 0 (left, top) to 1, to 3 decimals; empty for none',
  schema: { type: 'string', pattern: '^(?:[01]?(?:\\.\\d+)?,[01]?(?:\\.\\d+)?)?$' },
  example: '0.5,0.3',
  parse: (text) => {
    if (text === '') return { value: null }
    const shares = text.split(',').map((share) => (SHARE.test(share.trim()) ? Number(share) : NaN))
    return shares.length === 2 && shares.every((share) => share <= 1)
      ? { value: shares.map((share) => Math.round(share * 1_000) / 1_000).join(',') }
      : { takes: 'debe ser x,y: dos números de 0 a 1' }
  },
}

/** Parameters of `update`, and fields of `info` in `upload`. */
export const editParameters = {
  tags: tagsParameter,
  meta,
  focus,
  public: integer(
    '0 if links to the image have to be signed, as in the delivery mode `signed`; else 1',
    0,
    1,
  ),
}

const parseEdits = compileParameters(editParameters)

/** Reads the edits among the fields of a JSON object. @throws HttpError 400 */
export function readEdits(fields: Readonly<Record<string, unknown>>): Edits {
  const given = Object.keys(editParameters).flatMap((name) => {
    const value = fields[name] ?? undefined
    return value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]]
  })
  const parsed = parseEdits(Object.fromEntries(given))
  if (!parsed.ok) throw parsed.error
  return parsed.values
}
