import { Type } from 'typebox'

/** Of the picture that ships with the package. */
export const EXAMPLE_HASH = 'HASHHERE'
const EXAMPLE = { hash: EXAMPLE_HASH, dhash: 'DHASHHERE', width: 0, height: 0, size: 0 }
const EXAMPLE_INFO = { name: 'catalejo.png', mime: 'image/png' }
const EXAMPLE_DATE = 1_767_202_234

const hash = Type.String({
  pattern: '^[a-z2-7]{32}$',
  description: 'Names the image; the same bytes have the same hash',
})
const dhash = Type.String({
  pattern: '^[0-9a-f]{16}$',
  description: '64-bit difference hash of the picture, as the ImageHash library computes it',
})
const size = Type.Integer({ description: 'Bytes of the image as uploaded' })
const width = Type.Integer({ description: 'Pixels, as a person sees it' })
const height = Type.Integer({ description: 'Pixels, as a person sees it' })
const name = Type.String({ description: 'File name given at upload' })
const mime = Type.String({ description: 'What the bytes are', examples: ['image/jpeg'] })
const date = Type.Integer({ description: 'Upload time, seconds since 1970-01-01 UTC' })

export const uploadBody = Type.Object({
  image: Type.String({
    description: 'The image in base64 (standard or URL alphabet); in multipart also a file part',
  }),
  info: Type.Object(
    {
      name: Type.String({ maxLength: 1_024 }),
      mime: Type.String({ maxLength: 255 }),
      ip: Type.String({ description: 'Address of the end user who uploaded the image' }),
    },
    { description: 'As an object, or as a string that holds one' },
  ),
})

export const uploadAnswer = Type.Object(
  { status: Type.Literal(200), hash, dhash, size, width, height },
  { description: 'The image is on stable storage' },
)

export const getAnswer = Type.Object(
  { status: Type.Literal(200), name, hash, mime, width, height, size, date },
  { description: 'The image is known' },
)

export const deleteAnswer = Type.Object(
  { status: Type.Literal(200), hash },
  { description: 'The image is gone' },
)

export const listAnswer = Type.Object(
  {
    status: Type.Literal(200),
    count: Type.Integer({ description: 'Images returned' }),
    data: Type.Array(Type.Object({ name, hash, dhash, mime, width, height, size, date })),
  },
  { description: "The application's own images, newest first" },
)

export const problem = (description: string, status: number, msg: string) =>
  Type.Object({ status: Type.Integer(), msg: Type.String() }, { description, examples: [{ status, msg }] })
