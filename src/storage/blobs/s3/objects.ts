import { paginateListObjectsV2 } from '@aws-sdk/client-s3'
import { SERVICE } from '../../../lib/client.ts'
import type { S3Location } from './location.ts'
import { S3_DEFAULTS, S3Requests } from './requests.ts'

/** Opens what others have stored below a prefix, whatever its names are and however deep they lie. */
export function openObjects(location: S3Location) {
  const requests = new S3Requests(
    location,
    S3_DEFAULTS,
    () => {},
    () => {},
  )
  const { bucket, prefix } = location
  return {
    /** Lists all objects but the marks of folders. Names are those below the prefix. */
    async *list(): AsyncGenerator<{ readonly name: string; readonly size: number }> {
      const { client } = requests
      const pages = paginateListObjectsV2(
        { client, pageSize: S3_DEFAULTS.pageSize },
        { Bucket: bucket, Prefix: prefix },
      )
      for (;;) {
        const { done, value: page } = await requests.operate('keys', 0, () => pages.next())
        if (done === true) return
        for (const { Key = '', Size = 0 } of page.Contents ?? [])
          if (!Key.endsWith('/')) yield { name: Key.slice(prefix.length), size: Size }
      }
    },
    /** Reads an object of a known size. Undefined if there is none any more. */
    read: (name: string, size: number, signal: AbortSignal): Promise<Buffer | undefined> =>
      requests.operate(
        'read',
        size,
        async (operation) => {
          const found = await requests.get(name, operation, { size })
          return found && Buffer.concat(await found.body.toArray())
        },
        { ...SERVICE, signal },
      ),
    close: () => requests.close(),
  }
}
