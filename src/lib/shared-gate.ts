import { isAddress, type Client } from './client.ts'
import { Gate, type GateOptions, type Leave } from './gate.ts'

/**
 * A gate for accounts and addresses. Addresses pass a gate of their own first and then count as one client, because anyone can
 * have many of them.
 */
export class SharedGate {
  readonly #addresses: Gate
  readonly #all: Gate

  /** @param perAddress running tasks of one address; by default as many as of any client */
  constructor(options: GateOptions, perAddress = options.perClient) {
    this.#addresses = new Gate({ ...options, ...(perAddress !== undefined && { perClient: perAddress }) })
    this.#all = new Gate(options)
  }

  get running(): number {
    return this.#all.running
  }

  get waiting(): number {
    return this.#addresses.waiting + this.#all.waiting
  }

  /** Runs a task in the turn of its client, as `Gate` does. */
  run<T>(client: Client, task: () => Promise<T>, signal?: AbortSignal, weight?: number): Promise<T> {
    const inTurn = (one: Client) => this.#all.run(one, task, signal, weight)
    if (!isAddress(client)) return inTurn(client)
    return this.#addresses.run(client, () => inTurn('unauthenticated'), signal, weight)
  }

  /** Waits for the turn of a task that outlives the call. */
  async enter(client: Client, signal?: AbortSignal): Promise<Leave> {
    if (!isAddress(client)) return this.#all.enter(client, signal)
    const leaveAddresses = await this.#addresses.enter(client, signal)
    try {
      const leave = await this.#all.enter('unauthenticated', signal)
      return () => {
        leave()
        leaveAddresses()
      }
    } catch (error) {
      leaveAddresses()
      throw error
    }
  }
}
