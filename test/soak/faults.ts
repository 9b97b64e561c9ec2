import { setTimeout as pause } from 'node:timers/promises'
import type { TwoNodes } from '../support/two-nodes.ts'
import type { ProxyMode } from '../support/fault-proxy.ts'
import type { Asking } from './asking.ts'
import { LARGE_LINK } from './pictures.ts'

/** Something that breaks and is whole again when `run` resolves. */
export interface Fault {
  readonly name: string
  run(place: TwoNodes, asking: Asking): Promise<void>
}

/** Longer than a small read of the database is waited for, and than announcements may be silent. */
const FROZEN_MS = 8_000
/** Longer than one attempt at the store, and in the long form than all of them. */
const HANGING_MS = 7_000

/** Longer than a transaction is tried again. */
const DOWN_MS = 2_500

const killNode = (index: number): Fault => ({
  name: `kill -9 of node ${index}`,
  async run({ seats }, asking) {
    const seat = seats[index]
    if (seat === undefined) return
    await asking.kill(seat)
    await pause(500)
    await seat.start()
  },
})

const restartDatabase = (mode: 'fast' | 'immediate'): Fault => ({
  name: `${mode} restart of PostgreSQL`,
  run: ({ postgres }) => postgres.restart(mode, DOWN_MS),
})

const freezeDatabase = (ms: number): Fault => ({
  name: `PostgreSQL stops answering for ${ms / 1000} s`,
  async run({ postgres }) {
    const thaw = postgres.freeze()
    try {
      await pause(ms)
    } finally {
      thaw()
    }
  },
})

const spoilStore = (mode: ProxyMode, ms: number): Fault => ({
  name: `the store's answers: ${mode} for ${ms / 1000} s`,
  run: ({ store }, asking) =>
    asking.breakOff(async () => {
      store.mode = mode
      try {
        await pause(ms)
      } finally {
        store.mode = 'pass'
      }
    }, LARGE_LINK),
})

const killGateway: Fault = {
  name: `kill -9 of the store's gateway`,
  run: ({ ceph }, asking) =>
    asking.breakOff(async () => {
      const start = await ceph.killGateway()
      await pause(500)
      await start()
    }, LARGE_LINK),
}

/** Each fault once. */
export const SHORT_FAULTS: readonly Fault[] = [
  killNode(0),
  restartDatabase('fast'),
  spoilStore('refuse', 3_000),
  killNode(1),
  freezeDatabase(FROZEN_MS),
  spoilStore('cut', 4_000),
  restartDatabase('immediate'),
  spoilStore('hang', HANGING_MS),
  killGateway,
]

/** What takes longer than any time-out, besides. */
export const LONG_FAULTS: readonly Fault[] = [
  ...SHORT_FAULTS,
  freezeDatabase(45_000),
  spoilStore('hang', 30_000),
]
