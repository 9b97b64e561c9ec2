import type { IncomingHttpHeaders } from 'node:http'
import { staysAnimated } from '../../decoder/output-format.ts'
import { isIdentity } from '../modifiers/index.ts'
import { MAX_SIDE, type Plan, type SettledPlan, type WelcomeFormat } from '../modifiers/plan.ts'
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

/**
 * Settles `f_auto` by what the client says: the engine writes the smallest of what is welcome. The other plans stay as they are,
 * whatever a client sends: their links mean one thing.
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
  const settled = withClient({ ...plan, format: null }, image, headers.accept, hints.saveData)
  // The width of the place is in pixels of the screen already.
  if (takesWidth && hints.width !== undefined)
    return { plan: { ...settled, width: hints.width }, varies, contentDpr: hints.dpr }
  if (!takesDpr || hints.dpr === undefined || hints.saveData)
    return { plan: settled, varies, contentDpr: undefined }
  const room = MAX_SIDE / Math.max(plan.width ?? 1, plan.height ?? 1)
  const dpr = Math.min(hints.dpr, Math.floor(room * 100) / 100)
  return { plan: { ...settled, dpr }, varies, contentDpr: dpr }
}

function withClient(
  plan: SettledPlan,
  image: Negotiated,
  accept: string | undefined,
  saveData: boolean,
): SettledPlan {
  const formats = welcomeFormats(plan, image, accept)
  const light = saveData && plan.quality === null
  // What is asked for may be the original, which needs no making.
  const asksNothing = formats.every((format) => format === 'own' || format === 'png') && !light
  return asksNothing && isIdentity(plan) ? plan : { ...plan, client: { formats, light } }
}

/** The formats of the highest weight. */
function welcomeFormats(plan: Plan, image: Negotiated, accept: string | undefined): WelcomeFormat[] {
  const accepted = readAccept(accept)
  const moving = staysAnimated(plan, image, 'webp')
  // Of what is newer than most clients only what is named: `*/*` comes from clients that cannot show these, too.
  const named = (format: string) => accepted.get(`image/${format}`) ?? 0
  const weights: readonly (readonly [WelcomeFormat, number])[] = [
    ['avif', moving ? 0 : named('avif')],
    ['webp', named('webp')],
    ['png', moving ? 0 : weightFor(accepted, 'image/png')],
    ['own', weightFor(accepted, image.mime)],
  ]
  const best = Math.max(...weights.filter(([format]) => format !== 'png').map(([, weight]) => weight))
  const welcome = weights.filter(([, weight]) => weight > 0 && weight >= best).map(([format]) => format)
  if (!welcome.some((format) => format !== 'png')) return ['own', ...welcome]
  // One name for one thing: a WebP that is to stay one.
  return welcome.includes('own') ? welcome.filter((format) => format !== image.format) : welcome
}
