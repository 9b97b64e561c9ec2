import type { ImageKind } from '../types.ts'
import { avifStructure } from './avif.ts'
import { gifStructure } from './gif.ts'
import { jpegStructure } from './jpeg.ts'
import { pngStructure } from './png.ts'
import { tiffStructure } from './tiff.ts'
import type { Structure } from './structure.ts'
import { svgStructure } from './svg.ts'
import { webpStructure } from './webp.ts'

export type { Structure } from './structure.ts'

const readers = {
  avif: avifStructure,
  gif: gifStructure,
  jpeg: jpegStructure,
  png: pngStructure,
  svg: svgStructure,
  tiff: tiffStructure,
  webp: webpStructure,
} satisfies Record<ImageKind, (bytes: Buffer) => Structure>

export const readStructure = (kind: ImageKind, bytes: Buffer): Structure => readers[kind](bytes)
