/**
 * Gives the memory of bytes that nobody looks at any more back at once; afterwards they are empty. What is left to the garbage
 * collector counts as if it were on the heap, so some megabytes for each request make it walk the whole heap for each request.
 * A view on a part of a larger buffer is left alone: others may use the rest.
 */
export function letGo(bytes: Uint8Array): void {
  const { buffer } = bytes
  const isOwn = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength
  if (isOwn && !buffer.detached) buffer.transfer(0)
}
