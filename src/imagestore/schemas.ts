import { Type } from 'typebox'

/** Of the picture that ships with the package. */
export const EXAMPLE_HASH = '42j4wpd3wjumvg7ovuzuh4g5ev565hwq'
const EXAMPLE_DHASH = '0b146c94764a1c40'
const EXAMPLE_SIZES = { size: 11_352, width: 960, height: 600 }
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

export const uploadBody = Type.Object(
  {
    image: Type.String({ format: 'byte', description: 'The image in base64, standard or URL alphabet' }),
    info: Type.Object(
      {
        name: Type.String({ maxLength: 1_024 }),
        mime: Type.String({ maxLength: 255 }),
        ip: Type.String({ description: 'Address of the end user who uploaded the image' }),
      },
      { description: 'What the image is' },
    ),
  },
  { examples: [{ image: 'iVBORw0KGgo…', info: { ...EXAMPLE_INFO, ip: '200.1.2.3' } }] },
)

export const uploadAnswer = Type.Object(
  { status: Type.Literal(200), hash, dhash, size, width, height },
  {
    description: 'The image is on stable storage',
    examples: [{ status: 200, hash: EXAMPLE_HASH, dhash: EXAMPLE_DHASH, ...EXAMPLE_SIZES }],
  },
)

export const getAnswer = Type.Object(
  { status: Type.Literal(200), name, hash, mime, width, height, size, date },
  {
    description: 'The image is known',
    examples: [{ status: 200, ...EXAMPLE_INFO, hash: EXAMPLE_HASH, ...EXAMPLE_SIZES, date: EXAMPLE_DATE }],
  },
)

export const deleteAnswer = Type.Object(
  { status: Type.Literal(200), hash },
  { description: 'The image is gone', examples: [{ status: 200, hash: EXAMPLE_HASH }] },
)

export const listAnswer = Type.Object(
  {
    status: Type.Literal(200),
    count: Type.Integer({ description: 'Images returned' }),
    data: Type.Array(Type.Object({ name, hash, dhash, mime, width, height, size, date })),
  },
  {
    description: "The application's own images, newest first",
    examples: [
      {
        status: 200,
        count: 1,
        data: [
          { ...EXAMPLE_INFO, hash: EXAMPLE_HASH, dhash: EXAMPLE_DHASH, ...EXAMPLE_SIZES, date: EXAMPLE_DATE },
        ],
      },
    ],
  },
)

export const problem = (description: string, status: number, msg: string) =>
  Type.Object({ status: Type.Integer(), msg: Type.String() }, { description, examples: [{ status, msg }] })
