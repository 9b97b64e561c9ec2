import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import type { Operations } from './operations.ts'

/**
 * The objects directly under the prefix, page by page; what is further below is not blobs.
 * @param page objects asked for at a time
 */
export async function* listKeys({ client, location, operate }: Operations, page: number) {
  const { bucket, prefix } = location
  let token: string | undefined
  do {
    const answer = await operate('keys', 0, ({ signal }) =>
      client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          Delimiter: '/',
          MaxKeys: page,
          ContinuationToken: token,
        }),
        { abortSignal: signal },
      ),
    )
    for (const { Key, LastModified } of answer.Contents ?? []) {
      if (Key === undefined || Key === prefix || LastModified === undefined) continue
      yield { key: Key.slice(prefix.length), writtenAt: LastModified.getTime() }
    }
    token = answer.IsTruncated === true ? answer.NextContinuationToken : undefined
  } while (token !== undefined)
}
