import { createHash, hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Watermark } from '../image-settings.ts'
import { canonical, type Transformation } from '../../lib/modifiers/index.ts'

/** Folders whose code decides how a plan becomes pixels and bytes. */
const RENDERING_FOLDERS = ['../decoder/', '../../lib/modifiers/', '../../lib/image-metadata/']

/**
 * A digest of that code and of sharp's version. A program that may render differently never finds what another one
 * rendered, without a version number that has to be incremented.
 */
const RENDERING_DIGEST = digestRendering()

function digestRendering(): string {
  const digest = createHash('sha256')
  for (const name of RENDERING_FOLDERS) {
    const folder = new URL(name, import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
      file.replaceAll('\\', '/'),
    )
    for (const file of files.sort()) {
      if (!/\.[jt]s$/.test(file) || /\.(test|d)\.ts$/.test(file)) continue
      digest.update(`${file}\n`).update(readFileSync(new URL(file, folder)))
    }
  }
  // Read from its package.json, because loading sharp would take tens of megabytes that only the decoders need.
  const sharpPackage = readFileSync(new URL('../package.json', import.meta.resolve('sharp')))
  return digest.update(sharpPackage).digest('hex')
}

/** The name of the derivative that this program renders for `plan`: 32 hexadecimal digits. */
export function derivativeName(plan: Transformation, watermark: Watermark | undefined): string {
  const suffix = watermark === undefined ? '' : ` ${JSON.stringify(watermark)}`
  return hash('sha256', `${RENDERING_DIGEST} ${canonical(plan)}${suffix}`).slice(0, 32)
}
