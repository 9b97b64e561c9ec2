import { hash } from 'node:crypto'
import type { JsonSchema } from '../http/openapi/json-schema.ts'
import { thumbHashToAverageRGBA } from 'thumbhash'

/** The name of an image: the first 160 bits of the SHA-256 of its bytes, in 32 base32 characters. */
export type ImageHash = string & { readonly __brand: 'ImageHash' }

/** RFC 4648, section 6, in lower case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const HASH_BYTES = 20
const HASH_CHARACTERS = 32

export function hashOf(bytes: Uint8Array): ImageHash {
  return hashOfDigest(hash('sha256', bytes, 'buffer'))
}

/** @param digest SHA-256 of an image's bytes */
export function hashOfDigest(digest: Buffer): ImageHash {
  const bits = BigInt(`0x${digest.toString('hex', 0, HASH_BYTES)}`)
  const digits = bits.toString(32).padStart(HASH_CHARACTERS, '0')
  return digits.replace(/./g, (digit) => BASE32.charAt(parseInt(digit, 32))) as ImageHash
}

export function isImageHash(text: string): text is ImageHash {
  return /^[a-z2-7]{32}$/.test(text)
}

/**
 * Fields are columns of `blobs` (the bytes, shared by applications) or of `images` (an application's record). Examples are from the
 * picture that ships with the package; a field without a schema is in no answer.
 */
const ofBlob = <Value>(example: Value, schema?: JsonSchema) => ({ table: 'blobs', example, schema }) as const
const ofRecord = <Value>(example: Value, schema?: JsonSchema) =>
  ({ table: 'images', example, schema }) as const

const PIXELS = { type: 'integer', description: 'Pixel size after applying EXIF orientation' }
const EPOCH_SECONDS = 'seconds since 1970-01-01 UTC'

/** @param baseUrl without a slash at the end */
const linkTo = (baseUrl: string, hash: string): string => `${baseUrl}/i/${hash}`

/** All fields of an image. Statements, answers, OpenAPI, the console's types and exports are derived from this table. */
const definitions = {
  name: ofRecord('catalejo.png', { type: 'string', description: 'File name given at upload' }),
  hash: ofBlob('42j4wpd3wjumvg7ovuzuh4g5ev565hwq', {
    type: 'string',
    pattern: '^[a-z2-7]{32}$',
    description: 'Hash of the bytes, which identifies the image',
  }),
  mime: ofBlob('image/png', {
    type: 'string',
    description: 'Media type of the bytes',
    examples: ['image/jpeg'],
  }),
  width: ofBlob(960, PIXELS),
  height: ofBlob(600, PIXELS),
  size: ofBlob(11_352, { type: 'integer', description: 'Size of the image as uploaded, in bytes' }),
  dhash: ofBlob('0b146c94764a1c40', {
    type: 'string',
    pattern: '^[0-9a-f]{16}$',
    description: '64-bit difference hash of the picture, as the ImageHash library computes it',
  }),
  /** Base64; null for images of versions before 0.1. */
  thumbhash: ofBlob<string | null>('ELcJFIJ2aXl6h3eAeIYFZFIQhg==', {
    type: ['string', 'null'],
    description:
      'ThumbHash of the picture in base64, a placeholder while it loads; null for images stored without one',
  }),
  /** Null for images stored before it existed. */
  color: ofBlob<string | null>('#264b51', {
    type: ['string', 'null'],
    pattern: '^#[0-9a-f]{6}$',
    description: 'Mean colour of the opaque pixels; null if there are none',
  }),
  date: ofRecord(1_767_202_234, { type: 'integer', description: `Upload time, in ${EPOCH_SECONDS}` }),
  expires: ofRecord<number | null>(null, {
    type: ['integer', 'null'],
    description: `Expiry time, in ${EPOCH_SECONDS}; null for never`,
  }),
  /** A JSON array. */
  tags: ofRecord('["portada"]', { type: 'array', items: { type: 'string' }, description: 'Tags' }),
  /** A JSON object. */
  meta: ofRecord('{"sku":"A-17"}', {
    type: 'object',
    additionalProperties: true,
    description: 'Notes of the application about the image',
  }),
  focus: ofRecord<string | null>('0.5,0.3', {
    type: ['string', 'null'],
    description: 'Point `x,y` that `g_auto` keeps, as fractions of width and height; null if none is set',
  }),
  public: ofRecord(1, {
    type: 'integer',
    enum: [0, 1],
    description: 'Whether links to the image work without a signature (1) or have to be signed (0)',
  }),
  /** The key of the bytes in the blob store. */
  key: ofBlob(''),
  format: ofBlob('png'),
  frames: ofBlob(1),
  /** Null if it is not in the trash. */
  trashed_at: ofRecord<number | null>(null, {
    type: ['integer', 'null'],
    description: `Time when the image was moved to the trash, ${EPOCH_SECONDS}; null if it is not there`,
  }),
  /** Address of the end user who uploaded the image; empty if unknown or erased. */
  ip: ofRecord('200.1.2.3'),
}

type Definitions = typeof definitions
export type ImageFieldName = keyof Definitions
type FieldOf<Table> = {
  [Name in ImageFieldName]: Definitions[Name]['table'] extends Table ? Name : never
}[ImageFieldName]
type ValuesOf<Name extends ImageFieldName> = { readonly [Field in Name]: Definitions[Field]['example'] }

/** The bytes that one or more applications hold, and what decoding them found. */
export type BlobRow = ValuesOf<FieldOf<'blobs'>>

/** What applications add to an image. */
const EDITED = ['tags', 'meta', 'focus', 'public'] as const

const BASIC = ['name', 'hash', 'mime', 'width', 'height', 'size'] as const

/** Fields of each answer, and of the manifest of an export, in their order. */
export const ANSWER_FIELDS = {
  list: [...BASIC, 'dhash', 'thumbhash', 'date', 'expires', 'color', ...EDITED],
  get: [...BASIC, 'date', 'thumbhash', 'expires', 'color', ...EDITED],
  upload: ['hash', 'dhash', 'size', 'width', 'height', 'thumbhash', 'color', ...EDITED],
  export: ['name', 'hash', 'mime', 'date', 'expires', ...EDITED],
} as const satisfies Record<string, readonly ImageFieldName[]>
export type Answer = keyof typeof ANSWER_FIELDS

/** An application's record of an image with its blob, as `list` answers it. */
export type ImageRow = ValuesOf<(typeof ANSWER_FIELDS)['list'][number]>

const isField = (name: string): name is ImageFieldName => Object.hasOwn(definitions, name)
const isBlobField = (name: string): name is keyof BlobRow =>
  isField(name) && definitions[name].table === 'blobs'
const names = Object.keys(definitions)
export const BLOB_FIELDS: readonly (keyof BlobRow)[] = names.filter(isBlobField)

export const columnOf = (name: ImageFieldName): string => `${definitions[name].table}.${name}`

/** The part of a row that an answer or a manifest contains. */
export const toFields = (kind: Answer, row: ImageRow): Readonly<Record<string, unknown>> =>
  Object.fromEntries(ANSWER_FIELDS[kind].map((name) => [name, fromColumn(name, row[name])]))

const fromColumn = (name: ImageFieldName, value: string | number | null): unknown =>
  (name === 'tags' || name === 'meta') && typeof value === 'string' ? JSON.parse(value) : value

/** An image as an answer to its application describes it. @param baseUrl without a slash at the end */
export function toAnswer(kind: Exclude<Answer, 'export'>, row: ImageRow, baseUrl: string) {
  const color = row.color ?? colorOf(row.thumbhash)
  return { ...toFields(kind, row), color, dark: isDark(color), link: linkTo(baseUrl, row.hash) }
}

/** JSON Schemas of the properties of an answer. */
export const toSchemas = (kind: Answer): Readonly<Record<string, JsonSchema>> => ({
  ...Object.fromEntries(ANSWER_FIELDS[kind].map((name) => [name, schemaOf(name)])),
  dark: {
    type: ['integer', 'null'],
    enum: [0, 1, null],
    description: 'Whether `color` is dark (1); null without `color`',
  },
  link: {
    type: 'string',
    format: 'uri',
    description:
      'Address of the image as uploaded; links to private images and in the delivery mode `signed` need a signature as well',
  },
})

export function schemaOf(name: ImageFieldName): JsonSchema {
  const { schema } = definitions[name]
  if (schema === undefined) throw new Error(`${name} is in no answer`)
  return schema
}

/** Example of the properties of an answer. */
export const toExample = (kind: Answer): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(
    ANSWER_FIELDS[kind].map((name) => [name, fromColumn(name, definitions[name].example)]),
  ),
  dark: 1,
  link: linkTo('http://127.0.0.1:8080', definitions.hash.example),
})

export const EXAMPLE = definitions

const hex = (value: number) => Math.round(value).toString(16).padStart(2, '0')

/** @param rgb from 0 to 255 */
export const toColor = (...rgb: readonly [red: number, green: number, blue: number]): string =>
  `#${rgb.map(hex).join('')}`

/** The mean colour that a ThumbHash holds, of images that were stored without one. It differs by a few levels. */
function colorOf(thumbhash: string | null): string | null {
  if (thumbhash === null) return null
  const { r, g, b, a } = thumbHashToAverageRGBA(Buffer.from(thumbhash, 'base64'))
  return a === 0 ? null : toColor(255 * r, 255 * g, 255 * b)
}

/** 1 for colours whose luma (ITU-R 601) is in the lower half. */
function isDark(color: string | null): 0 | 1 | null {
  if (color === null) return null
  const [red = 0, green = 0, blue = 0] = Buffer.from(color.slice(1), 'hex')
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128 ? 1 : 0
}
