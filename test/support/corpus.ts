import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The folder of the whole public corpora, which CI has. */
const whole = process.env['TEST_CORPUS']

/** Files that nobody here made where TEST_CORPUS names their folder; else a small stand-in in the same layout. */
export const corpus =
  whole === undefined ? new URL('../fixtures/corpus/', import.meta.url) : pathToFileURL(`${resolve(whole)}/`)

/** A number of files or lines that the whole corpora have, or the one that the stand-in has. */
export const inCorpus = (wholeCount: number, smallCount: number): number =>
  whole === undefined ? smallCount : wholeCount

const fixtures = new URL('../fixtures/dhash/', import.meta.url)

/** A picture and the dhash that the ImageHash library gives it: the one it publishes, or a fixture hashed with Pillow. */
export const hashedPicture: { readonly file: URL; readonly dhash: string } =
  whole === undefined
    ? { file: new URL('rgb.png', fixtures), dhash: toDhash('rgb.png') }
    : { file: new URL('dhash/imagehash.png', corpus), dhash: '0026273b2b19550e' }

function toDhash(name: string): string {
  const expected: Readonly<Record<string, { dhash: string }>> = JSON.parse(
    readFileSync(new URL('expected.json', fixtures), 'utf8'),
  )
  return expected[name]?.dhash ?? ''
}
