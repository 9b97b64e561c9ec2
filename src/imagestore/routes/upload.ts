import { HttpError } from '../../lib/errors.ts'
import type { HttpServer } from '../../http/server.ts'
import { secondsOf } from '../../lib/clock.ts'
import { taskModule } from '../../lib/tasks.ts'
import { bulkEndpoint } from '../../http/endpoint.ts'
import { requestLog } from '../../http/observability.ts'
import {
  answer,
  array,
  integer,
  object,
  optional,
  problemWith,
  string,
} from '../../http/openapi/json-schema.ts'
import {
  completeInfo,
  MAX_IP_CHARACTERS,
  MAX_MIME_CHARACTERS,
  MAX_NAME_CHARACTERS,
  notInFuture,
} from '../upload-input.ts'
import { editParameters, tagsParameter } from '../edits.ts'
import { imageErrors } from '../errors.ts'
import { EXAMPLE, toExample, toSchemas } from '../image-fields.ts'
import { COUNT_DISTANCE_BITS, MAX_COUNTED_IMAGES } from '../near-duplicates/index.ts'
import { eagerParameter } from '../eager.ts'
import type { Input, Output } from '../tasks/parse-upload.ts'
import { uploaderOf } from '../uploaders.ts'
import { quotaError } from '../account-policy.ts'
import type { ImageRoutes } from './image-routes.ts'
import { imageIn, notStored, reason, refused, storeImage, toUploadAnswer } from './upload-outcome.ts'

export const PARSE_UPLOAD = taskModule('../tasks/parse-upload', import.meta)

const uploadBody = object(
  {
    image: string({ format: 'byte', description: 'Image in base64, standard or URL alphabet' }),
    info: object(
      {
        name: string({ maxLength: MAX_NAME_CHARACTERS }),
        mime: string({ maxLength: MAX_MIME_CHARACTERS }),
        ip: string({
          maxLength: MAX_IP_CHARACTERS,
          description: 'Address of the end user who uploaded the image',
        }),
        expires: optional(integer('Expiry time, in seconds since 1970-01-01 UTC')),
        tags: optional(array(string(), tagsParameter.description)),
        meta: optional({ type: 'object', description: editParameters.meta.description }),
        focus: optional({ ...editParameters.focus.schema, description: editParameters.focus.description }),
        public: optional(integer({ enum: [0, 1], description: editParameters.public.description })),
        eager: optional(array(string(), eagerParameter.description)),
      },
      'Details of the image',
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

export const uploadAnswer = answer(
  {
    ...toSchemas('upload'),
    similar: {
      type: ['integer', 'null'],
      description: `Number of other images of the application whose dhash is at a distance of ${COUNT_DISTANCE_BITS} or less, ${MAX_COUNTED_IMAGES.toLocaleString('en')} at most; null while the hashes are not in memory`,
    },
  },
  'The image is on stable storage',
  { ...toExample('upload'), similar: 0 },
)

/** The largest body of an upload: base64 takes a third more, url-encoding and line breaks some more again. */
export const maxBodyBytes = (maxImageBytes: number): number => 2 * maxImageBytes + 1024 * 1024

export function uploadRoute(app: HttpServer, images: ImageRoutes): void {
  const { eager, store, similar, clock, tasks, baseUrl, config } = images
  const maxBytes = config.maxImageBytes
  bulkEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/upload',
    scopes: ['upload'],
    bodyLimit: maxBodyBytes(maxBytes),
    parameters: {},
    ignoresUnknown: true,
    operation: 'uploadImage',
    summary: 'Upload an image',
    body: uploadBody,
    answers: {
      200: uploadAnswer,
      400: problemWith(
        { reason },
        '`info.expires` is not in the future, or another optional field of `info` is invalid',
        notInFuture(),
      ),
      401: problemWith(
        { reason },
        'The key or `info` is missing, or the image is damaged',
        refused(imageErrors.image_damaged(), 'damaged'),
        imageErrors.info_missing(),
      ),
      403: problemWith(
        { reason },
        'The key is for another service, or the application has reached its image quota or has banned the picture',
        refused(quotaError({ kind: 'full', of: 'images', max: 100, used: 100 }, true), 'quota'),
        imageErrors.image_banned(),
      ),
      ...notStored(maxBytes),
    },

    async handle({ body, identify, request, reply }) {
      const { contentType, bytes, client } = body
      const upload = await tasks.run<Input, Output>(
        PARSE_UPLOAD,
        { contentType, bytes, strips: config.strip === 1 },
        { transfer: [bytes.buffer], client },
      )
      const identity = await identify(upload.api, [])
      const { accountId } = identity
      const uploader = uploaderOf(identity)
      const { info } = upload
      if (typeof info === 'string') throw refused(imageErrors.info_missing(), info)
      const complete = completeInfo(info, secondsOf(clock))
      const lists = await eager.read(info.fields['eager'], accountId).catch((error: unknown) => {
        throw error instanceof HttpError ? refused(error, 'info') : error
      })
      const checked = { accountId, info: complete, uploader, ...imageIn(upload, maxBytes) }
      const image = await storeImage(store, checked, request, reply)
      eager.after(reply, accountId, checked.hash, lists)
      // A key that sees only its own images learns nothing of the others.
      const count = uploader === undefined ? await countSimilar(image.hash, image.dhash) : null
      return toUploadAnswer(image, baseUrl(), count)

      async function countSimilar(hash: string, dhash: string): Promise<number | null> {
        try {
          return (await similar.countSimilar(accountId, hash, dhash)) ?? null
        } catch (error) {
          // The image is stored: whatever is wrong here, that is the answer.
          requestLog(request).error({ err: error }, 'similar images could not be counted')
          return null
        }
      }
    },
  })
}
