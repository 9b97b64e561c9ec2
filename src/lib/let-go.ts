/** Whether nothing else stands in the memory of these bytes: they are no view on a part of a larger buffer. */
export function ownsMemory<Bytes extends Uint8Array>(bytes: Bytes): bytes is Bytes & Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength
}

/**
 * Gives the memory of bytes that nobody looks at any more back at once; afterwards they are empty. What is left to the garbage
 * collector counts as if it were on the heap, so some megabytes for each request make it walk the whole heap for each request.
 * A view on a part of a larger buffer is left alone: others may use the rest.
 */
export function letGo(bytes: Uint8Array): void {
  if (ownsMemory(bytes) && !bytes.buffer.detached) bytes.buffer.transfer(0)
}
