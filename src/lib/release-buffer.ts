/** Whether the bytes are a whole `ArrayBuffer`, not a view of part of a larger one. */
export function ownsBuffer<Bytes extends Uint8Array>(bytes: Bytes): bytes is Bytes & Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength
}

/**
 * Frees the memory of bytes that are no longer used; the array is empty afterwards. V8 counts external memory like heap, so
 * megabytes left to the collector by each request would trigger a full collection for each request. Does nothing to a view
 * of part of a larger buffer, because others may use the rest.
 */
export function releaseBuffer(bytes: Uint8Array): void {
  if (ownsBuffer(bytes) && !bytes.buffer.detached) bytes.buffer.transfer(0)
}
