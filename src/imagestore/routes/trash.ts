import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { answer, problem } from '../../http/openapi/json-schema.ts'
import { flag } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { imageErrors } from '../errors.ts'
import { EXAMPLE, schemaOf } from '../image-fields.ts'
import { isImageHash } from '../image-hash.ts'
import { TRASH_DAYS } from '../queries.ts'
import type { ImageStore } from '../store.ts'
import { uploaderOf } from '../uploaders.ts'
import { hashParameter } from './image.ts'

/** Moves images to the trash of their application, and back. */
export function trashRoute(app: HttpServer, shared: EndpointShared, store: ImageStore): void {
  simpleEndpoint(app, shared, {
    service: 'imagestore',
    scopes: ['upload'],
    methods: ['POST'],
    path: '/api/v1/imagestore/trash',
    parameters: { hash: hashParameter, restore: flag('Take the image out of the trash') },
    document: {
      operation: 'trashImage',
      summary: 'Move an image to the trash, or back',
      description:
        `An image in the trash is only in lists with \`trash\`, and its links answer as if it were deleted. After ${TRASH_DAYS} days ` +
        'it is deleted; until then `restore`, or an upload of the same bytes, takes it back, and the quota counts it. A key of ' +
        'scope `upload` can move what it uploaded itself, unless others of the application uploaded it too.',
      answers: {
        200: answer({ hash: schemaOf('hash'), trashed_at: schemaOf('trashed_at') }, 'The image was moved', {
          hash: EXAMPLE.hash.example,
          trashed_at: 1_767_202_234,
        }),
        403: problem('Others of the application uploaded the image, too', imageErrors.image_shared()),
        404: problem('This application has no such image', imageErrors.image_not_found()),
      },
    },

    async handle({ identity, values: { hash = '', restore } }) {
      if (!isImageHash(hash)) throw imageErrors.image_not_found()
      const moved = await store.setTrashed(identity.accountId, hash, !restore, uploaderOf(identity))
      if (moved === 'shared') throw imageErrors.image_shared()
      if (moved === undefined) throw imageErrors.image_not_found()
      await shared.audit.record(identity, restore ? 'image.restore' : 'image.trash', hash)
      return { status: 200, hash, trashed_at: moved.trashed_at }
    },
  })
}
