/**
 * Builds the console into assets/console, whose files are committed: a fresh clone serves them without a build.
 * Texts are stored compressed. `--check` builds elsewhere, compares the contents and exits 1 when they differ.
 */
import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { build } from 'vite'

const TARGET = fileURLToPath(new URL('../assets/console/', import.meta.url))
const CONFIG = fileURLToPath(new URL('../console/vite.config.ts', import.meta.url))
/** What is compressed already. */
const AS_IT_IS = /\.(woff2|png|webp|avif)$/

type Files = ReadonlyMap<string, Buffer>

async function readFolder(folder: string): Promise<Files> {
  const files = new Map<string, Buffer>()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    files.set(relative(folder, path).replaceAll('\\', '/'), await readFile(path))
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function makeFiles(): Promise<Files> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-console-'))
  try {
    await build({ configFile: CONFIG, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } })
    return await readFolder(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function compressed(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength },
  })
}

async function store(files: Files): Promise<void> {
  await rm(TARGET, { recursive: true, force: true })
  for (const [name, bytes] of files) {
    const isCompressed = !AS_IT_IS.test(name)
    const path = join(TARGET, isCompressed ? `${name}.br` : name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, isCompressed ? compressed(bytes) : bytes)
  }
}

/** The contents count, not their compression: that differs between versions of Node. */
async function readStored(): Promise<Files> {
  const stored = [...(await readFolder(TARGET))]
  return new Map(
    stored.map(([name, bytes]) =>
      name.endsWith('.br') ? [name.slice(0, -3), brotliDecompressSync(bytes)] : [name, bytes],
    ),
  )
}

const made = await makeFiles()
if (!process.argv.includes('--check')) {
  await store(made)
} else {
  const stored = await readStored()
  const differing = [...new Set([...made.keys(), ...stored.keys()])].filter(
    (name) => made.get(name)?.equals(stored.get(name) ?? Buffer.alloc(0)) !== true,
  )
  if (differing.length > 0) {
    console.error(`assets/console is not what console/ says: run npm run console\n${differing.join('\n')}`)
    process.exitCode = 1
  }
}
