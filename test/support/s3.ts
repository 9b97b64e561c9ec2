import assert from 'node:assert/strict'
import { parseS3Location, type S3Location } from '../../src/storage/blobs/s3/location.ts'

/** Names a real S3 store for tests, `s3://bucket?endpoint=…`; its keys are in the usual AWS variables. */
export const BLOBS_VARIABLE = 'TEST_BLOBS_URL'

/** Why tests that need a real S3 store are skipped; false when there is one. */
export const noS3 =
  process.env[BLOBS_VARIABLE] === undefined &&
  `no S3 store named by ${BLOBS_VARIABLE}: test/s3/ceph.test.ts starts one and runs this`

/** The address of a part of the store that is `name`'s own; undefined when there is no store. */
export function testBlobsUrl(name: string): string | undefined {
  const base = process.env[BLOBS_VARIABLE]
  return base?.replace(/^(s3:\/\/[^/?]+)\/?/, `$1/${name}`)
}

/** The part of the store that is `name`'s own. */
export function testLocation(name: string): S3Location {
  const location = parseS3Location(testBlobsUrl(name) ?? '')
  assert.ok(location !== undefined, `${BLOBS_VARIABLE} names no S3 store`)
  return location
}
