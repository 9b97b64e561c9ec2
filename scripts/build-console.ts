/**
 * Builds the console: generates what it knows of the service (`console/base/constants.ts`), and bundles it into assets/console,
 * with texts stored compressed. None of these files is in git.
 */
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { build } from 'vite'
import { consoleConstants } from './console-constants.ts'
import { writeGuides } from './console-guide.ts'

const toPath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
const TARGET = toPath('assets/console')
const compress = promisify(brotliCompress)
/** These formats are compressed already. */
const COMPRESSED = /\.(woff2|png|webp|avif)$/

await writeFile(toPath('console/base/constants.ts'), consoleConstants())

const built = await mkdtemp(toPath('assets/.console-'))
try {
  await build({
    configFile: toPath('console/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: join(built, 'plain'), emptyOutDir: true },
  })
  // A build of its own, since the console has all styles in one file.
  await build({
    configFile: false,
    root: toPath('console/reference'),
    base: './',
    logLevel: 'warn',
    build: {
      outDir: join(built, 'plain/reference'),
      emptyOutDir: true,
      target: 'es2023',
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2_000,
      license: { fileName: 'licences.md' },
      rolldownOptions: { checks: { pluginTimings: false } },
    },
  })
  await writeGuides(toPath(''), join(built, 'plain'))
  await Promise.all((await filesIn(join(built, 'plain'))).map(store))
  // A service that starts meanwhile finds the old files or the new ones.
  await rm(TARGET, { recursive: true, force: true })
  await rename(join(built, 'stored'), TARGET)
} finally {
  await rm(built, { recursive: true, force: true })
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

async function store(name: string): Promise<void> {
  const bytes = await readFile(join(built, 'plain', name))
  const target = join(built, 'stored', name)
  await mkdir(dirname(target), { recursive: true })
  if (COMPRESSED.test(name)) return writeFile(target, bytes)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  }
  await writeFile(`${target}.br`, await compress(bytes, { params }))
}
