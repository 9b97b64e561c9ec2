import { problem } from '../../http/openapi/json-schema.ts'
import { EXAMPLE_HASH } from '../schemas.ts'
import { NO_IMAGE } from './get.ts'
import { UNSIGNED } from './link-refusals.ts'

export const LOST_IMAGE = 'Los datos de la imagen se perdieron, hay que subirla de nuevo'

const IMAGE = { 'image/*': { schema: { type: 'string', format: 'binary' } } }

export const linkSchema = {
  tags: ['imagestore'],
  operationId: 'get-link',
  summary: 'A stored image, as uploaded or modified on the way',
  description: 'No key. Answers `HEAD`, `Range` and conditional requests.',
  params: {
    type: 'object',
    properties: {
      '*': {
        type: 'string',
        description:
          "The hash, with an extension or without; another format's extension converts. `&m=` and a preset or " +
          'modifiers may follow directly.',
        examples: [`${EXAMPLE_HASH}.webp&m=w_300`],
      },
    },
  },
  querystring: {
    type: 'object',
    properties: {
      m: {
        type: 'string',
        description: 'The modifier, where it is not in the path',
        examples: ['w_300,h_200,c_fill'],
      },
    },
  },
  response: {
    200: { description: 'The image', content: IMAGE },
    206: { description: 'The part of the image that `Range` asks for', content: IMAGE },
    302: { description: 'The image is at the address in `Location`', type: 'null' },
    304: { description: 'The image that the client has is the right one', type: 'null' },
    400: problem(
      'A modifier is unknown, repeated, out of range or too much for this image',
      400,
      'El modificador w_0 no es válido',
    ),
    403: problem('The application delivers its images in another way only', 403, UNSIGNED),
    404: problem('No such image', 404, NO_IMAGE),
    410: problem(
      'The link is over; or the bytes of the image are lost, and whoever uploads them again heals it',
      410,
      LOST_IMAGE,
    ),
    429: problem('Too many images are being made for this address', 429, 'Demasiadas solicitudes'),
  },
}
