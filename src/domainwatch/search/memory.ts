import { totalmem } from 'node:os'

const MIB = 2 ** 20
/** Of the machine's memory, for the processes that serve together. */
const PART = 1 / 4
/** What holds five million names, and, reckoned, ten million of which each was deleted. */
const LEAST = 512 * MIB
const MOST = 2_048 * MIB

/**
 * Bytes that the index may take in each of so many processes, where nothing is set: what is never needed is never taken.
 * @param machine its memory, in bytes
 */
export function usualMemory(processes: number, machine = memoryOfMachine()): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor((machine * PART) / processes)))
}

/** A container has less than the machine that it is on. */
function memoryOfMachine(): number {
  const bound = process.constrainedMemory()
  return bound > 0 ? Math.min(totalmem(), bound) : totalmem()
}
