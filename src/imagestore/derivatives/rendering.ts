import { createHash, hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Watermark } from '../image-settings.ts'
import { canonical, type Plan } from '../links/modifiers/index.ts'

/**
 * Stands for all that decides how a plan becomes pixels and bytes: the engine's and the grammar's own code, and the
 * library's version. A program that might render differently thus never finds, nor leaves, what another one made; that
 * does not rest on somebody remembering to raise a number.
 */
const RENDERING = renderingOf(['../decoder/', '../links/modifiers/', '../metadata-stripping/'])

function renderingOf(folders: readonly string[]): string {
  const digest = createHash('sha256')
  for (const name of folders) {
    const folder = new URL(name, import.meta.url)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) =>
      file.replaceAll('\\', '/'),
    )
    for (const file of files.sort()) {
      if (!/\.[jt]s$/.test(file) || /\.(test|d)\.ts$/.test(file)) continue
      digest.update(`${file}\n`).update(readFileSync(new URL(file, folder)))
    }
  }
  // Named by its own package: to load the library would take tens of megabytes, and only the decoders need it.
  const library = readFileSync(new URL('../package.json', import.meta.resolve('sharp')))
  return digest.update(library).digest('hex')
}

/** What names the derivative of one image that this program makes by `plan`: 32 hexadecimal digits. */
export function derivativeName(plan: Plan, watermark: Watermark | undefined): string {
  const mark = watermark === undefined ? '' : ` ${JSON.stringify(watermark)}`
  return hash('sha256', `${RENDERING} ${canonical(plan)}${mark}`).slice(0, 32)
}
