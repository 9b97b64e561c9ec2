import { hash } from 'node:crypto'

/**
 * Returns the next regular time after `now` at which a name is looked up. Each name has its own offset in the interval, derived
 * from a hash, so that look-ups are spread evenly and keep their times across restarts. All times in milliseconds.
 */
export function nextCheck(name: string, now: number, intervalMs: number): number {
  const offset = Number.parseInt(hash('sha256', name).slice(0, 12), 16) % intervalMs
  return (Math.floor((now - offset) / intervalMs) + 1) * intervalMs + offset
}
