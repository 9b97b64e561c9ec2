import { totalmem } from 'node:os'

const MIB = 2 ** 20
/** The part of the machine's memory that all serving processes take together. */
const PART = 1 / 4
/** Holds six million names. */
const MIN = 512 * MIB
const MAX = 2_048 * MIB

/**
 * The default limit of the index in each process, in bytes. Memory that is not needed is not allocated.
 * @param machine its memory, in bytes
 */
export function defaultIndexMemory(processes: number, machine = memoryOfMachine()): number {
  return Math.min(MAX, Math.max(MIN, Math.floor((machine * PART) / processes)))
}

/** A container may have less than its machine. */
function memoryOfMachine(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem()
}
