import type { IncomingHttpHeaders } from 'node:http'
import { staysAnimated } from '../engine/motion.ts'
import { MAX_SIDE, type OutputFormat, type Plan, type SettledPlan } from '../modifiers/plan.ts'
import { readAccept, weightFor } from './accept.ts'
import { DPR_HEADERS, readHints, SAVE_DATA_HEADER, WIDTH_HEADERS } from './hints.ts'

/** What of an image counts. */
export interface Negotiated {
  readonly format: string
  readonly mime: string
  readonly frames: number
}

/** A plan that nothing is left open in, and the headers of the request that had a say. */
export interface Settlement {
  readonly plan: SettledPlan
  /** In lower case; none where the link alone decides. */
  readonly varies: readonly string[]
  /** Pixels of the image to one of the page, where a hint settled it. */
  readonly contentDpr: number | undefined
}

/** Where bytes count more than looks. PNG and GIF stay as they are: what they have to lose is seen at once. */
const SAVING: Readonly<Record<string, number>> = { jpg: 55, jpeg: 55, webp: 55, avif: 38 }

/**
 * Settles `f_auto` by what the client says: the lightest format that it names, else the image's own. The other plans stay as
 * they are, whatever a client sends: their links mean one thing.
 * @param sized whether hints may change the size
 */
export function settle(
  plan: Plan,
  image: Negotiated,
  headers: IncomingHttpHeaders,
  sized: boolean,
): Settlement {
  const { format } = plan
  if (format !== 'auto') return { plan: { ...plan, format }, varies: [], contentDpr: undefined }
  const takesDpr = sized && plan.dpr === 1 && (plan.width !== null || plan.height !== null)
  const takesWidth = sized && plan.dpr === 1 && plan.width === null && plan.ratio === null
  const varies = [
    'accept',
    SAVE_DATA_HEADER,
    ...(takesDpr || takesWidth ? DPR_HEADERS : []),
    ...(takesWidth ? WIDTH_HEADERS : []),
  ]
  const hints = readHints(headers)
  const chosen = chooseFormat(plan, image, headers.accept) ?? null
  const saving = hints.saveData && plan.quality === null ? (SAVING[chosen ?? image.format] ?? null) : null
  const settled: SettledPlan = { ...plan, format: chosen, quality: saving ?? plan.quality }
  // The width of the place is in pixels of the screen already.
  if (takesWidth && hints.width !== undefined)
    return { plan: { ...settled, width: hints.width }, varies, contentDpr: hints.dpr }
  if (!takesDpr || hints.dpr === undefined || hints.saveData)
    return { plan: settled, varies, contentDpr: undefined }
  const room = MAX_SIDE / Math.max(plan.width ?? 1, plan.height ?? 1)
  const dpr = Math.min(hints.dpr, Math.floor(room * 100) / 100)
  return { plan: { ...settled, dpr }, varies, contentDpr: dpr }
}

/** Undefined for the image's own kind. */
function chooseFormat(plan: Plan, image: Negotiated, accept: string | undefined): OutputFormat | undefined {
  const accepted = readAccept(accept)
  const moving = staysAnimated(plan, { kind: image.format, frames: image.frames }, 'webp')
  const light: readonly OutputFormat[] = moving ? ['webp'] : ['avif', 'webp']
  let best: OutputFormat | undefined
  let weight = weightFor(accepted, image.mime)
  // From the heaviest to the lightest, which so wins among equals.
  for (const format of light.toReversed()) {
    // Only what is named: `*/*` comes from clients that cannot show these, too.
    const named = accepted.get(`image/${format}`) ?? 0
    if (named === 0 || named < weight) continue
    best = format
    weight = named
  }
  return best === image.format ? undefined : best
}
