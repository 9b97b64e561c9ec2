import { array, constant, integer, object, string } from '../http/json-schema.ts'

/** Of the picture that ships with the package. */
export const EXAMPLE_HASH = '42j4wpd3wjumvg7ovuzuh4g5ev565hwq'
const EXAMPLE_DHASH = '0b146c94764a1c40'
const EXAMPLE_SIZES = { size: 11_352, width: 960, height: 600 }
const EXAMPLE_INFO = { name: 'catalejo.png', mime: 'image/png' }
const EXAMPLE_DATE = 1_767_202_234

const hash = string({
  pattern: '^[a-z2-7]{32}$',
  description: 'Names the image; the same bytes have the same hash',
})
const dhash = string({
  pattern: '^[0-9a-f]{16}$',
  description: '64-bit difference hash of the picture, as the ImageHash library computes it',
})
const size = integer({ description: 'Bytes of the image as uploaded' })
const width = integer({ description: 'Pixels, as a person sees it' })
const height = integer({ description: 'Pixels, as a person sees it' })
const name = string({ description: 'File name given at upload' })
const mime = string({ description: 'What the bytes are', examples: ['image/jpeg'] })
const date = integer({ description: 'Upload time, seconds since 1970-01-01 UTC' })

export const uploadBody = object(
  {
    image: string({ format: 'byte', description: 'The image in base64, standard or URL alphabet' }),
    info: object(
      {
        name: string({ maxLength: 1_024 }),
        mime: string({ maxLength: 255 }),
        ip: string({ description: 'Address of the end user who uploaded the image' }),
      },
      { description: 'What the image is' },
    ),
  },
  { examples: [{ image: 'iVBORw0KGgo…', info: { ...EXAMPLE_INFO, ip: '200.1.2.3' } }] },
)

export const uploadAnswer = object(
  { status: constant(200), hash, dhash, size, width, height },
  {
    description: 'The image is on stable storage',
    examples: [{ status: 200, hash: EXAMPLE_HASH, dhash: EXAMPLE_DHASH, ...EXAMPLE_SIZES }],
  },
)

export const getAnswer = object(
  { status: constant(200), name, hash, mime, width, height, size, date },
  {
    description: 'The image is known',
    examples: [{ status: 200, ...EXAMPLE_INFO, hash: EXAMPLE_HASH, ...EXAMPLE_SIZES, date: EXAMPLE_DATE }],
  },
)

export const deleteAnswer = object(
  { status: constant(200), hash },
  { description: 'The image is gone', examples: [{ status: 200, hash: EXAMPLE_HASH }] },
)

export const listAnswer = object(
  {
    status: constant(200),
    count: integer({ description: 'Images returned' }),
    data: array(object({ name, hash, dhash, mime, width, height, size, date })),
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
