import { array, constant, integer, object, optional, string } from '../http/openapi/json-schema.ts'

/** Of the picture that ships with the package. */
export const EXAMPLE_HASH = '42j4wpd3wjumvg7ovuzuh4g5ev565hwq'
const EXAMPLE_DHASH = '0b146c94764a1c40'
const EXAMPLE_SIZES = { size: 11_352, width: 960, height: 600 }
const EXAMPLE_INFO = { name: 'catalejo.png', mime: 'image/png' }
const EXAMPLE_DATE = 1_767_202_234
const EXAMPLE_THUMBHASH = 'ELcJFIJ2aXl6h3eAeIYFZFIQhg=='
const EXAMPLE_REST = { date: EXAMPLE_DATE, thumbhash: EXAMPLE_THUMBHASH, expires: null }
const EXAMPLE_IMAGE = {
  ...EXAMPLE_INFO,
  hash: EXAMPLE_HASH,
  dhash: EXAMPLE_DHASH,
  ...EXAMPLE_SIZES,
  ...EXAMPLE_REST,
}

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
const thumbhash = {
  type: ['string', 'null'],
  description:
    'ThumbHash of the picture in base64, a placeholder while it loads; null for what was stored before there was one',
}
const expires = {
  type: ['integer', 'null'],
  description: 'When the image is gone, seconds since 1970-01-01 UTC; null for never',
}
const date = integer({ description: 'Upload time, seconds since 1970-01-01 UTC' })

const IMAGE = { name, hash, dhash, mime, width, height, size, date, thumbhash, expires }

export const uploadBody = object(
  {
    image: string({ format: 'byte', description: 'The image in base64, standard or URL alphabet' }),
    info: object(
      {
        name: string({ maxLength: 1_024 }),
        mime: string({ maxLength: 255 }),
        ip: string({ description: 'Address of the end user who uploaded the image' }),
        expires: optional(
          integer({ description: 'When the image is to be gone, seconds since 1970-01-01 UTC' }),
        ),
      },
      { description: 'What the image is' },
    ),
  },
  { examples: [{ image: 'iVBORw0KGgo…', info: { ...EXAMPLE_INFO, ip: '200.1.2.3' } }] },
)

export const uploadAnswer = object(
  {
    status: constant(200),
    hash,
    dhash,
    size,
    width,
    height,
    thumbhash,
    similar: {
      type: ['integer', 'null'],
      description:
        'Other own images whose dhash is at a distance of 4 or less, 1,000 at most; null while they are not in memory',
    },
  },
  {
    description: 'The image is on stable storage',
    examples: [
      {
        status: 200,
        hash: EXAMPLE_HASH,
        dhash: EXAMPLE_DHASH,
        ...EXAMPLE_SIZES,
        thumbhash: EXAMPLE_THUMBHASH,
        similar: 0,
      },
    ],
  },
)

export const getAnswer = object(
  { status: constant(200), name, hash, mime, width, height, size, date, thumbhash, expires },
  {
    description: 'The image is known',
    examples: [{ status: 200, ...EXAMPLE_INFO, hash: EXAMPLE_HASH, ...EXAMPLE_SIZES, ...EXAMPLE_REST }],
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
    data: array(
      object({
        ...IMAGE,
        duplicates: optional(
          integer({ description: 'With `group`: own images with the same dhash, but for this one' }),
        ),
      }),
    ),
  },
  {
    description: "The application's own images, newest first",
    examples: [
      {
        status: 200,
        count: 1,
        data: [EXAMPLE_IMAGE],
      },
    ],
  },
)

export const similarAnswer = object(
  {
    status: constant(200),
    count: integer({ description: 'Images returned' }),
    dhash: string({ pattern: '^[0-9a-f]{16}$', description: 'What they were compared with' }),
    data: array(object({ ...IMAGE, distance: integer({ description: 'Bits of the dhash that differ' }) })),
  },
  {
    description: "The application's own images that look alike, nearest first",
    examples: [{ status: 200, count: 1, dhash: EXAMPLE_DHASH, data: [{ ...EXAMPLE_IMAGE, distance: 0 }] }],
  },
)

const images = integer({ description: 'Images' })
const bytes = integer({ description: 'Bytes of images as uploaded' })

export const statsAnswer = object(
  {
    status: constant(200),
    images,
    bytes,
    max_images: {
      type: ['integer', 'null'],
      description: 'Most images the application may have; null for no bound',
    },
    max_bytes: { type: ['integer', 'null'], description: 'Most bytes of them; null for no bound' },
    derivatives: object({
      bytes: {
        type: 'integer',
        description:
          'What modified images of all applications take on the disk of the machine that answers, as of the last look at most an hour ago',
      },
      max_bytes: { type: 'integer', description: 'What they may take; the least used make room' },
    }),
    kinds: array(object({ mime, images, bytes })),
    days: array(
      object({ day: string({ format: 'date', description: 'Of the upload, in UTC' }), images, bytes }),
    ),
  },
  {
    description: 'What the application holds now',
    examples: [
      {
        status: 200,
        images: 1,
        bytes: EXAMPLE_SIZES.size,
        max_images: 100_000,
        max_bytes: null,
        derivatives: { bytes: 49_152, max_bytes: 1_073_741_824 },
        kinds: [{ mime: EXAMPLE_INFO.mime, images: 1, bytes: EXAMPLE_SIZES.size }],
        days: [{ day: '2025-12-31', images: 1, bytes: EXAMPLE_SIZES.size }],
      },
    ],
  },
)
