import type { IncomingHttpHeaders } from 'node:http'
import { MAX_SIDE } from '../modifiers/plan.ts'

/** What a client says of the place that an image is for; undefined where it says nothing. */
export interface Hints {
  readonly saveData: boolean
  /** Pixels of the screen to one of the page. */
  readonly dpr: number | undefined
  /** Of the place, in pixels of the screen. */
  readonly width: number | undefined
}

/** The names in use now, and those before them. */
export const DPR_HEADERS = ['sec-ch-dpr', 'dpr'] as const
export const WIDTH_HEADERS = ['sec-ch-width', 'width'] as const
export const SAVE_DATA_HEADER = 'save-data'

const MAX_DPR = 4

/** What is malformed counts as not sent: a header of somebody else's making is no reason to refuse an image. */
export function readHints(headers: IncomingHttpHeaders): Hints {
  const dpr = numberOf(firstOf(headers, DPR_HEADERS))
  const width = numberOf(firstOf(headers, WIDTH_HEADERS))
  return {
    saveData:
      String(headers[SAVE_DATA_HEADER] ?? '')
        .trim()
        .toLowerCase() === 'on',
    // Two decimals tell all screens apart that there are.
    dpr: dpr === undefined ? undefined : Math.min(MAX_DPR, Math.max(1, Math.round(dpr * 100) / 100)),
    width: width === undefined ? undefined : Math.min(MAX_SIDE, Math.max(1, Math.ceil(width))),
  }
}

function firstOf(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  const name = names.find((one) => headers[one] !== undefined)
  return name === undefined ? undefined : String(headers[name])
}

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d{1,5}(?:\.\d{1,6})?\s*$/.test(text)) return undefined
  const number = Number(text)
  return number > 0 ? number : undefined
}
