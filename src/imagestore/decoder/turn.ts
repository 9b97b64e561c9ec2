import { setTimeout as pause } from 'node:timers/promises'
import type { Ticket } from './tickets.ts'

/** Gives up what was taken. */
export type GiveUp = () => Promise<void>

/** Resolves when it is the caller's turn, or with undefined if `leaving` aborts before. Never rejects. */
export type Turn = (leaving: AbortSignal) => Promise<GiveUp | undefined>

/** Between two attempts to get what another process has. A heavy image takes a second, and more. */
const ATTEMPT_MS = 50

const nothing: GiveUp = () => Promise.resolve()

/** Where nobody shares anything. */
export const always: Turn = () => Promise.resolve(nothing)

/**
 * One at a time, in the order of the tickets: without them a busy process could overtake another one again and again.
 * @param claim takes what only one can have; undefined while another has it. If it fails, nobody waits.
 * @param takeTicket takes a place in the line of all processes
 */
export function turnBy(claim: () => Promise<GiveUp | undefined>, takeTicket: () => Promise<Ticket>): Turn {
  return async (leaving) => {
    const ticket = await takeTicket().catch(() => undefined)
    try {
      while (!leaving.aborted) {
        // A line that cannot be read holds nobody back: the claim still lets in one at a time.
        const isNext = (await ticket?.isFirst().catch(() => true)) ?? true
        const giveUp = isNext ? await claim().catch(() => nothing) : undefined
        if (giveUp !== undefined) return () => giveUp().catch(() => undefined)
        await pause(ATTEMPT_MS)
      }
      return undefined
    } finally {
      await ticket?.leave()
    }
  }
}

/** Calls `begin` when it is one's turn. Returns how to leave before. */
export function inTurn(turn: Turn, begin: (giveUp: GiveUp) => void): () => void {
  const leaving = new AbortController()
  void turn(leaving.signal).then((giveUp) => {
    if (giveUp === undefined) return
    if (leaving.signal.aborted) void giveUp()
    else begin(giveUp)
  })
  return () => leaving.abort()
}
