import { array, constant, integer, object, optional, string } from '../http/openapi/json-schema.ts'
import { exampleOf, EXAMPLE, EXAMPLE_HASH, schemaOf, schemasOf } from './image-fields.ts'
import { COUNT_DISTANCE_BITS, MAX_COUNTED_IMAGES } from './near-duplicates/index.ts'
import { MAX_IP_CHARACTERS, MAX_MIME_CHARACTERS, MAX_NAME_CHARACTERS } from './upload-input.ts'

const status = constant(200)
const count = integer({ description: 'Images returned' })

export const uploadBody = object(
  {
    image: string({ format: 'byte', description: 'The image in base64, standard or URL alphabet' }),
    info: object(
      {
        name: string({ maxLength: MAX_NAME_CHARACTERS }),
        mime: string({ maxLength: MAX_MIME_CHARACTERS }),
        ip: string({
          maxLength: MAX_IP_CHARACTERS,
          description: 'Address of the end user who uploaded the image',
        }),
        expires: optional(
          integer({ description: 'When the image is to be gone, seconds since 1970-01-01 UTC' }),
        ),
      },
      { description: 'What the image is' },
    ),
  },
  {
    examples: [
      {
        image: 'iVBORw0KGgo…',
        info: { name: EXAMPLE.name.example, mime: EXAMPLE.mime.example, ip: EXAMPLE.ip.example },
      },
    ],
  },
)

export const uploadAnswer = object(
  {
    status,
    ...schemasOf('upload'),
    similar: {
      type: ['integer', 'null'],
      description: `Other own images whose dhash is at a distance of ${COUNT_DISTANCE_BITS} or less, ${MAX_COUNTED_IMAGES.toLocaleString('en')} at most; null while they are not in memory`,
    },
  },
  {
    description: 'The image is on stable storage',
    examples: [{ status: 200, ...exampleOf('upload'), similar: 0 }],
  },
)

export const getAnswer = object(
  { status, ...schemasOf('get') },
  { description: 'The image is known', examples: [{ status: 200, ...exampleOf('get') }] },
)

export const deleteAnswer = object(
  { status, hash: schemaOf('hash') },
  { description: 'The image is gone', examples: [{ status: 200, hash: EXAMPLE_HASH }] },
)

export const listAnswer = object(
  {
    status,
    count,
    data: array(
      object({
        ...schemasOf('list'),
        duplicates: optional(
          integer({ description: 'With `group`: number of other images with the same dhash' }),
        ),
      }),
    ),
  },
  {
    description: "The application's own images, newest first",
    examples: [{ status: 200, count: 1, data: [exampleOf('list')] }],
  },
)

export const similarAnswer = object(
  {
    status,
    count,
    dhash: { ...schemaOf('dhash'), description: 'What they were compared with' },
    data: array(
      object({ ...schemasOf('list'), distance: integer({ description: 'Bits of the dhash that differ' }) }),
    ),
  },
  {
    description: "The application's own images that look alike, nearest first",
    examples: [
      {
        status: 200,
        count: 1,
        dhash: EXAMPLE.dhash.example,
        data: [{ ...exampleOf('list'), distance: 0 }],
      },
    ],
  },
)

const images = integer({ description: 'Images' })
const bytes = integer({ description: 'Bytes of images as uploaded' })
const usageExample = { images: 1, bytes: EXAMPLE.size.example }

export const statsAnswer = object(
  {
    status,
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
    kinds: array(object({ mime: schemaOf('mime'), images, bytes })),
    days: array(
      object({ day: string({ format: 'date', description: 'Of the upload, in UTC' }), images, bytes }),
    ),
  },
  {
    description: 'What the application holds now',
    examples: [
      {
        status: 200,
        ...usageExample,
        max_images: 100_000,
        max_bytes: null,
        derivatives: { bytes: 49_152, max_bytes: 1_073_741_824 },
        kinds: [{ mime: EXAMPLE.mime.example, ...usageExample }],
        days: [{ day: '2025-12-31', ...usageExample }],
      },
    ],
  },
)
