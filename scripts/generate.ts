/**
 * Writes files that are in git although they are generated, because what makes them is large: the compiled kernels of assembly/, the
 * words of domain names, the fonts of the console.
 *
 *   npm run generate               all of them
 *   npm run generate -- wasm       one of them: wasm, words or fonts
 *   npm run generate -- --check    compares, and exits with 1 if one differs
 */
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { installPackages } from './install-packages.ts'

const GENERATORS = {
  wasm: () => import('./generate/wasm.ts'),
  words: () => import('./generate/words.ts'),
  fonts: () => import('./generate/fonts.ts'),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } },
})
installPackages('scripts/generate')
for (const [name, load] of Object.entries(GENERATORS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const { generate } = await load()
  for (const [path, contents] of await generate()) {
    const file = new URL(`../${path}`, import.meta.url)
    if (!values.check) {
      await writeFile(file, contents)
    } else if (!(await readFile(file)).equals(Buffer.from(contents))) {
      console.error(`${path} is not what it is generated from: run npm run generate -- ${name}`)
      process.exitCode = 1
    }
  }
}
