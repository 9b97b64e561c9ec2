/** Compiles assembly/ into a TypeScript module. */
import { readFile } from 'node:fs/promises'
import asc from 'assemblyscript/asc'

const SOURCE = 'assembly/perceptual-hash.ts'
const MODULE = 'src/lib/perceptual-hash/kernels-wasm.ts'
const root = new URL('../../', import.meta.url)

export async function generate(): Promise<ReadonlyMap<string, string>> {
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
  const text = [
    `// Generated from ${SOURCE} by npm run generate; do not edit.`,
    'export const kernelsWasm =',
    `  '${lines.join("' +\n  '")}'`,
    '',
  ].join('\n')
  return new Map([[MODULE, text]])
}
