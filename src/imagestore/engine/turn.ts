import { setTimeout as pause } from 'node:timers/promises'

/** Gives up what was taken. */
export type GiveUp = () => Promise<void>

/** Resolves when it is one's turn; with undefined when one has left before. Never rejects. */
export type Turn = (leaving: AbortSignal) => Promise<GiveUp | undefined>

/** Between two attempts to get what another process has. A heavy image takes a second, and more. */
const ATTEMPT_MS = 50

const nothing: GiveUp = () => Promise.resolve()

/** Where nobody shares anything. */
export const always: Turn = () => Promise.resolve(nothing)

/**
 * One at a time.
 * @param claim takes what only one can have; undefined while another has it. Where it fails none is kept waiting by that.
 */
export function turnBy(claim: () => Promise<GiveUp | undefined>): Turn {
  return async (leaving) => {
    while (!leaving.aborted) {
      const giveUp = await claim().catch(() => nothing)
      if (giveUp !== undefined) return () => giveUp().catch(() => undefined)
      await pause(ATTEMPT_MS)
    }
    return undefined
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
