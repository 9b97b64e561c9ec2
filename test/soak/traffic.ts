import { setTimeout as pause } from 'node:timers/promises'
import type { Domains, Group } from './domains.ts'
import type { Picture, Pictures } from './pictures.ts'
import { randomFrom } from '../support/random.ts'

/** Maximum things created by one client, which then reuses them. */
const MAX_OWN = 400
/** The pause between two requests of a client: others want the machine too. */
const MAX_PAUSE_MS = 30

export interface TrafficOptions {
  readonly url: string
  readonly seed: number
  readonly pictures: Pictures
  readonly domains: Domains
  /** Keys of two applications, which share bytes. */
  readonly imageKeys: readonly [string, string]
  readonly signal: AbortSignal
}

/** Clients that write and read concurrently until stopped; each waits for its responses. */
export async function runTraffic(options: TrafficOptions): Promise<void> {
  const { seed, imageKeys } = options
  const random = (client: number) => randomFrom(seed * 1000 + client)
  await Promise.all([
    ...[0, 1].flatMap((pair) => {
      const shared: Picture[] = []
      return imageKeys.map((key, side) =>
        handlePictures(options, key, shared, `s${seed}p${pair}${side}`, random(pair * 2 + side)),
      )
    }),
    ...[4, 5].map((client) => handleDomains(options, `s${seed}c${client}`, random(client))),
    ...[6, 7].map((client) => read(options, random(client))),
  ])
}

async function handlePictures(
  { url, pictures, signal }: TrafficOptions,
  key: string,
  shared: Picture[],
  mark: string,
  random: () => number,
): Promise<void> {
  let made = 0
  for (let turn = 0; !signal.aborted; turn++) {
    const mayMake = made < MAX_OWN
    const known = mayMake && random() < 0.3 ? undefined : pick(shared, random)
    if (known === undefined) {
      if (!mayMake) continue
      const picture = pictures.fresh(random, `${mark} ${made++}`)
      shared.push(picture)
      await pictures.upload(url, key, picture, `${mark}t${turn}`)
    } else {
      const dice = random()
      if (dice < 0.25) await pictures.upload(url, key, known, `${mark}t${turn}`)
      else if (dice < 0.4) await pictures.remove(url, key, known)
      else if (dice < 0.55) await pictures.get(url, key, known)
      else if (dice < 0.6)
        await pictures.list(url, key, known, [...(known.records.get(key)?.may ?? [])][0] ?? mark)
      else if (dice < 0.85) await pictures.link(url, known)
      else await pictures.derived(url, known)
    }
    await pause(random() * MAX_PAUSE_MS)
  }
}

async function handleDomains(
  { url, domains, signal }: TrafficOptions,
  mark: string,
  random: () => number,
): Promise<void> {
  const own: Group[] = []
  while (!signal.aborted) {
    const known = own.length < MAX_OWN && random() < 0.2 ? undefined : pick(own, random)
    if (known === undefined) {
      const group = domains.fresh(`${mark}g${own.length}x`)
      own.push(group)
      await domains.add(url, group, random)
    } else {
      const dice = random()
      if (dice < 0.3) await domains.add(url, known, random)
      else if (dice < 0.6) await domains.update(url, known, random)
      else await domains.list(url, known)
    }
    await pause(random() * MAX_PAUSE_MS)
  }
}

/** Reads what others write. */
async function read({ url, pictures, domains, signal }: TrafficOptions, random: () => number): Promise<void> {
  while (!signal.aborted) {
    const group = pick(domains.all, random)
    if (group !== undefined) await domains.list(url, group)
    const picture = pick(pictures.all, random)
    if (picture !== undefined) {
      const [key] = picture.records.keys()
      if (key !== undefined) await pictures.get(url, key, picture)
      await (random() < 0.7 ? pictures.link(url, picture) : pictures.derived(url, picture))
    }
    await pause(random() * MAX_PAUSE_MS)
  }
}

function pick<T>(things: readonly T[], random: () => number): T | undefined {
  return things[Math.floor(random() * things.length)]
}
