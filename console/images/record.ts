import type { Operations } from '../api/schema.ts'
import { SERVICE } from '../api/server.ts'

export type ImageRecord = Operations['GET /api/v1/imagestore/list']['answer']['data'][number]

/** The public address of an image, transformed where a modifier is given. */
export function linkOf(hash: string, modifier = ''): string {
  return new URL(`i/${hash}${modifier === '' ? '' : `&m=${modifier}`}`, SERVICE).href
}

/** Heights that thumbnails are made in: few, so that few are made. */
const STEPS = [160, 320, 480] as const

/** A picture for a place of that height on this screen. */
export function thumbOf({ hash }: ImageRecord, height: number): string {
  const wanted = height * Math.min(2, devicePixelRatio)
  const step = STEPS.find((one) => one >= wanted) ?? STEPS[2]
  // Twice as wide as high is the widest that is shown.
  return linkOf(hash, `w_${step * 2},h_${step},f_webp`)
}
