import { finished } from 'node:stream'
import type { HttpReply } from '../http/server.ts'
import { badParameter } from '../http/errors.ts'
import { jsonText, type Parameter } from '../http/parameters.ts'
import { accountClient } from '../lib/client.ts'
import { parseJson } from '../lib/json.ts'
import type { ImageDefinitions } from './definitions.ts'
import type { Delivery } from './delivery.ts'
import type { ImageHash } from './image-fields.ts'
import type { ResolveLink } from './links/resolve-link.ts'
import { MAX_MODIFIER_CHARACTERS, parseModifiers } from './modifiers/index.ts'

const MAX_LISTS = 8
/** Each waits in the turn of its application like a link, which bounds it; this ends what nobody waits for any more. */
const TIMEOUT_MS = 60_000

/** One `Accept` of each class of clients: `f_auto` depends on it. */
const ACCEPTS = ['image/avif,image/webp,*/*', 'image/webp,*/*', '*/*']

/** Lists of modifiers whose derivatives are made before anybody asks for them. */
export const eagerParameter: Parameter<readonly string[]> = {
  required: false,
  description: `Up to ${MAX_LISTS} lists of modifiers, a JSON array, whose images are made right after the upload`,
  schema: jsonText({ type: 'array', items: { type: 'string' } }),
  example: '["w_300,f_auto","w_900"]',
  parse: (text) => {
    const lists = parseJson(text)
    return Array.isArray(lists) && lists.length <= MAX_LISTS && lists.every(isList)
      ? { value: lists }
      : { takes: `debe ser una lista JSON de hasta ${MAX_LISTS} textos de modificadores` }
  },
}

const isList = (list: unknown): list is string =>
  typeof list === 'string' && list !== '' && list.length <= MAX_MODIFIER_CHARACTERS

export interface EagerOptions {
  readonly delivery: Delivery
  readonly definitions: Pick<ImageDefinitions, 'current'>
  readonly resolve: ResolveLink
  readonly failed: (error: unknown) => void
}

/** Makes derivatives of new images in the way of links, so that their first requests find them in the cache. */
export function createEager({ delivery, definitions, resolve, failed }: EagerOptions) {
  return { read, assertValid, after }

  /** Reads `eager` of `info`. @throws HttpError 400 */
  async function read(given: unknown, accountId: number): Promise<readonly string[]> {
    if (given === undefined || given === null) return []
    const parsed = eagerParameter.parse(typeof given === 'string' ? given : JSON.stringify(given))
    if ('takes' in parsed) throw badParameter('eager', parsed.takes)
    await assertValid(parsed.value, accountId)
    return parsed.value
  }

  /** @throws HttpError 400 if one of the lists is not valid for links of the application */
  async function assertValid(lists: readonly string[], accountId: number): Promise<void> {
    const grammar = await definitions.current(accountClient(accountId))
    for (const list of lists) {
      const link = parseModifiers(list, undefined, grammar)
      if (!link.ok) throw badParameter('eager', `no admite el modificador ${link.fault.token}`)
    }
  }

  /** Makes the derivatives once the answer is sent. */
  function after(reply: HttpReply, accountId: number, hash: ImageHash, lists: readonly string[]): void {
    if (lists.length === 0) return
    finished(reply.raw, () => {
      makeAll(accountId, hash, lists).catch(failed)
    })
  }

  async function makeAll(accountId: number, image: ImageHash, lists: readonly string[]): Promise<void> {
    const client = accountClient(accountId)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    for (const modifier of lists)
      for (const accept of ACCEPTS) {
        const known = await delivery.find(image, client)
        if (known === undefined) return
        const target = { image, extension: undefined, modifier, others: [] }
        const link = await resolve(target, known, { accept }, client, 'trusted')
        if (link.kind !== 'image' || link.recipe === undefined) continue
        // Without `f_auto` all classes get the same, which is in memory by then.
        await delivery.derivative(known.blob, link.recipe, { client, signal })
      }
  }
}

export type EagerDerivatives = ReturnType<typeof createEager>
