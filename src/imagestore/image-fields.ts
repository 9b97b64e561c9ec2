import type { JsonSchema } from '../http/openapi/json-schema.ts'

/** A field of an image: a column of `blobs` (the bytes, shared by applications) or of `images` (an application's record). */
interface ImageField<Table extends 'blobs' | 'images', Value> {
  readonly table: Table
  /** From the picture that ships with the package. */
  readonly example: Value
  /** Undefined for fields that no answer contains. */
  readonly schema: JsonSchema | undefined
}

const ofBlob = <Value>(example: Value, schema?: JsonSchema): ImageField<'blobs', Value> => ({
  table: 'blobs',
  example,
  schema,
})
const ofRecord = <Value>(example: Value, schema?: JsonSchema): ImageField<'images', Value> => ({
  table: 'images',
  example,
  schema,
})

const PIXELS = { type: 'integer', description: 'Pixels, as a person sees it' }
const EPOCH_SECONDS = 'seconds since 1970-01-01 UTC'

/** The address of an image, which the answers to applications contain besides its fields. */
export const linkField = {
  schema: {
    type: 'string',
    format: 'uri',
    description: 'Address of the image as uploaded; the delivery mode `signed` needs a signature, too',
  },
  example: 'http://127.0.0.1:8080/i/42j4wpd3wjumvg7ovuzuh4g5ev565hwq',
}

/** @param baseUrl without a slash at the end */
export const linkTo = (baseUrl: string, hash: string): string => `${baseUrl}/i/${hash}`

/** All fields of an image. Statements, answers, OpenAPI, the console's types and exports are derived from this table. */
const definitions = {
  name: ofRecord('catalejo.png', { type: 'string', description: 'File name given at upload' }),
  hash: ofBlob('42j4wpd3wjumvg7ovuzuh4g5ev565hwq', {
    type: 'string',
    pattern: '^[a-z2-7]{32}$',
    description: 'Names the image; the same bytes have the same hash',
  }),
  mime: ofBlob('image/png', { type: 'string', description: 'What the bytes are', examples: ['image/jpeg'] }),
  width: ofBlob(960, PIXELS),
  height: ofBlob(600, PIXELS),
  size: ofBlob(11_352, { type: 'integer', description: 'Bytes of the image as uploaded' }),
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
  date: ofRecord(1_767_202_234, { type: 'integer', description: `Upload time, ${EPOCH_SECONDS}` }),
  expires: ofRecord<number | null>(null, {
    type: ['integer', 'null'],
    description: `When the image expires, ${EPOCH_SECONDS}; null for never`,
  }),
  /** The key of the bytes in the blob store. */
  key: ofBlob(''),
  format: ofBlob('png'),
  frames: ofBlob(1),
  /** Address of the end user who uploaded the image; empty if unknown or erased. */
  ip: ofRecord('200.1.2.3'),
}

type Definitions = typeof definitions
export type ImageFieldName = keyof Definitions
type FieldOf<Table> = {
  [Name in ImageFieldName]: Definitions[Name] extends ImageField<infer Owner, unknown>
    ? Owner extends Table
      ? Name
      : never
    : never
}[ImageFieldName]
type ValuesOf<Name extends ImageFieldName> = { readonly [Field in Name]: Definitions[Field]['example'] }

/** The bytes that one or more applications hold, and what decoding them found. */
export type BlobRow = ValuesOf<FieldOf<'blobs'>>

/** Fields of each answer, and of the manifest of an export, in their order. */
export const ANSWER_FIELDS = {
  list: ['name', 'hash', 'mime', 'width', 'height', 'size', 'dhash', 'thumbhash', 'date', 'expires'],
  get: ['name', 'hash', 'mime', 'width', 'height', 'size', 'date', 'thumbhash', 'expires'],
  upload: ['hash', 'dhash', 'size', 'width', 'height', 'thumbhash'],
  export: ['name', 'hash', 'mime', 'date', 'expires'],
} as const satisfies Record<string, readonly ImageFieldName[]>
export type Answer = keyof typeof ANSWER_FIELDS

/** An application's record of an image with its blob, as `list` answers it. */
export type ImageRow = ValuesOf<(typeof ANSWER_FIELDS)['list'][number]>

const isField = (name: string): name is ImageFieldName => Object.hasOwn(definitions, name)
const isBlobField = (name: string): name is keyof BlobRow =>
  isField(name) && definitions[name].table === 'blobs'
const names = Object.keys(definitions)
export const BLOB_FIELDS: readonly (keyof BlobRow)[] = names.filter(isBlobField)

/** The qualified column of a field. */
export const columnOf = (name: ImageFieldName): string => `${definitions[name].table}.${name}`

/** The part of `values` that an answer contains. */
export const answerOf = <Kind extends Answer>(
  kind: Kind,
  values: Readonly<Record<(typeof ANSWER_FIELDS)[Kind][number], string | number | null>>,
): Readonly<Record<string, string | number | null>> => {
  const names: readonly (typeof ANSWER_FIELDS)[Kind][number][] = ANSWER_FIELDS[kind]
  return Object.fromEntries(names.map((name) => [name, values[name]]))
}

/** JSON Schemas of the fields of an answer. */
export const schemasOf = (kind: Answer): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(ANSWER_FIELDS[kind].map((name) => [name, schemaOf(name)]))

export function schemaOf(name: ImageFieldName): JsonSchema {
  const { schema } = definitions[name]
  if (schema === undefined) throw new Error(`${name} is in no answer`)
  return schema
}

/** Example values of the fields of an answer. */
export const exampleOf = (kind: Answer): Readonly<Record<string, string | number | null>> =>
  Object.fromEntries(ANSWER_FIELDS[kind].map((name) => [name, definitions[name].example]))

export const EXAMPLE = definitions
