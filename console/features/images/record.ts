import type { Operations } from '../../api/schema.ts'
import { SERVICE_URL } from '../../base/server.ts'

export type ImageRecord = Operations['GET /api/v1/imagestore/list']['answer']['data'][number]

/** Returns the public URL of an image, with a modifier if given. */
export function linkOf(hash: string, modifier = ''): string {
  return new URL(`i/${hash}${modifier === '' ? '' : `&m=${modifier}`}`, SERVICE_URL).href
}

/** Heights of thumbnails: few, so that few derivatives are made. */
const STEPS = [160, 320, 480] as const

/** Returns a thumbnail for this height on this screen. */
export function thumbOf({ hash }: ImageRecord, height: number): string {
  const wanted = height * Math.min(2, devicePixelRatio)
  const step = STEPS.find((one) => one >= wanted) ?? STEPS[2]
  // The maximum aspect ratio shown is 2:1.
  return linkOf(hash, `w_${step * 2},h_${step},f_webp`)
}
