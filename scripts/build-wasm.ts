/** Compiles assembly/ into a TypeScript module. `--check` only compares, and exits with 1 if they differ. */
import { readFile, writeFile } from 'node:fs/promises'
import asc from 'assemblyscript/asc'

const SOURCE = 'assembly/perceptual-hash.ts'
export const wasmModule = 'src/lib/perceptual-hash/kernels-wasm.ts'
const root = new URL('../', import.meta.url)

/** Returns the text of `wasmModule`. */
export async function buildWasm(): Promise<string> {
  const files = new Map<string, Uint8Array>()
  const { error } = await asc.main(
    [
      SOURCE,
      '--outFile=kernels.wasm',
      '-O3',
      '--noAssert',
      '--runtime=stub',
      '--importMemory',
      '--enable=simd',
      '--use=abort=',
    ],
    {
      readFile: (file) => readFile(new URL(file, root), 'utf8').catch(() => null),
      writeFile: (file, contents) => {
        files.set(file, typeof contents === 'string' ? Buffer.from(contents) : contents)
      },
      listFiles: () => [],
    },
  )
  const bytes = files.get('kernels.wasm')
  if (error !== null || bytes === undefined) throw new Error('asc failed', { cause: error })
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,100}/g) ?? []
  return [
    `// Generated from ${SOURCE} by scripts/build-wasm.ts; do not edit.`,
    'export const kernelsWasm =',
    `  '${lines.join("' +\n  '")}'`,
    '',
  ].join('\n')
}

if (import.meta.main) {
  const text = await buildWasm()
  if (!process.argv.includes('--check')) {
    await writeFile(new URL(wasmModule, root), text)
  } else if (text !== (await readFile(new URL(wasmModule, root), 'utf8'))) {
    console.error(`${wasmModule} is not what ${SOURCE} compiles to: run node scripts/build-wasm.ts`)
    process.exitCode = 1
  }
}
