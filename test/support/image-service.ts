import { after } from 'node:test'
import type { KeyLimits } from '../../src/http/auth/key-limits.ts'
import { limited } from './key-limits.ts'
import { gradient, ImageClient, stamped } from './images.ts'
import { startService, type TestService, type TestServiceOptions } from './service.ts'

const png = await gradient(30, 20).png().toBuffer()
let pictures = 0

/** A picture of 30 × 20 pixels in bytes that no other call returns. */
export const picture = (): Buffer => stamped(png, `${++pictures}`)

interface ImageService {
  readonly service: TestService
  /** A client of the account `fotos`. */
  readonly client: ImageClient
  /** A client of an account, with a key of its own. */
  readonly newClient: (account: string, limits?: Partial<KeyLimits>) => Promise<ImageClient>
}

/** Starts a service for the tests of a file, and stops it after them. */
export async function startImages(options?: TestServiceOptions): Promise<ImageService> {
  const service = await startService(options)
  after(() => service[Symbol.asyncDispose]())
  return {
    service,
    client: new ImageClient(service.url, service.imageKey),
    newClient: async (account, limits) =>
      new ImageClient(
        service.url,
        (await service.newKey(account, 'imagestore', limits && limited(limits))).key,
      ),
  }
}
