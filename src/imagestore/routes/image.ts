import type { HttpServer } from '../../http/server.ts'
import { secondsOf } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import { VersionedCache } from '../../storage/database/database.ts'
import type { Identity } from '../../http/auth/authenticator.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { flag, text, type Parameter } from '../../http/parameters.ts'
import { answer, problem } from '../../http/openapi/json-schema.ts'
import { editParameters } from '../edits.ts'
import {
  isImageHash,
  type ImageHash,
  EXAMPLE,
  schemaOf,
  toAnswer,
  toExample,
  toSchemas,
} from '../image-fields.ts'
import { imageErrors } from '../errors.ts'
import { findImage, TRASH_DAYS } from '../queries.ts'
import { nameParameter, notInFuture, timeParameter } from '../upload-input.ts'
import { uploaderOf } from '../image-records.ts'
import type { ImageRoutes } from '../open.ts'

/** Accepts any text: a hash without an image is a 404, not a 400. */
export const hashParameter = {
  ...text('Hash of the image', 65_536),
  required: true,
  example: EXAMPLE.hash.example,
}

const getAnswer = answer(toSchemas('get'), 'The image is known', toExample('get'))

/** Cached answers, some 200 bytes each. */
const MAX_ANSWERS = 20_000

interface Kept {
  readonly answer: Buffer
  readonly expires: number | null
}

export function getRoute(app: HttpServer, images: ImageRoutes): void {
  const { database, baseUrl, clock } = images
  const answers = new VersionedCache<Kept>(database, 'image', MAX_ANSWERS)

  const keyOf = (identity: Identity, hash: ImageHash) =>
    `${identity.accountId} ${hash} ${uploaderOf(identity) ?? ''}`

  async function load(key: string, identity: Identity, hash: ImageHash): Promise<Buffer> {
    const client = accountClient(identity.accountId)
    const kept = await answers.get(key, async () => {
      const image = await database
        .readerOf(client)
        .first(findImage(identity.accountId, hash, uploaderOf(identity)))
      if (image === undefined || image.trashed_at !== null) return undefined
      const answer = Buffer.from(JSON.stringify({ status: 200, ...toAnswer('get', image, baseUrl()) }))
      return { answer, expires: image.expires }
    })
    if (kept === undefined) throw imageErrors.image_not_found()
    return unlessExpired(kept)
  }

  function unlessExpired({ answer, expires }: Kept): Buffer {
    if (expires !== null && expires <= secondsOf(clock)) throw imageErrors.image_not_found()
    return answer
  }

  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/get',
    scopes: ['read', 'upload'],
    ignoresUnknown: true,
    parameters: { hash: hashParameter },
    operation: 'getImage',
    summary: 'Get the details of an image',
    description: 'A key of scope `upload` only gets images that it uploaded itself.',
    answers: {
      200: getAnswer,
      401: problem('The key or `hash` is missing', imageErrors.hash_missing()),
      404: problem('This application has no such image', imageErrors.image_not_found()),
    },

    handle({ identity, values: { hash } }) {
      if (hash === undefined || hash === '') throw imageErrors.hash_missing()
      if (!isImageHash(hash)) throw imageErrors.image_not_found()
      const key = keyOf(identity, hash)
      const kept = answers.peek(key)
      return kept === undefined ? load(key, identity, hash) : unlessExpired(kept)
    },
  })
}

const time = timeParameter('Expiry time')

const expires: Parameter<number | null> = {
  required: false,
  description: 'Expiry time, in seconds since 1970-01-01 UTC; empty for never',
  schema: { type: ['integer', 'string'] },
  example: 1_893_456_000,
  parse: (text) => (text === '' ? { value: null } : time.parse(text)),
}

export function updateRoute(app: HttpServer, images: ImageRoutes): void {
  const { store, baseUrl, clock } = images
  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/update',
    scopes: ['upload'],
    parameters: { hash: hashParameter, name: nameParameter('New name'), expires, ...editParameters },
    operation: 'updateImage',
    summary: 'Edit an image',
    description:
      'Changes only the given fields, and returns the details as `get` does. A key of scope `upload` edits what it uploaded itself, unless others of the ' +
      'application uploaded it too.',
    answers: {
      200: { ...getAnswer, description: 'Details of the image after the change' },
      400: problem('A parameter is invalid', notInFuture()),
      403: problem('Another key of the application uploaded the image too', imageErrors.image_shared()),
      404: problem('This application has no such image', imageErrors.image_not_found()),
    },

    async handle({ identity, values: { hash = '', ...changes } }) {
      if (typeof changes.expires === 'number' && changes.expires <= secondsOf(clock)) throw notInFuture()
      if (!isImageHash(hash)) throw imageErrors.image_not_found()
      const image = await store.update(identity.accountId, hash, changes, uploaderOf(identity))
      if (image === 'shared') throw imageErrors.image_shared()
      if (image === undefined) throw imageErrors.image_not_found()
      return { status: 200, ...toAnswer('get', image, baseUrl()) }
    },
  })
}

const deleteAnswer = answer({ hash: schemaOf('hash') }, 'The image is gone', { hash: EXAMPLE.hash.example })

export function deleteRoute(app: HttpServer, images: ImageRoutes): void {
  const { audit, store } = images
  simpleEndpoint(app, images, {
    route: 'DELETE /api/v1/imagestore/delete',
    alias: 'POST',
    scopes: ['upload'],
    parameters: { hash: hashParameter },
    operation: 'deleteImage',
    summary: 'Delete an image',
    description:
      'The public link stops working, unless another application holds the same bytes. A key of scope `upload` ' +
      'deletes what it uploaded itself; what others of the application uploaded too stays for them. Deletes finally, also an image in ' +
      'the trash.',
    answers: {
      200: deleteAnswer,
      404: problem('This application has no such image', imageErrors.image_not_found()),
    },

    async handle({ identity, values: { hash } }) {
      const removed =
        hash !== undefined &&
        isImageHash(hash) &&
        (await store.remove(identity.accountId, hash, uploaderOf(identity)))
      if (!removed) throw imageErrors.image_not_found()
      await audit.record(identity, 'image.delete', hash)
      return { status: 200, hash }
    },
  })
}

export function trashRoute(app: HttpServer, images: ImageRoutes): void {
  const { audit, store } = images
  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/trash',
    scopes: ['upload'],
    parameters: { hash: hashParameter, restore: flag('Take the image out of the trash') },
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

    async handle({ identity, values: { hash = '', restore } }) {
      if (!isImageHash(hash)) throw imageErrors.image_not_found()
      const moved = await store.setTrashed(identity.accountId, hash, !restore, uploaderOf(identity))
      if (moved === 'shared') throw imageErrors.image_shared()
      if (moved === undefined) throw imageErrors.image_not_found()
      await audit.record(identity, restore ? 'image.restore' : 'image.trash', hash)
      return { status: 200, hash, trashed_at: moved.trashed_at }
    },
  })
}
