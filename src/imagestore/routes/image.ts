import type { HttpServer } from '../../http/server.ts'
import { secondsOf, type Clock } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import type { Database } from '../../storage/database/database.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import type { Identity } from '../../http/auth/authenticator.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { text } from '../../http/parameters.ts'
import { answer, problem } from '../../http/openapi/json-schema.ts'
import { isImageHash, type ImageHash } from '../image-hash.ts'
import { imageErrors } from '../errors.ts'
import { findImage } from '../queries.ts'
import type { ImageStore } from '../store.ts'
import { uploaderOf } from '../uploaders.ts'
import { EXAMPLE, schemaOf, toAnswer, toExample, toSchemas } from '../image-fields.ts'

/** Accepts any text: a hash without an image is a 404, not a 400. */
export const hashParameter = {
  ...text('Hash of the image', 65_536),
  required: true,
  example: EXAMPLE.hash.example,
}

export const getAnswer = answer(toSchemas('get'), 'The image is known', toExample('get'))

/** Cached answers, some 200 bytes each. */
const MAX_ANSWERS = 20_000

interface Kept {
  readonly answer: Buffer
  readonly expires: number | null
}

export function getRoute(
  app: HttpServer,
  shared: EndpointShared,
  database: Database,
  baseUrl: () => string,
  clock: Clock,
) {
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

  simpleEndpoint(app, shared, {
    service: 'imagestore',
    scopes: ['read', 'upload'],
    methods: ['GET'],
    path: '/api/v1/imagestore/get',
    ignoresUnknown: true,
    parameters: { hash: hashParameter },
    document: {
      operation: 'getImage',
      summary: 'Get the details of an image',
      description: 'A key of scope `upload` only gets images that it uploaded itself.',
      answers: {
        200: getAnswer,
        401: problem('The key or `hash` is missing', imageErrors.hash_missing()),
        404: problem('This application has no such image', imageErrors.image_not_found()),
      },
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

const deleteAnswer = answer({ hash: schemaOf('hash') }, 'The image is gone', { hash: EXAMPLE.hash.example })

export function deleteRoute(app: HttpServer, shared: EndpointShared, store: ImageStore) {
  simpleEndpoint(app, shared, {
    service: 'imagestore',
    scopes: ['upload'],
    methods: ['DELETE', 'POST'],
    path: '/api/v1/imagestore/delete',
    parameters: { hash: hashParameter },
    document: {
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
    },

    async handle({ identity, values: { hash } }) {
      const removed =
        hash !== undefined &&
        isImageHash(hash) &&
        (await store.remove(identity.accountId, hash, uploaderOf(identity)))
      if (!removed) throw imageErrors.image_not_found()
      await shared.audit.record(identity, 'image.delete', hash)
      return { status: 200, hash }
    },
  })
}
