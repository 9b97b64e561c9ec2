/** Rebuilds the modules that are made from assembly/. `--check` only compares and exits 1 when they differ. */
import { readFile, writeFile } from 'node:fs/promises'
import asc from 'assemblyscript/asc'

interface WasmModule {
  readonly name: string
  readonly source: string
  readonly target: string
}

export const wasmModules: readonly WasmModule[] = [
  { name: 'dhash', source: 'assembly/dhash.ts', target: 'src/imagestore/decoder/dhash-wasm.ts' },
  { name: 'near', source: 'assembly/near.ts', target: 'src/imagestore/near-duplicates/near-wasm.ts' },
]
const root = new URL('../', import.meta.url)

export async function buildWasm({ name, source }: WasmModule): Promise<string> {
  const files = new Map<string, Uint8Array>()
  const { error } = await asc.main(
    [
      source,
      `--outFile=${name}.wasm`,
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
  const bytes = files.get(`${name}.wasm`)
  if (error !== null || bytes === undefined) throw new Error('asc failed', { cause: error })
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,100}/g) ?? []
  return [
    `// Made from ${source} by scripts/build-wasm.ts; do not edit.`,
    `export const ${name}Wasm =`,
    `  '${lines.join("' +\n  '")}'`,
    '',
  ].join('\n')
}

if (import.meta.main) {
  for (const module of wasmModules) {
    const { source, target } = module
    const text = await buildWasm(module)
    if (!process.argv.includes('--check')) {
      await writeFile(new URL(target, root), text)
    } else if (text !== (await readFile(new URL(target, root), 'utf8'))) {
      console.error(`${target} is not what ${source} compiles to: run node scripts/build-wasm.ts`)
      process.exitCode = 1
    }
  }
}
