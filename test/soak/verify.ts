import type { Asking } from './asking.ts'
import type { Domains, Group } from './domains.ts'
import type { Picture, Pictures } from './pictures.ts'

/** What was asked of a service, and how to ask for it again. */
export interface Journal {
  readonly asking: Asking
  readonly domains: Domains
  readonly pictures: Pictures
}

/**
 * Compares what a node serves with the journal, when nothing can change any more.
 * @param some limits it to these
 * @returns the pictures that the node has
 */
export async function verify(
  url: string,
  { asking, domains, pictures }: Journal,
  some: { readonly groups: readonly Group[]; readonly pictures: readonly Picture[] } = {
    groups: domains.all,
    pictures: pictures.all,
  },
): Promise<Picture[]> {
  const found: Picture[] = []
  await forEach(some.groups, async (group) => {
    const state = await domains.list(url, group)
    if (state === undefined) asking.violation(`no answer about ${group.mark}`)
    else group.history.settle(state)
  })
  await forEach(some.pictures, async (picture) => {
    const held: (boolean | undefined)[] = []
    for (const key of picture.records.keys()) held.push(await pictures.get(url, key, picture))
    const shown = [await pictures.link(url, picture), await pictures.derived(url, picture)]
    if ([...held, ...shown].includes(undefined)) asking.violation(`no answer about ${picture.hash}`)
    if (shown.some((isShown) => isShown !== held.includes(true))) {
      asking.violation(`${picture.hash} is half there: records ${held.join()}, links ${shown.join()}`)
    }
    if (held.includes(true)) found.push(picture)
  })
  return found
}

async function forEach<T>(things: readonly T[], look: (thing: T) => Promise<void>): Promise<void> {
  const left = things.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const thing of left) await look(thing)
    }),
  )
}
