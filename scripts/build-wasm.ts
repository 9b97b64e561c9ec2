/** Rebuilds src/imagestore/engine/dhash-wasm.ts from assembly/dhash.ts. `--check` only compares and exits 1 when they differ. */
import { readFile, writeFile } from 'node:fs/promises'
import asc from 'assemblyscript/asc'

const source = 'assembly/dhash.ts'
const target = 'src/imagestore/engine/dhash-wasm.ts'
const root = new URL('../', import.meta.url)

export async function buildWasm(): Promise<string> {
  const files = new Map<string, Uint8Array>()
  const { error } = await asc.main(
    [
      source,
      '--outFile=dhash.wasm',
      '-O3',
      '--noAssert',
      '--runtime=stub',
      '--importMemory',
      '--enable=simd',
      '--use=abort=',
    ],
    {
      readFile: (name) => readFile(new URL(name, root), 'utf8').catch(() => null),
      writeFile: (name, contents) => {
        files.set(name, typeof contents === 'string' ? Buffer.from(contents) : contents)
      },
      listFiles: () => [],
    },
  )
  const bytes = files.get('dhash.wasm')
  if (error !== null || bytes === undefined) throw new Error('asc failed', { cause: error })
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,100}/g) ?? []
  return [
    `// Made from ${source} by scripts/build-wasm.ts; do not edit.`,
    'export const dhashWasm =',
    `  '${lines.join("' +\n  '")}'`,
    '',
  ].join('\n')
}

if (import.meta.main) {
  const text = await buildWasm()
  if (!process.argv.includes('--check')) {
    await writeFile(new URL(target, root), text)
  } else if (text !== (await readFile(new URL(target, root), 'utf8'))) {
    console.error(`${target} is not what ${source} compiles to: run node scripts/build-wasm.ts`)
    process.exitCode = 1
  }
}
