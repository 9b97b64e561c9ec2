import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { S3Client, type PutObjectCommand } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import type { S3Location } from './location.ts'

const CONNECT_MS = 3_000
const KEEP_ALIVE_MS = 10_000
const NO_LOG = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** Credentials come from the usual AWS variables, files or the machine's role: the library's own search. */
export function createS3Client(location: S3Location, maxSockets: number): S3Client {
  // Gateways close idle connections at will: an idle one is given up early, before a request is lost on it.
  const agent = { keepAlive: true, maxSockets, timeout: KEEP_ALIVE_MS }
  const region = location.region ?? (location.endpoint === undefined ? undefined : 'us-east-1')
  return new S3Client({
    ...(region === undefined ? {} : { region }),
    ...(location.endpoint === undefined ? {} : { endpoint: location.endpoint }),
    forcePathStyle: location.pathStyle,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS,
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent(agent),
      logger: NO_LOG,
    }),
    // Tried again by `persist`, which can also send a file anew.
    maxAttempts: 1,
    // Its own checksums travel in trailers, which older gateways refuse with 411.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Costs a round trip and, in this library, a connection of its own for each large upload.
    expectContinueHeader: false,
    logger: NO_LOG,
  })
}

/**
 * Signs a put with its body's digest. Every store that knows version 4 signatures compares it with what arrives,
 * while checksum headers are news to many; the library itself would sign a stream as unknown.
 * @param sha256 in hexadecimal
 */
export function signDigest(command: PutObjectCommand, sha256: string): PutObjectCommand {
  command.middlewareStack.add(
    (next) => (args) => {
      const { request } = args
      if (typeof request === 'object' && request !== null && 'headers' in request) {
        Object.assign(request.headers ?? {}, { 'x-amz-content-sha256': sha256 })
      }
      return next(args)
    },
    { step: 'build', name: 'signDigest' },
  )
  return command
}
