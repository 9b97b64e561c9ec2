import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { SourceFault } from '../domainwatch/index.ts'

/**
 * The bytes of a file, or of standard input, unpacked where they are compressed.
 * @param read told how many bytes were read, as they stand in the file
 * @throws SourceFault in the midst, where it cannot be read on
 */
export async function* bytesOf(
  file: string | undefined,
  read: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  async function* counted() {
    for await (const chunk of file === undefined ? process.stdin : createReadStream(file)) {
      read(chunk.byteLength)
      yield chunk
    }
  }
  try {
    yield* unzipped(counted())
  } catch (error) {
    throw new SourceFault(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Told by its first two bytes, whatever it is called (RFC 1952). */
async function* unzipped(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await source.next()
  if (first.done === true) return
  async function* whole() {
    yield first.value
    yield* source
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* whole()
  // Its fault is thrown where its output is read.
  yield* pipeline(whole(), createGunzip(), () => {})
}
