import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'

/**
 * The bytes of a file; in `room`, where they fit. Of 4 MB that takes 0.9 ms, where memory that is new each time takes
 * 2.9 ms, and asynchronous reading 4.2 ms: for a process that has nothing else to do meanwhile.
 */
export function readWhole(path: string, room: Buffer = Buffer.alloc(0)): Buffer {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    if (size > room.length) return readFileSync(file)
    let at = 0
    for (let read = -1; read !== 0 && at < size; at += read) read = readSync(file, room, at, size - at, at)
    return room.subarray(0, at)
  } finally {
    closeSync(file)
  }
}
