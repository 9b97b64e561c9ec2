import { ByteBudget, type ByteHold } from '../../lib/byte-budget.ts'
import type { Client } from '../../lib/client.ts'
import { isOverload } from '../../lib/errors.ts'
import { POOLS } from '../../lib/limits.ts'

const { bytes: LARGE_BYTES, reservedBytes: RESERVED_BYTES, smallBytes: SMALL_BYTES } = POOLS.bodies
/** A process that has a fraction of it gets no less. */
const MIN_RESERVED_BYTES = 1024 * 1024

/** Minimum transfer rate of a body. */
export interface MinTransferRate {
  /** Average in each window; 0 for no limit. */
  readonly bytesPerSecond: number
  readonly windowMs: number
}

interface BodyBudgetOptions {
  readonly minRate: MinTransferRate
  /** The largest body of any endpoint. */
  readonly largestBody: number
  /** The fraction of the memory that this process may use, up to 1. */
  readonly memoryFraction: number
}

/** Memory for bodies that are being received or processed. */
export type BodyBudget = ReturnType<typeof createBodyBudget>

/** The memory that one body holds. */
export type BodyMemory = ReturnType<BodyBudget['open']>

export function createBodyBudget({ minRate, largestBody, memoryFraction }: BodyBudgetOptions) {
  const small = new ByteBudget(Math.max(MIN_RESERVED_BYTES, RESERVED_BYTES * memoryFraction))
  const large = new ByteBudget(Math.max(largestBody, LARGE_BYTES * memoryFraction), largestBody)
  return { minRate, open }

  function open(client: Client) {
    let bytes = 0
    let hold: ByteHold | undefined
    const memory = {
      client,
      /** Called when it was given to another client. */
      onDisplaced: () => {},

      /** @throws OverloadError if there is no memory for `more` bytes */
      grow(more: number): void {
        bytes += more
        if (bytes - more > SMALL_BYTES) hold?.grow(more)
        else charge()
      },

      /** Marks the body as received: it is not displaced any more. */
      pin(): void {
        hold?.pin()
      },

      /** Charges the client whose key was found in the received body. */
      assignTo(owner: Client): void {
        if (owner === memory.client) return
        memory.client = owner
        charge()
        memory.pin()
      },

      /** Calling it again has no effect. */
      release(): void {
        hold?.release()
      },
    }
    return memory

    function charge(): void {
      memory.release()
      if (bytes <= SMALL_BYTES) {
        // Small bodies do not displace each other: they use the memory of large ones.
        hold = small.open(memory.client, () => {})
        hold.pin()
        try {
          return hold.grow(bytes)
        } catch (error) {
          if (!isOverload(error)) throw error
        }
      }
      hold = large.open(memory.client, () => memory.onDisplaced())
      hold.grow(bytes)
    }
  }
}
